package controllers

import (
	"context"
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

// audience counts the subscriptions that name the topic as a source and may,
// and those that it requires by name.
func (r *TopicReconciler) audience(ctx context.Context, t *v1alpha1.Topic) (audience, error) {
	var subs v1alpha1.ReliableSubscriptionList
	if err := r.Client.List(ctx, &subs, client.MatchingFields{topicIndex: client.ObjectKeyFromObject(t).String()}); err != nil {
		return audience{}, err
	}
	counted := map[types.NamespacedName]string{}
	for i := range subs.Items {
		sub := &subs.Items[i]
		counts, err := r.counts(ctx, t, sub)
		if err != nil {
			return audience{}, err
		}
		if counts {
			counted[client.ObjectKeyFromObject(sub)] = notEstablishedReason(sub)
		}
	}
	for _, key := range requiredKeys(t) {
		var sub v1alpha1.ReliableSubscription
		err := r.Client.Get(ctx, key, &sub)
		switch {
		case apierrors.IsNotFound(err):
			counted[key] = reasonNotFound
		case err != nil:
			return audience{}, err
		default:
			counted[key] = notEstablishedReason(&sub)
		}
	}
	return newAudience(counted), nil
}

// counts tells whether a topic waits for a subscription that names it.
func (r *TopicReconciler) counts(ctx context.Context, t *v1alpha1.Topic, sub *v1alpha1.ReliableSubscription) (bool, error) {
	if sub.Spec.Gating == v1alpha1.GatingIgnored || !sub.DeletionTimestamp.IsZero() {
		return false, nil
	}
	if brokerKey(sub.Namespace, sub.Spec.BrokerRef) != brokerKey(t.Namespace, t.Spec.BrokerRef) {
		return false, nil
	}
	return allows(ctx, r.Namespaces, t.Spec.AllowedNamespaces, t.Namespace, sub.Namespace)
}

// notEstablishedReason is "" for a subscription that is established.
func notEstablishedReason(sub *v1alpha1.ReliableSubscription) string {
	if isEstablished(sub) {
		return ""
	}
	if reason := subscriptionReason(sub); reason != "" && reason != v1alpha1.ReasonAllRoutesProved {
		return reason
	}
	return v1alpha1.ReasonDeclaring
}

func newAudience(counted map[types.NamespacedName]string) audience {
	a := audience{total: int64(len(counted))}
	for key, reason := range counted {
		if reason != "" {
			a.missing = append(a.missing, v1alpha1.SubscriptionState{Namespace: key.Namespace, Name: key.Name, Reason: reason})
		}
	}
	slices.SortFunc(a.missing, func(x, y v1alpha1.SubscriptionState) int {
		return strings.Compare(x.Namespace+"/"+x.Name, y.Namespace+"/"+y.Name)
	})
	return a
}

// ofSubscription lists the topics that count a subscription: its sources, and
// those of its namespace that require it by name.
func (r *TopicReconciler) ofSubscription(ctx context.Context, o client.Object) []reconcile.Request {
	sub := o.(*v1alpha1.ReliableSubscription)
	var reqs []reconcile.Request
	for _, key := range topicKeys(sub) {
		reqs = append(reqs, reconcile.Request{NamespacedName: key})
	}
	return append(reqs, requests(ctx, r.Client, &v1alpha1.TopicList{}, requiredIndex, client.ObjectKeyFromObject(sub))...)
}
