package controllers

import (
	"context"

	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/warren-mq/warren/api/v1alpha1"
)

// Indexes of the cache, by which one resource finds those that refer to it.
const (
	brokerIndex = "warren.brokerRef"
	topicIndex  = "warren.topicRefs"
	// requiredIndex finds topics by the subscriptions that they require.
	requiredIndex = "warren.requiredSubscriptions"
)

// IndexReferences adds the indexes to the manager's cache.
func IndexReferences(ctx context.Context, mgr ctrl.Manager) error {
	indexer := mgr.GetFieldIndexer()
	if err := indexer.IndexField(ctx, &v1alpha1.ReliableSubscription{}, brokerIndex, func(o client.Object) []string {
		return []string{brokerKey(o.GetNamespace(), o.(*v1alpha1.ReliableSubscription).Spec.BrokerRef).String()}
	}); err != nil {
		return err
	}
	if err := indexer.IndexField(ctx, &v1alpha1.Topic{}, brokerIndex, func(o client.Object) []string {
		return []string{brokerKey(o.GetNamespace(), o.(*v1alpha1.Topic).Spec.BrokerRef).String()}
	}); err != nil {
		return err
	}
	if err := indexer.IndexField(ctx, &v1alpha1.Topic{}, requiredIndex, func(o client.Object) []string {
		var keys []string
		for _, name := range o.(*v1alpha1.Topic).Spec.RequiredSubscriptions {
			keys = append(keys, client.ObjectKey{Namespace: o.GetNamespace(), Name: name}.String())
		}
		return keys
	}); err != nil {
		return err
	}
	return indexer.IndexField(ctx, &v1alpha1.ReliableSubscription{}, topicIndex, func(o client.Object) []string {
		var keys []string
		for _, key := range topicKeys(o.(*v1alpha1.ReliableSubscription)) {
			keys = append(keys, key.String())
		}
		return keys
	})
}

// topicKeys are the topics that a subscription names as sources.
func topicKeys(sub *v1alpha1.ReliableSubscription) []types.NamespacedName {
	var keys []types.NamespacedName
	for _, s := range sub.Spec.Sources {
		if s.TopicRef != nil {
			keys = append(keys, topicKey(sub.Namespace, *s.TopicRef))
		}
	}
	return keys
}

func topicKey(namespace string, ref v1alpha1.TopicReference) types.NamespacedName {
	if ref.Namespace != "" {
		namespace = ref.Namespace
	}
	return types.NamespacedName{Namespace: namespace, Name: ref.Name}
}
