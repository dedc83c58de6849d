package drift

import (
	"fmt"

	"github.com/warren-mq/warren/api/v1alpha1"
	"github.com/warren-mq/warren/internal/topology"
)

// context is what a judgement depends on beside the values.
type context struct {
	broker topology.Version
	// limit is the delivery limit in force, nil where it is not known.
	limit *int64
	// retries over wait queues, of which there are none where waits is false.
	retries int64
	waits   bool
}

func (c *comparison) context(seen topology.SeenQueue) context {
	ctx := context{broker: c.seen.Broker, limit: seen.DeliveryLimit}
	for _, o := range c.want.Objects {
		if q, ok := o.(topology.Queue); ok && q.Role == topology.RoleWait {
			ctx.waits, ctx.retries = true, c.want.Retry.MaxDeliveries-1
		}
	}
	return ctx
}

// judge says how bad a difference is and what comes of it on this broker.
func judge(role topology.Role, argument string, observed any, ctx context) (v1alpha1.Impact, string) {
	unsafe := func(s string) (v1alpha1.Impact, string) { return v1alpha1.ImpactUnsafe, s + " " }
	tolerable := func(s string) (v1alpha1.Impact, string) { return v1alpha1.ImpactTolerable, s + " " }

	switch argument {
	case "x-dead-letter-exchange":
		if observed == "" {
			return unsafe("the default exchange takes a dying message to the queue whose name is its routing key, and nowhere else.")
		}
		if observed == nil {
			return unsafe(fmt.Sprintf("messages that are rejected, expire or exceed the delivery limit%s are dropped.", limitInForce(ctx.limit)))
		}
		return unsafe("dying messages do not come to Warren's exchange, so they are neither retried nor parked as the spec says.")
	case "x-dead-letter-routing-key":
		return tolerable("the original routing key is lost when a message dies.")
	case "x-dead-letter-strategy", "x-overflow":
		if observed == "at-least-once" {
			return tolerable("dead letters are moved at least once: slower than the spec says, and nothing is lost.")
		}
		return unsafe("dead-lettering is at-most-once in force: at-least-once needs the strategy and overflow reject-publish together, and messages may be lost on their way.")
	case "x-expires":
		return unsafe("the broker deletes the queue with all its messages when nobody uses it for that long.")
	case "x-message-ttl":
		return judgeTTL(role, observed)
	case "x-max-length", "x-max-length-bytes":
		if role == topology.RoleWork {
			return tolerable("publishers are refused when the queue is full, and returning retries starve.")
		}
		return unsafe("when the queue is full, every dead letter behind it stands still, retries too.")
	case "x-delayed-retry-type", "x-delayed-retry-min", "x-delayed-retry-max":
		if ctx.waits {
			return unsafe("two retry mechanisms work against each other: the queue's own delayed retry and the wait queues.")
		}
		return tolerable("retries are not delayed as the spec says.")
	case argumentDeliveryLimit:
		return judgeDeliveryLimit(role, observed, ctx)
	}
	return tolerable("the queue works, not quite as the spec says.")
}

// limitInForce tells a delivery limit, where there is one and it is known.
func limitInForce(limit *int64) string {
	if limit == nil || *limit < 0 {
		return ""
	}
	return fmt.Sprintf(" (%d in force)", *limit)
}

func judgeTTL(role topology.Role, observed any) (v1alpha1.Impact, string) {
	switch {
	case role == topology.RoleWait && observed == nil:
		return v1alpha1.ImpactUnsafe, "messages that wait here never come back. "
	case role == topology.RoleWait:
		return v1alpha1.ImpactTolerable, "messages wait for another time than the spec says. "
	case role == topology.RoleWork:
		return v1alpha1.ImpactTolerable, "healthy messages park when the consumer is away for that long. "
	}
	return v1alpha1.ImpactUnsafe, "what is kept here expires; it circles in the dead-letter line in place of being kept in sight. "
}

func judgeDeliveryLimit(role topology.Role, observed any, ctx context) (v1alpha1.Impact, string) {
	if role != topology.RoleWork {
		if observed == nil {
			observed = "the broker's default of 20"
		}
		return v1alpha1.ImpactUnsafe, fmt.Sprintf("a message leaves this queue after more than %v looks at it. ", observed)
	}
	n, ok := topology.Integer(observed)
	switch {
	case observed == nil && ctx.limit == nil:
		return v1alpha1.ImpactTolerable, "the queue has no delivery limit that is known. "
	case observed == nil:
		return v1alpha1.ImpactTolerable, "the broker's default of 20 is in force. "
	case ok && n < 0:
		return v1alpha1.ImpactTolerable, "a message that crashes its consumer is redelivered for ever. "
	case ok && n < ctx.retries && ctx.broker.CarriesDeliveryCount():
		return v1alpha1.ImpactTolerable, fmt.Sprintf("RabbitMQ %s counts each return from a wait queue, so a message that then crashes its consumer parks before the last of %d retries. ", ctx.broker, ctx.retries)
	case ok && !ctx.broker.CarriesDeliveryCount():
		return v1alpha1.ImpactTolerable, fmt.Sprintf("a message parks after %d crashes or requeues in one stay in the queue. ", n+1)
	}
	return v1alpha1.ImpactTolerable, fmt.Sprintf("a message parks after %v crashes, requeues and returns. ", observed)
}
