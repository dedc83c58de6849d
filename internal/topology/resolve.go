package topology

import (
	"slices"

	"github.com/warren-mq/warren/api/v1alpha1"
)

// Message is what a broker's routing looks at.
type Message struct {
	RoutingKey string
	// Headers as the broker sets them, of those that bindings look at.
	Headers map[string]string
}

// Resolve follows the bindings and alternate exchanges of a snapshot as the
// broker does, and gives the names of the queues that a message reaches,
// sorted. It knows the types of exchange that RabbitMQ has itself, and the
// default exchange (""); what reaches another type counts as lost.
func Resolve(seen *Snapshot, exchange string, m Message) []string {
	r := resolver{seen: seen, message: m, visited: map[string]bool{}, queues: map[string]bool{}}
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
	message Message
	visited map[string]bool
	queues  map[string]bool
}

// publish sends the message to an exchange. As in the broker, an exchange is
// visited once, and its alternate exchange gets what none of its bindings took.
func (r *resolver) publish(name string) {
	if name == "" {
		r.publishToQueue(r.message.RoutingKey)
		return
	}
	exchange, ok := r.seen.Exchanges[name]
	if !ok || r.visited[name] {
		return
	}
	r.visited[name] = true

	taken := false
	for _, b := range r.seen.BindingsFrom(name) {
		if !matches(exchange.Type, b, r.message) {
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

// publishToQueue: the default exchange has every queue bound by its name.
func (r *resolver) publishToQueue(name string) {
	if _, there := r.seen.Queues[name]; there {
		r.queues[name] = true
	}
}

func matches(exchangeType string, b Binding, m Message) bool {
	switch v1alpha1.ExchangeType(exchangeType) {
	case v1alpha1.ExchangeFanout:
		return true
	case v1alpha1.ExchangeDirect:
		return b.RoutingKey == m.RoutingKey
	case v1alpha1.ExchangeTopic:
		return MatchesTopic(b.RoutingKey, m.RoutingKey)
	case v1alpha1.ExchangeHeaders:
		return matchesHeaders(b.Arguments, m.Headers)
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
