package controllers

import (
	"context"

	"github.com/warren-mq/warren/api/v1alpha1"
	"github.com/warren-mq/warren/internal/topology"
)

// sources resolves a subscription's sources to exchanges and their types. A
// Topic that is not there yet is no reason to wait with the rest: it is left out and
// told as the problem that keeps the subscription from being established.
func (l lookup) sources(ctx context.Context, sub *v1alpha1.ReliableSubscription, view *View) ([]topology.Source, *Problem, error) {
	seen := view.Observation.Snapshot
	var resolved []topology.Source
	var waiting *Problem
	for _, s := range sub.Spec.Sources {
		source := topology.Source{Exchange: s.Exchange, RoutingKeys: s.RoutingKeys, Headers: s.Headers, Match: s.Match}
		if s.TopicRef != nil {
			t, p, err := l.sourceTopic(ctx, sub, *s.TopicRef)
			if err != nil {
				return nil, nil, err
			}
			if p != nil {
				waiting = firstProblem(waiting, p)
				continue
			}
			compiled := topology.Topic{Name: t.Name, Spec: &t.Spec}
			source.Exchange, source.Type = compiled.ExchangeName(), compiled.ExchangeType()
		}
		if exchange, there := seen.Exchanges[source.Exchange]; there {
			source.Type = exchange.Type
			p, err := l.claimedByOthers(ctx, sub, view, exchange)
			if err != nil {
				return nil, nil, err
			}
			if p != nil {
				waiting = firstProblem(waiting, p)
				continue
			}
		}
		resolved = append(resolved, source)
	}
	return resolved, waiting, nil
}

// sourceTopic finds a topic that must live where the subscription lives.
func (l lookup) sourceTopic(ctx context.Context, sub *v1alpha1.ReliableSubscription, ref v1alpha1.TopicReference) (*v1alpha1.Topic, *Problem, error) {
	t, p, err := l.topic(ctx, sub.Namespace, ref)
	if p != nil || err != nil {
		return nil, p, err
	}
	ours, theirs := brokerKey(sub.Namespace, sub.Spec.BrokerRef), brokerKey(t.Namespace, t.Spec.BrokerRef)
	if ours != theirs {
		return nil, problem(v1alpha1.ReasonBrokerMismatch,
			"Topic %s/%s is on Broker %s and this subscription on Broker %s: a queue can only be bound to an exchange of its own vhost", t.Namespace, t.Name, theirs, ours), nil
	}
	return t, nil, nil
}

// firstProblem keeps the one that stands in the way for longer: a topic that
// will come is better news than one that may not be used.
func firstProblem(a, b *Problem) *Problem {
	if a == nil || a.Reason == v1alpha1.ReasonTopicNotDeclared {
		return b
	}
	return a
}
