package topology

import (
	"slices"
)

// Route is a way that messages must take. It starts at an exchange, or at a
// queue in which a message dies, and must end in one queue of the
// subscription and in no other of them.
type Route struct {
	// Means says what takes this way, for people.
	Means string
	// Queue in which the message dies; its dead-letter exchange is where the way begins.
	Queue string
	// Exchange where the way begins, if not at a queue.
	Exchange string
	// Headers as the broker sets them, of those that our bindings look at.
	Headers map[string]string
	// To is the queue where it must end.
	To string
}

// dying is the route of a message that dies in a queue.
func dying(means, queue, reason, lastExchange, to string) Route {
	return Route{Means: means, Queue: queue, To: to, Headers: map[string]string{
		"x-last-death-reason": reason, "x-last-death-exchange": lastExchange}}
}

// Resolve follows the bindings and alternate exchanges of a snapshot as the
// broker does, and gives the names of the queues that a message reaches,
// sorted. It knows fanout and headers exchanges, which are all that a
// subscription is made of; what reaches another type counts as lost.
func Resolve(seen *Snapshot, exchange string, headers map[string]string) []string {
	r := resolver{seen: seen, headers: headers, visited: map[string]bool{}, queues: map[string]bool{}}
	r.publish(exchange)
	names := make([]string, 0, len(r.queues))
	for q := range r.queues {
		names = append(names, q)
	}
	slices.Sort(names)
	return names
}

type resolver struct {
	seen    *Snapshot
	headers map[string]string
	visited map[string]bool
	queues  map[string]bool
}

// publish sends the message to an exchange. As in the broker, an exchange is
// visited once, and its alternate exchange gets what none of its bindings took.
func (r *resolver) publish(name string) {
	exchange, ok := r.seen.Exchanges[name]
	if !ok || r.visited[name] {
		return
	}
	r.visited[name] = true

	taken := false
	for _, b := range r.seen.BindingsFrom(name) {
		if !matches(exchange.Type, b, r.headers) {
			continue
		}
		taken = true
		if b.DestinationKind == KindQueue {
			r.queues[b.Destination] = true
		} else {
			r.publish(b.Destination)
		}
	}
	if alternate, _ := exchange.Arguments["alternate-exchange"].(string); !taken && alternate != "" {
		r.publish(alternate)
	}
}

func matches(exchangeType string, b Binding, headers map[string]string) bool {
	switch exchangeType {
	case Fanout:
		return true
	case Headers:
		return matchesHeaders(b.Arguments, headers)
	}
	return false
}

// matchesHeaders follows the headers exchange: all and any leave the
// arguments aside that begin with x-, all-with-x and any-with-x only x-match itself.
func matchesHeaders(args Arguments, headers map[string]string) bool {
	mode, _ := args["x-match"].(string)
	withX := mode == "all-with-x" || mode == "any-with-x"
	anyOf := mode == "any" || mode == "any-with-x"
	for k, v := range args {
		if k == "x-match" || (!withX && len(k) > 1 && k[:2] == "x-") {
			continue
		}
		have, ok := headers[k]
		if (ok && v == have) == anyOf {
			return anyOf
		}
	}
	return !anyOf
}
