package controllers

import (
	"context"

	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/warren-mq/warren/api/v1alpha1"
	"github.com/warren-mq/warren/internal/topology"
)

// Indexes of the cache, by which one resource finds those that refer to it.
const (
	brokerIndex = "warren.brokerRef"
	topicIndex  = "warren.topicRefs"
	// queueIndex finds subscriptions by the queues that they claim.
	queueIndex = "warren.queues"
	// exchangeIndex finds topics by their exchanges.
	exchangeIndex = "warren.exchange"
	// sourceIndex finds subscriptions by the exchanges that they name as RabbitMQ does.
	sourceIndex = "warren.sourceExchanges"
	// subscriptionIndex finds redrives by their subscription.
	subscriptionIndex = "warren.subscriptionRef"
	// requiredIndex finds topics by the subscriptions that they require.
	requiredIndex = "warren.requiredSubscriptions"
)

// indexes say by which values a resource is found.
var indexes = []struct {
	kind   client.Object
	name   string
	values func(client.Object) []string
}{
	{&v1alpha1.ReliableSubscription{}, brokerIndex, func(o client.Object) []string {
		return []string{brokerKey(o.GetNamespace(), o.(*v1alpha1.ReliableSubscription).Spec.BrokerRef).String()}
	}},
	{&v1alpha1.ReliableSubscription{}, queueIndex, func(o client.Object) []string {
		return claimedQueues(o.(*v1alpha1.ReliableSubscription))
	}},
	{&v1alpha1.ReliableSubscription{}, topicIndex, func(o client.Object) []string {
		return keyStrings(topicKeys(o.(*v1alpha1.ReliableSubscription)))
	}},
	{&v1alpha1.ReliableSubscription{}, sourceIndex, func(o client.Object) []string {
		return rawExchanges(o.(*v1alpha1.ReliableSubscription))
	}},
	{&v1alpha1.Topic{}, brokerIndex, func(o client.Object) []string {
		return []string{brokerKey(o.GetNamespace(), o.(*v1alpha1.Topic).Spec.BrokerRef).String()}
	}},
	{&v1alpha1.Topic{}, exchangeIndex, func(o client.Object) []string {
		return []string{compilable(o.(*v1alpha1.Topic)).ExchangeName()}
	}},
	{&v1alpha1.Redrive{}, subscriptionIndex, func(o client.Object) []string {
		return []string{subscriptionKey(o.(*v1alpha1.Redrive)).String()}
	}},
	{&v1alpha1.Topic{}, requiredIndex, func(o client.Object) []string {
		return keyStrings(requiredKeys(o.(*v1alpha1.Topic)))
	}},
}

// indexReferences adds the indexes to the manager's cache.
func indexReferences(ctx context.Context, mgr ctrl.Manager) error {
	for _, i := range indexes {
		if err := mgr.GetFieldIndexer().IndexField(ctx, i.kind, i.name, i.values); err != nil {
			return err
		}
	}
	return nil
}

func keyStrings(keys []types.NamespacedName) []string {
	values := make([]string, 0, len(keys))
	for _, key := range keys {
		values = append(values, key.String())
	}
	return values
}

// requiredKeys are the subscriptions that a topic requires by name.
func requiredKeys(t *v1alpha1.Topic) []types.NamespacedName {
	keys := make([]types.NamespacedName, 0, len(t.Spec.RequiredSubscriptions))
	for _, name := range t.Spec.RequiredSubscriptions {
		keys = append(keys, types.NamespacedName{Namespace: t.Namespace, Name: name})
	}
	return keys
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

// rawExchanges are the sources that a subscription names by their names in RabbitMQ.
func rawExchanges(sub *v1alpha1.ReliableSubscription) []string {
	var names []string
	for _, s := range sub.Spec.Sources {
		if s.Exchange != "" {
			names = append(names, s.Exchange)
		}
	}
	return names
}

func compilable(t *v1alpha1.Topic) topology.Topic {
	return topology.Topic{Name: t.Name, Spec: &t.Spec}
}

func topicKey(namespace string, ref v1alpha1.TopicReference) types.NamespacedName {
	if ref.Namespace != "" {
		namespace = ref.Namespace
	}
	return types.NamespacedName{Namespace: namespace, Name: ref.Name}
}
