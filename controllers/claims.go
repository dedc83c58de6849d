package controllers

import (
	"context"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/warren-mq/warren/api/v1alpha1"
	"github.com/warren-mq/warren/internal/drift"
	"github.com/warren-mq/warren/internal/topology"
)

// ownerMark says whose an object of the broker is.
func ownerMark(clusterID string, o client.Object) string {
	return clusterID + "/" + o.GetNamespace() + "/" + o.GetName()
}

// markedResource splits a mark. A cluster id holds no slash, and neither do
// the names of Kubernetes.
func markedResource(mark string) (cluster string, key types.NamespacedName) {
	parts := strings.SplitN(mark, "/", 3)
	if len(parts) != 3 {
		return mark, types.NamespacedName{}
	}
	return parts[0], types.NamespacedName{Namespace: parts[1], Name: parts[2]}
}

// claims says what a resource may take for its own of what a broker has.
// Whether it may adopt is the Broker's owner's to say, not its own.
func (r *reconciler) claims(ctx context.Context, o client.Object, view *View, policy v1alpha1.AdoptionPolicy) (drift.Claims, error) {
	claims := drift.Claims{Abandoned: func(mark string) bool { return r.abandoned(ctx, mark) }}
	for _, id := range view.Broker.Spec.AcceptedOwners {
		claims.Inherited = append(claims.Inherited, ownerMark(id, o))
	}
	if policy != v1alpha1.AdoptionPolicyAdopt {
		return claims, nil
	}
	var err error
	claims.Adopt, err = mayAdopt(ctx, r.Namespaces, view.Broker, o.GetNamespace())
	return claims, err
}

func mayAdopt(ctx context.Context, namespaces client.Reader, b *v1alpha1.Broker, namespace string) (bool, error) {
	grant := b.Spec.Adoption
	if grant.From == v1alpha1.AdoptionFromNone {
		return false, nil
	}
	as := v1alpha1.AllowedNamespaces{From: v1alpha1.NamespacesFrom(grant.From), Selector: grant.Selector}
	return allows(ctx, namespaces, as, b.Namespace, namespace)
}

// abandoned tells whether a mark is this cluster's and its resource exists no
// more. Who sees a few namespaces only cannot know.
func (r *reconciler) abandoned(ctx context.Context, mark string) bool {
	cluster, key := markedResource(mark)
	if cluster != r.ClusterID || key.Name == "" || !r.watchNamespaces {
		return false
	}
	for _, o := range []client.Object{&v1alpha1.ReliableSubscription{}, &v1alpha1.Topic{}} {
		if err := r.Client.Get(ctx, key, o); !apierrors.IsNotFound(err) {
			return false
		}
	}
	return true
}

// contested finds an older subscription that claims one of the queues, as
// long as the broker does not say by its mark whose they are.
func (r *SubscriptionReconciler) contested(ctx context.Context, sub *v1alpha1.ReliableSubscription, a *assessment) (*Problem, error) {
	names := a.topology.Names
	for _, queue := range []string{names.Work, names.Parking} {
		if seen, there := a.snapshot().Queues[queue]; there && seen.Arguments.Owner() == a.topology.Owner {
			continue
		}
		var rivals v1alpha1.ReliableSubscriptionList
		if err := r.Client.List(ctx, &rivals, client.MatchingFields{queueIndex: queue}, readOnly); err != nil {
			return nil, err
		}
		for i := range rivals.Items {
			rival := &rivals.Items[i]
			if r.lookup().samePlace(brokerKey(rival.Namespace, rival.Spec.BrokerRef), a.view) && older(rival, sub) && !lost(rival) {
				return problem(v1alpha1.ReasonConflict,
					"%s claims queue %q too and is older: choose another name, or delete that one; nothing was changed", nameFor(sub.Namespace, client.ObjectKeyFromObject(rival)), queue), nil
			}
		}
	}
	return nil, nil
}

// samePlace tells whether a Broker stands for the vhost that a view shows, be
// it another Broker resource.
func (l lookup) samePlace(key types.NamespacedName, view *View) bool {
	if key == client.ObjectKeyFromObject(view.Broker) {
		return true
	}
	other, ok := l.brokers.Get(key)
	return ok && other.Observation != nil &&
		seenPlace(other.Broker, other.Observation.Info).same(seenPlace(view.Broker, view.Observation.Info))
}

// lost tells whether a claim was lost to somebody else already, so that it
// stands in nobody's way.
func lost(sub *v1alpha1.ReliableSubscription) bool {
	switch subscriptionReason(sub) {
	case v1alpha1.ReasonConflict, v1alpha1.ReasonNotOwned, v1alpha1.ReasonUnsafeToAdopt, v1alpha1.ReasonNotAllowed:
		return true
	}
	return false
}

// older tells whether a claims before b; resources of the same second by UID.
func older(a, b client.Object) bool {
	if a.GetUID() == b.GetUID() || !a.GetDeletionTimestamp().IsZero() {
		return false
	}
	first, second := a.GetCreationTimestamp(), b.GetCreationTimestamp()
	return first.Before(&second) || (first.Equal(&second) && a.GetUID() < b.GetUID())
}

// nameFor names a resource to somebody of a namespace, who may not be told
// what there is in another one.
func nameFor(namespace string, key types.NamespacedName) string {
	if key.Namespace == namespace {
		return fmt.Sprintf("%s/%s", key.Namespace, key.Name)
	}
	return "a resource of another namespace"
}

// trespassOwner names the owner of a marked object to somebody of a namespace.
func trespassOwner(clusterID, namespace string, t drift.Trespass) string {
	cluster, key := markedResource(t.Owner)
	if cluster != clusterID {
		return fmt.Sprintf("a resource of the cluster with id %q (which Broker.spec.acceptedOwners can name, to take over what it left)", cluster)
	}
	return nameFor(namespace, key)
}

// claimedQueues are the queues that a subscription is found by.
func claimedQueues(sub *v1alpha1.ReliableSubscription) []string {
	names := topology.NamesOf(sub.Namespace, sub.Name, &sub.Spec)
	return []string{names.Work, names.Parking}
}
