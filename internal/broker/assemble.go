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
		Exchanges: r.exchanges,
		Bindings:  r.bindings,
	}
	for _, p := range r.policies {
		s.Policies = append(s.Policies, policyOf(p))
	}
	for _, p := range r.operatorPolicies {
		s.OperatorPolicies = append(s.OperatorPolicies, policyOf(rabbithole.Policy(p)))
	}
	r.addQueues(s)
	return s
}

func policyOf(p rabbithole.Policy) topology.Policy {
	return topology.Policy{Name: p.Name, Pattern: p.Pattern, ApplyTo: p.ApplyTo, Priority: p.Priority, Definition: arguments(p.Definition)}
}

// addQueues adds the queues that the definitions have, with the statistics
// that there are of them.
func (r *lists) addQueues(s *topology.Snapshot) {
	policies := newPolicyBook(s.Policies, s.OperatorPolicies)
	for _, q := range r.queues {
		seen := definitionOf(q)
		policies.fillIn(&seen, q)
		fillStatistics(&seen, r.statistics[q.Name], s.Broker)
		seen.DeliveryLimit = limitOf(seen, q, r.statistics[q.Name])
		s.Queues[q.Name] = seen
	}
}

func definitionOf(q queueRecord) topology.SeenQueue {
	return topology.SeenQueue{
		Name: q.Name, Type: q.Type, Durable: q.Durable, AutoDelete: q.AutoDelete, Exclusive: q.Exclusive,
		Arguments: q.Arguments.get(), State: q.State, Members: q.Members, Online: q.Online,
	}
}

func fillStatistics(seen *topology.SeenQueue, q statisticsRecord, version topology.Version) {
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
