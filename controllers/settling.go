package controllers

import (
	"context"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/warren-mq/warren/api/v1alpha1"
)

// settling tells whether this process stands behind what the conditions of a
// Broker's topics and subscriptions promise. After a start they are another
// process's, and what they promise may have gone in the meantime.
type settling struct {
	client                client.Reader
	topics, subscriptions *proofs
}

func (s settling) settled(ctx context.Context, broker types.NamespacedName) (bool, error) {
	on := client.MatchingFields{brokerIndex: broker.String()}
	var topics v1alpha1.TopicList
	if err := s.client.List(ctx, &topics, on, readOnly); err != nil {
		return false, err
	}
	for i := range topics.Items {
		t := &topics.Items[i]
		if v1alpha1.Holds(t.Status.Conditions, v1alpha1.ConditionReady, t.Generation) && !s.topics.told(t) {
			return false, nil
		}
	}
	var subs v1alpha1.ReliableSubscriptionList
	if err := s.client.List(ctx, &subs, on, readOnly); err != nil {
		return false, err
	}
	for i := range subs.Items {
		if isEstablished(&subs.Items[i]) && !s.subscriptions.told(&subs.Items[i]) {
			return false, nil
		}
	}
	return true, nil
}
