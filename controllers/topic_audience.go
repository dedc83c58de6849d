package controllers

import (
	"context"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/warren-mq/warren/api/v1alpha1"
)

// audience is who must hear a topic before it is open.
type audience struct {
	total int64
	// missing are those who do not yet, sorted.
	missing []v1alpha1.SubscriptionState
}

// reasonNotFound is told of a required subscription that does not exist.
const reasonNotFound = "NotFound"

// audience counts whom a topic waits for.
func (l lookup) audience(ctx context.Context, t *v1alpha1.Topic) (audience, error) {
	members, err := l.members(ctx, t)
	if err != nil {
		return audience{}, err
	}
	return newAudience(members, notEstablishedReason), nil
}

// members are the subscriptions that name the topic as a source and may, and
// those that it requires by name; nil is one that does not exist.
func (l lookup) members(ctx context.Context, t *v1alpha1.Topic) (map[types.NamespacedName]*v1alpha1.ReliableSubscription, error) {
	var subs v1alpha1.ReliableSubscriptionList
	if err := l.client.List(ctx, &subs, client.MatchingFields{topicIndex: client.ObjectKeyFromObject(t).String()}, readOnly); err != nil {
		return nil, err
	}
	members := map[types.NamespacedName]*v1alpha1.ReliableSubscription{}
	for i := range subs.Items {
		sub := &subs.Items[i]
		counts, err := l.counts(ctx, t, sub)
		if err != nil {
			return nil, err
		}
		if counts {
			members[client.ObjectKeyFromObject(sub)] = sub
		}
	}
	for _, key := range requiredKeys(t) {
		var sub v1alpha1.ReliableSubscription
		err := l.client.Get(ctx, key, &sub)
		switch {
		case apierrors.IsNotFound(err):
			members[key] = nil
		case err != nil:
			return nil, err
		default:
			members[key] = &sub
		}
	}
	return members, nil
}

// counts tells whether a topic waits for a subscription that names it.
func (l lookup) counts(ctx context.Context, t *v1alpha1.Topic, sub *v1alpha1.ReliableSubscription) (bool, error) {
	if sub.Spec.Gating == v1alpha1.GatingIgnored || !sub.DeletionTimestamp.IsZero() {
		return false, nil
	}
	if brokerKey(sub.Namespace, sub.Spec.BrokerRef) != brokerKey(t.Namespace, t.Spec.BrokerRef) {
		return false, nil
	}
	return allows(ctx, l.namespaces, t.Spec.AllowedNamespaces, t.Namespace, sub.Namespace)
}

// notEstablishedReason is "" for a subscription that is established.
func notEstablishedReason(sub *v1alpha1.ReliableSubscription) string {
	if sub == nil {
		return reasonNotFound
	}
	if !sub.DeletionTimestamp.IsZero() {
		return v1alpha1.ReasonTerminating
	}
	if isEstablished(sub) {
		return ""
	}
	if reason := subscriptionReason(sub); reason != "" && reason != v1alpha1.ReasonAllRoutesProved {
		return reason
	}
	return v1alpha1.ReasonDeclaring
}

// newAudience sums members up; reason is "" for one that hears the topic.
func newAudience(members map[types.NamespacedName]*v1alpha1.ReliableSubscription, reason func(*v1alpha1.ReliableSubscription) string) audience {
	a := audience{total: int64(len(members))}
	for key, sub := range members {
		if reason := reason(sub); reason != "" {
			a.missing = append(a.missing, v1alpha1.SubscriptionState{Namespace: key.Namespace, Name: key.Name, Reason: reason})
		}
	}
	slices.SortFunc(a.missing, func(x, y v1alpha1.SubscriptionState) int {
		return strings.Compare(x.Namespace+"/"+x.Name, y.Namespace+"/"+y.Name)
	})
	return a
}

// topicsOf are the topics that wait for a subscription: its sources, and
// those of its namespace that require it by name.
func (l lookup) topicsOf(ctx context.Context, sub *v1alpha1.ReliableSubscription) []reconcile.Request {
	var reqs []reconcile.Request
	for _, key := range topicKeys(sub) {
		reqs = append(reqs, reconcile.Request{NamespacedName: key})
	}
	return append(reqs, requests(ctx, l.client, &v1alpha1.TopicList{}, requiredIndex, client.ObjectKeyFromObject(sub))...)
}

func (r *TopicReconciler) ofSubscription(ctx context.Context, o client.Object) []reconcile.Request {
	return r.lookup().topicsOf(ctx, o.(*v1alpha1.ReliableSubscription))
}

// sentence says who does not hear the topic.
func (a audience) sentence() string {
	names := make([]string, 0, len(a.missing))
	for _, m := range a.missing {
		names = append(names, fmt.Sprintf("%s/%s (%s)", m.Namespace, m.Name, m.Reason))
	}
	return fmt.Sprintf("%d of %d subscriptions are not established: %s", len(a.missing), a.total, list(names))
}
