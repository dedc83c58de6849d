package controllers

import (
	"context"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/warren-mq/warren/api/v1alpha1"
	"github.com/warren-mq/warren/internal/topology"
)

// claimedByOthers checks an exchange that somebody of another namespace
// claims: its name in RabbitMQ must not be a way round allowedNamespaces, nor
// to what goes on inside another team's subscription.
func (l lookup) claimedByOthers(ctx context.Context, sub *v1alpha1.ReliableSubscription, view *View, exchange topology.SeenExchange) (*Problem, error) {
	mark := exchange.Arguments.Owner()
	cluster, key := markedResource(mark)
	ours := cluster == l.clusterID || slices.Contains(view.Broker.Spec.AcceptedOwners, cluster)
	switch {
	case ours && key.Namespace == sub.Namespace:
		return nil, nil
	case insideSubscription(view.Observation.Snapshot, mark, exchange.Name):
		return problem(v1alpha1.ReasonNotAllowed,
			"exchange %q is a part of a ReliableSubscription of another namespace, which nobody else can hear: name the exchange or Topic that its messages come from", exchange.Name), nil
	case ours:
		var t v1alpha1.Topic
		err := l.client.Get(ctx, key, &t)
		if client.IgnoreNotFound(err) != nil {
			return nil, err
		}
		if err == nil {
			return l.asTopic(ctx, sub, &t, exchange.Name)
		}
	case mark != "":
		// A Topic of another cluster cannot be asked whom it allows.
		return nil, nil
	}
	return l.adoptedByOthers(ctx, sub, view, exchange.Name)
}

// insideSubscription tells whether an exchange is one of those around a work
// queue that bears the same mark.
func insideSubscription(seen *topology.Snapshot, mark, exchange string) bool {
	return mark != "" && slices.ContainsFunc(seen.QueuesOf(mark), func(queue string) bool {
		return topology.Names{Work: queue}.OwnsExchange(exchange)
	})
}

// asTopic judges an exchange as a topicRef to its Topic would be judged.
func (l lookup) asTopic(ctx context.Context, sub *v1alpha1.ReliableSubscription, t *v1alpha1.Topic, exchange string) (*Problem, error) {
	allowed, err := allows(ctx, l.namespaces, t.Spec.AllowedNamespaces, t.Namespace, sub.Namespace)
	if err != nil || allowed {
		return nil, err
	}
	return problem(v1alpha1.ReasonNotAllowed,
		"exchange %q belongs to a Topic that does not allow namespace %q: its owner can allow it in spec.allowedNamespaces", exchange, sub.Namespace), nil
}

// adoptedByOthers finds a Topic that has taken over an exchange which bears no
// mark, or that of a resource that is gone. Only a Topic counts that may: else
// a claim would be enough to keep others from what they hear.
func (l lookup) adoptedByOthers(ctx context.Context, sub *v1alpha1.ReliableSubscription, view *View, exchange string) (*Problem, error) {
	var topics v1alpha1.TopicList
	if err := l.client.List(ctx, &topics, client.MatchingFields{exchangeIndex: exchange}, readOnly); err != nil {
		return nil, err
	}
	var refusal *Problem
	for i := range topics.Items {
		t := &topics.Items[i]
		may, err := l.hasAdopted(ctx, t, view)
		if err != nil {
			return nil, err
		}
		if !may {
			continue
		}
		if t.Namespace == sub.Namespace {
			return nil, nil
		}
		if refusal, err = l.asTopic(ctx, sub, t, exchange); err != nil || refusal == nil {
			return nil, err
		}
	}
	return refusal, nil
}

// hasAdopted tells whether a Topic may take over what exists where a view shows it.
func (l lookup) hasAdopted(ctx context.Context, t *v1alpha1.Topic, view *View) (bool, error) {
	broker := view.Broker
	key := brokerKey(t.Namespace, t.Spec.BrokerRef)
	if !l.samePlace(key, view) || topicAdoption(t) != v1alpha1.AdoptionPolicyAdopt {
		return false, nil
	}
	if key != client.ObjectKeyFromObject(broker) {
		other, _ := l.brokers.Get(key)
		broker = other.Broker
	}
	may, err := allows(ctx, l.namespaces, broker.Spec.AllowedNamespaces, broker.Namespace, t.Namespace)
	if err != nil || !may {
		return false, err
	}
	return mayAdopt(ctx, l.namespaces, broker, t.Namespace)
}
