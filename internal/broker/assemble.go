package broker

import (
	"time"

	rabbithole "github.com/michaelklishin/rabbit-hole/v2"

	"github.com/warren-mq/warren/internal/topology"
)

// snapshot puts the lists together. It is pure.
func (r *lists) snapshot(takenAt time.Time, version topology.Version) *topology.Snapshot {
	s := &topology.Snapshot{
		TakenAt:   takenAt,
		Broker:    version,
		Queues:    make(map[string]topology.SeenQueue, len(r.queues)),
		Exchanges: make(map[string]topology.SeenExchange, len(r.exchanges)),
	}
	for _, p := range r.policies {
		s.Policies = append(s.Policies, policyOf(p))
	}
	for _, p := range r.operatorPolicies {
		s.OperatorPolicies = append(s.OperatorPolicies, policyOf(rabbithole.Policy(p)))
	}
	for _, e := range r.exchanges {
		s.Exchanges[e.Name] = topology.SeenExchange{
			Name: e.Name, Type: e.Type, Durable: e.Durable, AutoDelete: bool(e.AutoDelete), Internal: e.Internal,
			Arguments: arguments(e.Arguments),
		}
	}
	s.SetBindings(r.topologyBindings())
	r.addQueues(s)
	return s
}

func policyOf(p rabbithole.Policy) topology.Policy {
	return topology.Policy{Name: p.Name, Pattern: p.Pattern, ApplyTo: p.ApplyTo, Priority: p.Priority, Definition: arguments(p.Definition)}
}

// topologyBindings leaves out those of the default exchange: every queue has one.
func (r *lists) topologyBindings() []topology.Binding {
	bindings := make([]topology.Binding, 0, len(r.bindings))
	for _, b := range r.bindings {
		if b.Source == "" {
			continue
		}
		bindings = append(bindings, topology.Binding{
			Source: b.Source, Destination: b.Destination, DestinationKind: topology.Kind(b.DestinationType),
			RoutingKey: b.RoutingKey, Arguments: arguments(b.Arguments),
		})
	}
	return bindings
}

// addQueues adds the queues that the definitions have, with the statistics
// that there are of them.
func (r *lists) addQueues(s *topology.Snapshot) {
	statistics := make(map[string]queueRecord, len(r.statistics))
	for _, q := range r.statistics {
		statistics[q.Name] = q
	}
	policies := newPolicyBook(s.Policies, s.OperatorPolicies)
	for _, q := range r.queues {
		seen := definitionOf(q)
		policies.fillIn(&seen, q)
		fillStatistics(&seen, statistics[q.Name], s.Broker)
		seen.DeliveryLimit = limitOf(seen, q, statistics[q.Name])
		s.Queues[q.Name] = seen
	}
}

func definitionOf(q queueRecord) topology.SeenQueue {
	return topology.SeenQueue{
		Name: q.Name, Type: q.Type, Durable: q.Durable, AutoDelete: q.AutoDelete, Exclusive: q.Exclusive,
		Arguments: arguments(q.Arguments), State: q.State, Members: q.Members, Online: q.Online,
	}
}

func fillStatistics(seen *topology.SeenQueue, q queueRecord, version topology.Version) {
	seen.Messages, seen.Ready, seen.Unacknowledged, seen.Consumers = q.Messages, q.Ready, q.Unacknowledged, q.Consumers
	seen.DeadLettering, seen.Delayed = q.DeadLettering, q.Delayed
	seen.Deliveries, seen.Redeliveries, seen.Acknowledgements = q.Deliveries.Delivered, q.Deliveries.Redelivered, q.Deliveries.Acknowledged
	if q.Messages == nil {
		return
	}
	// What a queue cannot have, RabbitMQ does not count: that is a known 0.
	if seen.DeadLettering == nil && seen.Type != typeQuorum {
		seen.DeadLettering = new(int64)
	}
	if seen.Delayed == nil && (seen.Type != typeQuorum || !version.HasDelayedRetry()) {
		seen.Delayed = new(int64)
	}
}
