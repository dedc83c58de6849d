package e2e

import (
	"fmt"
	"maps"
	"strings"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/warren-mq/warren/api/v1alpha1"
)

const (
	immutable = v1alpha1.ReasonImmutableDrift
	override  = v1alpha1.ReasonPolicyOverride
	unsafe    = v1alpha1.ImpactUnsafe
	tolerable = v1alpha1.ImpactTolerable

	atMostOnceInForce = "dead-lettering is at-most-once in force: at-least-once needs the strategy and overflow reject-publish together, and messages may be lost on their way."
	twoMechanisms     = "two retry mechanisms work against each other: the queue's own delayed retry and the wait queues."
	leadsElsewhere    = "dying messages do not come to Warren's exchange, so they are neither retried nor parked as the spec says."
)

// wantedArguments of a work queue of that name, changed by others; nil leaves one out.
func wantedArguments(name string, changed amqp.Table) amqp.Table {
	arguments := maps.Clone(asWarrenDeclares)
	arguments["x-dead-letter-exchange"] = name + ".dead"
	for k, v := range changed {
		arguments[k] = v
		if v == nil {
			delete(arguments, k)
		}
	}
	return arguments
}

// fixed is the entry for an argument that cannot be changed.
func fixed(queue, field, desired, observed string, impact v1alpha1.Impact, consequence string) v1alpha1.DriftEntry {
	remedy := fmt.Sprintf("%s RabbitMQ cannot change %s of a queue: %s", consequence, field, startAnew(queue))
	if inSpec[field] && !strings.HasSuffix(queue, ".parking") {
		remedy += "; or set the spec to what is there"
	}
	return v1alpha1.DriftEntry{Object: fmt.Sprintf("queue %q", queue), Field: field, Desired: desired, Observed: observed, Impact: impact, Remedy: remedy}
}

// inSpec are those arguments of a work queue that a spec can ask for.
var inSpec = map[string]bool{
	"x-delivery-limit": true, "x-max-length": true, "x-dead-letter-strategy": true,
	"x-delayed-retry-type": true, "x-delayed-retry-min": true, "x-delayed-retry-max": true,
}

const (
	standsThere = "stands still there and holds up what dies behind it"
	noPlatform  = `exchange "platform.dlx" does not exist`
)

// leadsNowhere is the entry for dead letters of which none comes to a queue.
func leadsNowhere(queue, keys, fate, why string) v1alpha1.DriftEntry {
	return v1alpha1.DriftEntry{
		Object: fmt.Sprintf("queue %q", queue), Field: "dead-letter route", Desired: fmt.Sprintf("queue %q", queue+".parking"), Observed: "no queue" + keys, Impact: unsafe,
		Remedy: fmt.Sprintf("what dies in queue %q %s: %s; or %s", queue, fate, why, startAnew(queue)),
	}
}

func startAnew(queue string) string {
	return fmt.Sprintf("stop what publishes into queue %q, let it drain, delete it when it is empty, and Warren declares it anew", queue)
}

func onBoth(entries ...v1alpha1.DriftEntry) func(bool) []v1alpha1.DriftEntry {
	return func(bool) []v1alpha1.DriftEntry { return entries }
}

// classicInPlaceOfQuorum has no delivery limit and no at-least-once either.
var classicInPlaceOfQuorum = v1alpha1.DriftEntry{
	Object: `queue "c3"`, Field: "x-queue-type", Desired: "quorum", Observed: "classic, with 3 messages", Impact: unsafe,
	Remedy: "a queue's type cannot be changed, and classic queues have neither a delivery limit nor at-least-once dead-lettering: " + startAnew("c3"),
}

var unsafeAdoptions = []unsafeAdoption{
	{
		fieldCase: "A1", reason: "no dead-letter exchange, and the broker's own limit drops messages",
		arguments: amqp.Table{"x-queue-type": "quorum", "x-delivery-limit": 20}, messages: 1, because: immutable,
		drift: onBoth(
			fixed("a1", "x-dead-letter-exchange", "a1.dead", "none", unsafe, "messages that are rejected, expire or exceed the delivery limit (20 in force) are dropped."),
			fixed("a1", "x-dead-letter-strategy", "at-least-once", "none", unsafe, atMostOnceInForce),
			fixed("a1", "x-overflow", "reject-publish", "none", unsafe, atMostOnceInForce)),
	},
	{
		fieldCase: "A5", reason: "a parking queue whose delivery limit is not off",
		arguments: wantedArguments("a5", nil), messages: 1, because: immutable,
		parking: amqp.Table{"x-queue-type": "quorum", "x-dead-letter-exchange": "a5.park", "x-dead-letter-strategy": "at-least-once", "x-overflow": "reject-publish", "x-delivery-limit": 20},
		drift: onBoth(
			fixed("a5.parking", "x-delivery-limit", "-1", "20", unsafe, "a message leaves this queue after more than 20 looks at it.")),
	},
	{
		fieldCase: "A6", reason: "at-least-once beside drop-head is at-most-once",
		arguments: wantedArguments("a6", amqp.Table{"x-overflow": "drop-head"}), messages: 1, because: immutable,
		drift: onBoth(fixed("a6", "x-overflow", "reject-publish", "drop-head", unsafe, atMostOnceInForce)),
	},
	{
		fieldCase: "A6", reason: "a policy breaks the pair",
		arguments: wantedArguments("a6-by-a-policy", amqp.Table{"x-overflow": nil}), messages: 1, because: override,
		policy: map[string]any{"overflow": "drop-head"},
		drift: onBoth(v1alpha1.DriftEntry{
			Object: `queue "a6-by-a-policy"`, Field: "x-overflow", Desired: "reject-publish", Observed: "drop-head", Impact: unsafe,
			Remedy: atMostOnceInForce + ` The queue has no x-overflow of its own, so policy "on-a6-by-a-policy" (priority 7) decides: set overflow to reject-publish there.`,
		}),
	},
	{
		fieldCase: "B3", reason: "the default exchange, and no key",
		arguments: wantedArguments("b3", amqp.Table{"x-dead-letter-exchange": ""}), messages: 1, because: immutable,
		drift: onBoth(
			fixed("b3", "x-dead-letter-exchange", "b3.dead", `""`, unsafe, "the default exchange takes a dying message to the queue whose name is its routing key, and nowhere else."),
			leadsNowhere("b3", ` for key "#"`, standsThere, "RabbitMQ's default exchange takes a routing key for the name of a queue, and there is none of that name: a dead-letter routing key is needed")),
	},
	{
		fieldCase: "B7", reason: "the queue's own delayed retry under wait queues", only43: true,
		retry:     `backoff: {delays: [5s]}`,
		arguments: wantedArguments("b7", amqp.Table{"x-delayed-retry-type": "all", "x-delayed-retry-min": 1000, "x-delayed-retry-max": 60000}), messages: 1, because: immutable,
		drift: onBoth(
			fixed("b7", "x-delayed-retry-type", "none", "all", unsafe, twoMechanisms),
			fixed("b7", "x-delayed-retry-min", "none", "1000", unsafe, twoMechanisms),
			fixed("b7", "x-delayed-retry-max", "none", "60000", unsafe, twoMechanisms)),
	},
	{
		fieldCase: "C1", reason: "all arguments are told, of which the broker names one",
		arguments: amqp.Table{
			"x-queue-type": "quorum", "x-dead-letter-exchange": "platform.dlx", "x-dead-letter-routing-key": "failed", "x-expires": 604800000,
			"x-message-ttl": 86400000, "x-max-length": 100000, "x-max-length-bytes": 1000000, "x-delivery-limit": 3,
		}, messages: 2, because: immutable,
		drift: func(on43 bool) []v1alpha1.DriftEntry {
			limit := "a message parks after 4 crashes or requeues in one stay in the queue."
			if on43 {
				limit = "a message parks after 3 crashes, requeues and returns."
			}
			const full = "publishers are refused when the queue is full, and returning retries starve."
			return []v1alpha1.DriftEntry{
				fixed("c1", "x-dead-letter-exchange", "c1.dead", "platform.dlx", unsafe, leadsElsewhere),
				fixed("c1", "x-dead-letter-strategy", "at-least-once", "none", unsafe, atMostOnceInForce),
				fixed("c1", "x-overflow", "reject-publish", "none", unsafe, atMostOnceInForce),
				fixed("c1", "x-expires", "none", "604800000", unsafe, "the broker deletes the queue with all its messages when nobody uses it for that long."),
				leadsNowhere("c1", "", "is lost", noPlatform),
				fixed("c1", "x-dead-letter-routing-key", "none", "failed", tolerable, "the original routing key is lost when a message dies."),
				fixed("c1", "x-message-ttl", "none", "86400000", tolerable, "healthy messages park when the consumer is away for that long."),
				fixed("c1", "x-max-length", "none", "100000", tolerable, full),
				fixed("c1", "x-max-length-bytes", "none", "1000000", tolerable, full),
				fixed("c1", "x-delivery-limit", "20", "3", tolerable, limit),
			}
		},
	},
	{
		fieldCase: "C3", reason: "a classic queue: the type comes first, with the number of messages",
		arguments: amqp.Table{"x-queue-type": "classic", "x-dead-letter-exchange": "platform.dlx"}, messages: 3, because: immutable,
		drift: onBoth(
			classicInPlaceOfQuorum,
			fixed("c3", "x-dead-letter-exchange", "c3.dead", "platform.dlx", unsafe, leadsElsewhere),
			fixed("c3", "x-dead-letter-strategy", "at-least-once", "none", unsafe, atMostOnceInForce),
			fixed("c3", "x-overflow", "reject-publish", "none", unsafe, atMostOnceInForce),
			leadsNowhere("c3", ` for key "#"`, "is lost", noPlatform),
			fixed("c3", "x-delivery-limit", "20", "none", tolerable, "the queue has no delivery limit that is known.")),
	},
	{
		fieldCase: "D4", reason: "the argument wins over a policy that looks applied",
		arguments: wantedArguments("d4", amqp.Table{"x-dead-letter-exchange": "platform.dlx"}), messages: 1, because: immutable,
		policy: map[string]any{"dead-letter-exchange": "d4.dead"},
		drift: onBoth(
			fixed("d4", "x-dead-letter-exchange", "d4.dead", "platform.dlx", unsafe, leadsElsewhere),
			leadsNowhere("d4", ` for key "#"`, standsThere, noPlatform)),
	},
}
