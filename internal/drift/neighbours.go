package drift

import (
	"fmt"
	"slices"
	"strings"

	"github.com/warren-mq/warren/api/v1alpha1"
	"github.com/warren-mq/warren/internal/topology"
)

// feeders are other queues whose dead letters can come to a queue.
func (e *examination) feeders(queue string) []string {
	var names []string
	for name, q := range e.seen.Queues {
		if name != e.work.Name && name != queue && deadLetters(q) && slices.Contains(e.reachable(q), queue) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// reachable are the queues that a queue's dead letters can come to in one hop.
func (e *examination) reachable(from topology.SeenQueue) []string {
	exchange := deadLetterExchange(from)
	if key := text(inForce(from, "x-dead-letter-routing-key")); key != "" {
		return topology.Resolve(e.seen, exchange, topology.Message{RoutingKey: key})
	}
	var reached []string
	for _, b := range e.seen.BindingsTo(topology.KindQueue, from.Name) {
		reached = append(reached, topology.Resolve(e.seen, exchange, topology.Message{RoutingKey: topology.ExampleOf(b.RoutingKey)})...)
	}
	return reached
}

// tellReturnsIntoSources: B1 among the field's faults. Queues that give what
// has waited back to an exchange that many are bound to.
func (e *examination) tellReturnsIntoSources() {
	for _, source := range e.sources() {
		var waits []string
		for name, q := range e.seen.Queues {
			if name != e.work.Name && deadLetters(q) && deadLetterExchange(q) == source && inForce(q, "x-message-ttl") != nil {
				waits = append(waits, name)
			}
		}
		if len(waits) == 0 {
			continue
		}
		slices.Sort(waits)
		e.tell(topology.Exchange{Name: source}, v1alpha1.ImpactTolerable, fieldReturn, "none", "what has waited in "+quotedQueues(waits),
			fmt.Sprintf("a retry comes back through exchange %q to every queue that is bound for its key, not only to the one whose consumer failed, so that others process it again: have each wait queue return to one work queue alone", source))
	}
}

// tellSharedKeys: the same message goes to other queues too, which is right
// for other consumers, and double work for the same one.
func (e *examination) tellSharedKeys() {
	for _, source := range e.sources() {
		shared := map[string][]string{}
		for _, b := range e.inbound() {
			if b.Source != source {
				continue
			}
			for _, other := range e.seen.BindingsFrom(source) {
				if other.Destination != e.work.Name && other.DestinationKind == topology.KindQueue && e.overlap(b, other) {
					shared[other.Destination] = append(shared[other.Destination], narrower(b.RoutingKey, other.RoutingKey))
				}
			}
		}
		if len(shared) > 0 {
			e.tell(topology.Exchange{Name: source}, v1alpha1.ImpactTolerable, fieldKey, fmt.Sprintf("queue %q alone, or queues of other consumers", e.work.Name), describeShared(shared),
				"each of these queues gets a copy of its own: right for different consumers; where one consumer reads both, it does its work twice, so unbind one")
		}
	}
}

// overlap tells whether some key goes both ways.
func (e *examination) overlap(a, b topology.Binding) bool {
	if e.seen.Exchanges[a.Source].Type != string(v1alpha1.ExchangeTopic) {
		return a.RoutingKey == b.RoutingKey
	}
	return topology.MatchesTopic(a.RoutingKey, topology.ExampleOf(b.RoutingKey)) || topology.MatchesTopic(b.RoutingKey, topology.ExampleOf(a.RoutingKey))
}

// narrower of two binding keys that overlap.
func narrower(a, b string) string {
	if topology.MatchesTopic(a, topology.ExampleOf(b)) {
		return b
	}
	return a
}

func describeShared(shared map[string][]string) string {
	var parts []string
	for queue, keys := range shared {
		slices.Sort(keys)
		parts = append(parts, fmt.Sprintf("queue %q", queue)+forKeys(slices.Compact(keys)))
	}
	slices.Sort(parts)
	const most = 10
	if more := len(parts) - most; more > 0 {
		return strings.Join(parts[:most], "; ") + fmt.Sprintf(" and %d more", more)
	}
	return strings.Join(parts, "; ")
}

// sources are the exchanges that the work queue is bound to, or should be.
func (e *examination) sources() []string {
	var names []string
	for _, b := range e.inbound() {
		names = append(names, b.Source)
	}
	slices.Sort(names)
	return slices.Compact(names)
}
