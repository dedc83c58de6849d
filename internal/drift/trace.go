package drift

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/warren-mq/warren/api/v1alpha1"
	"github.com/warren-mq/warren/internal/topology"
)

// end says what becomes of a message that dies in a work queue.
type end int

const (
	// endLost: no queue takes it.
	endLost end = iota
	// endQueue: it stays in the last queue of the trace.
	endQueue
	// endCycle: it comes to a queue where it was before.
	endCycle
)

// trace is the way of a message from queue to queue, by dead-lettering alone.
type trace struct {
	// key is the binding key that stands for the message's; "" where the key does not matter.
	key    string
	queues []string
	end    end
}

func (t trace) last() string { return t.queues[len(t.queues)-1] }

// hops are the queues between the first and the last, and the last one of a lost message.
func (t trace) hops() []string {
	if t.end == endLost {
		return t.queues[1:]
	}
	return t.queues[1 : len(t.queues)-1]
}

// traceKeys follows a message of each key that the work queue gets.
func (e *examination) traceKeys() {
	if text(inForce(e.work, "x-dead-letter-routing-key")) != "" {
		e.follow(trace{queues: []string{e.work.Name}}, e.work, "", "delivery_limit")
		return
	}
	keys := e.keys()
	for _, shown := range slices.Sorted(maps.Keys(keys)) {
		e.follow(trace{key: shown, queues: []string{e.work.Name}}, e.work, keys[shown], "delivery_limit")
	}
}

// follow goes one hop further.
func (e *examination) follow(t trace, from topology.SeenQueue, key, reason string) {
	if fixed := text(inForce(from, "x-dead-letter-routing-key")); fixed != "" {
		key = fixed
	}
	exchange := deadLetterExchange(from)
	if seen, there := e.seen.Exchanges[exchange]; there && !understood(seen.Type) {
		return
	}
	reached := topology.Resolve(e.seen, exchange, topology.Message{RoutingKey: key, Headers: map[string]string{"x-last-death-reason": reason}})
	if len(reached) == 0 {
		e.traces = append(e.traces, t)
	}
	for _, name := range reached {
		next := trace{key: t.key, queues: append(slices.Clone(t.queues), name), end: endQueue}
		queue := e.seen.Queues[name]
		switch {
		case slices.Contains(t.queues, name):
			next.end = endCycle
			e.traces = append(e.traces, next)
		case deadLetters(queue) && inForce(queue, "x-message-ttl") != nil:
			e.follow(trace{key: t.key, queues: next.queues}, queue, key, "expired")
		default:
			e.traces = append(e.traces, next)
		}
	}
}

// understood: types of exchange whose routing can be followed.
func understood(exchangeType string) bool {
	switch v1alpha1.ExchangeType(exchangeType) {
	case v1alpha1.ExchangeDirect, v1alpha1.ExchangeFanout, v1alpha1.ExchangeTopic, v1alpha1.ExchangeHeaders:
		return true
	}
	return false
}

// maxKeys is how many keys are followed.
const maxKeys = 64

// keys that messages of the work queue may have: each binding key, as it is
// shown, with an example. Where a pattern takes what others are bound for, these too.
func (e *examination) keys() map[string]string {
	keys := map[string]string{}
	for _, b := range e.inbound() {
		isTopic := e.seen.Exchanges[b.Source].Type == string(v1alpha1.ExchangeTopic)
		if !isTopic {
			keys[b.RoutingKey] = b.RoutingKey
			continue
		}
		keys[b.RoutingKey] = topology.ExampleOf(b.RoutingKey)
		for _, other := range e.seen.BindingsFrom(b.Source) {
			if example := topology.ExampleOf(other.RoutingKey); len(keys) < maxKeys && topology.MatchesTopic(b.RoutingKey, example) {
				keys[other.RoutingKey] = example
			}
		}
	}
	return keys
}

// inbound are the bindings of sources to the work queue, those that are there
// and those that the spec wants.
func (e *examination) inbound() []topology.Binding {
	var bindings []topology.Binding
	add := func(b topology.Binding) {
		if !e.want.Names.OwnsExchange(b.Source) && !slices.ContainsFunc(bindings, b.Routes) {
			bindings = append(bindings, b)
		}
	}
	for _, b := range e.seen.BindingsTo(topology.KindQueue, e.work.Name) {
		add(b)
	}
	for _, o := range e.want.Objects {
		if b, ok := o.(topology.Binding); ok && b.DestinationKind == topology.KindQueue && b.Destination == e.work.Name {
			add(b)
		}
	}
	return bindings
}

// keysOf gives the keys of the traces that are so; nil where there is none.
func (e *examination) keysOf(are func(trace) bool) []string {
	var keys []string
	for _, t := range e.traces {
		if are(t) && !slices.Contains(keys, t.key) {
			keys = append(keys, t.key)
		}
	}
	return keys
}

// ends are the queues in which dead letters stay, by name.
func (e *examination) ends() []string {
	var queues []string
	for _, t := range e.traces {
		if t.end == endQueue {
			queues = append(queues, t.last())
		}
	}
	slices.Sort(queues)
	return slices.Compact(queues)
}

// forKeys says for which keys something holds.
func forKeys(keys []string) string {
	const most = 10
	var quoted []string
	for _, k := range keys {
		if k != "" {
			quoted = append(quoted, fmt.Sprintf("%q", k))
		}
	}
	if len(quoted) == 0 {
		return ""
	}
	if more := len(quoted) - most; more > 0 {
		return " for key " + strings.Join(quoted[:most], ", ") + fmt.Sprintf(" and %d more", more)
	}
	return " for key " + strings.Join(quoted, ", ")
}

// quotedQueues names at most ten queues.
func quotedQueues(names []string) string {
	const most = 10
	kind := "queue "
	if len(names) > 1 {
		kind = "queues "
	}
	quoted := make([]string, 0, len(names))
	for _, n := range names {
		quoted = append(quoted, fmt.Sprintf("%q", n))
	}
	if more := len(quoted) - most; more > 0 {
		return kind + strings.Join(quoted[:most], ", ") + fmt.Sprintf(" and %d more", more)
	}
	return kind + strings.Join(quoted, ", ")
}
