package drift

import "github.com/warren-mq/warren/internal/topology"

const argumentDeliveryLimit = "x-delivery-limit"

// setting is something that an argument of a queue or a policy can set.
type setting struct {
	argument string
	// policyKey is its name in a policy, or "" where a policy cannot set it.
	policyKey string
	// lowest: of argument and policies the lowest value is in force.
	// Otherwise the argument beats the policy.
	lowest bool
}

// settings that Warren looks at, in the order in which differences are told.
// Those that no topology asks for are looked at too: an expiry that somebody
// set is a difference.
var settings = []setting{
	{"x-dead-letter-exchange", "dead-letter-exchange", false},
	{"x-dead-letter-routing-key", "dead-letter-routing-key", false},
	{"x-dead-letter-strategy", "dead-letter-strategy", false},
	{"x-overflow", "overflow", false},
	{"x-expires", "expires", true},
	{"x-message-ttl", "message-ttl", true},
	{"x-max-length", "max-length", true},
	{"x-max-length-bytes", "max-length-bytes", true},
	{"x-delayed-retry-type", "delayed-retry-type", false},
	{"x-delayed-retry-min", "delayed-retry-min", false},
	{"x-delayed-retry-max", "delayed-retry-max", false},
	{argumentDeliveryLimit, "delivery-limit", true},
	{"x-single-active-consumer", "", false},
	{"x-consumer-timeout", "consumer-timeout", false},
	{"x-quorum-initial-group-size", "", false},
	{"x-queue-leader-locator", "queue-leader-locator", false},
}

// inForce is the value that argument and policy amount to, or nil.
func (s setting) inForce(arguments, policy topology.Arguments) any {
	arg, fromPolicy := arguments[s.argument], policy[s.policyKey]
	if s.policyKey == "" {
		fromPolicy = nil
	}
	switch {
	case arg == nil:
		return fromPolicy
	case fromPolicy == nil || !s.lowest:
		return arg
	}
	a, aIsNumber := limit(arg)
	p, pIsNumber := limit(fromPolicy)
	if aIsNumber && pIsNumber && p < a {
		return fromPolicy
	}
	return arg
}

// limit reads a number of which the lower one wins; a negative delivery limit means none.
func limit(v any) (int64, bool) {
	n, ok := topology.Integer(v)
	if ok && n < 0 {
		n = 1<<63 - 1
	}
	return n, ok
}

// inForce is the value of a setting that is in force for a queue, or nil.
func inForce(q topology.SeenQueue, argument string) any {
	for _, s := range settings {
		if s.argument == argument {
			return s.inForce(q.Arguments, q.EffectivePolicy)
		}
	}
	return nil
}

// deadLetters tells whether dying messages go anywhere.
func deadLetters(q topology.SeenQueue) bool { return inForce(q, "x-dead-letter-exchange") != nil }

// deadLetterExchange in force. "" is the default exchange, or none.
func deadLetterExchange(q topology.SeenQueue) string {
	return text(inForce(q, "x-dead-letter-exchange"))
}

// atLeastOnceInForce: the strategy needs reject-publish beside it, and a
// quorum queue; else RabbitMQ silently falls back to at-most-once.
func atLeastOnceInForce(q topology.SeenQueue) bool {
	return q.Type == "quorum" && inForce(q, "x-dead-letter-strategy") == "at-least-once" && inForce(q, "x-overflow") == "reject-publish"
}
