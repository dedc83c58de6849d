package topology

import (
	"fmt"
	"strings"

	"github.com/warren-mq/warren/api/v1alpha1"
)

// contract tells a consumer's author in a few sentences which verb does what
// on this version of the broker.
func (c *compiler) contract(r Retry) string {
	var s []string
	s = append(s, "Ack what was done.")
	s = append(s, c.rejectSentence(r))
	s = append(s, c.requeueSentences()...)
	s = append(s,
		c.crashSentence(),
		c.deadlineSentence(),
		fmt.Sprintf("To park at once, publish to exchange %q with publisher confirms, with the delivery's routing key, without expiration, CC and user-id, with the headers warren-parked-reason and warren-parked-at, then ack.", c.names.Park()),
		"To stop, cancel the consumer, await cancel-ok, ack what is held, then close: acks followed at once by a close come back.",
		"At least once: duplicates occur, and order is not kept across retries.")
	return strings.Join(s, " ")
}

func (c *compiler) rejectSentence(r Retry) string {
	switch c.strategy.(type) {
	case backoff:
		return fmt.Sprintf("Reject what failed (basic.reject or basic.nack, requeue=false): it comes back after each delay, and parks at the rejection of delivery %d.", r.MaxDeliveries)
	case fixedDelay:
		return fmt.Sprintf("Reject what failed (basic.reject or basic.nack, requeue=false): it comes back after the delay; don't republish it. Count the runs yourself: the x-death entry with queue %q and reason rejected has the earlier ones in its count. When run %d fails, park the message in place of rejecting it; should it come with %[2]d counted, park it in place of running it. Nothing else ends the loop.", c.names.Work, r.MaxDeliveries)
	default:
		return "Reject with requeue=false (basic.reject or basic.nack) what can never succeed: it parks at once."
	}
}

func (c *compiler) requeueSentences() []string {
	n, isNative := c.strategy.(native)
	reject := "basic.reject with requeue=true redelivers at once and counts like a crash."
	nack := "basic.nack with requeue=true does the same."
	if !c.in.Broker.CountsNackRequeue() {
		nack = fmt.Sprintf("Never use basic.nack with requeue=true: RabbitMQ %s does not count it, it loops for ever and at once.", c.in.Broker)
	}
	if isNative {
		if n.on != v1alpha1.NativeRetryOnReturned {
			reject = fmt.Sprintf("Requeue what failed by basic.reject with requeue=true: it comes back after a delay that grows from %s to %s, and parks over %d requeues.", v1alpha1.FormatDuration(n.min), v1alpha1.FormatDuration(n.max), c.limit)
		}
		if n.on != v1alpha1.NativeRetryOnFailed {
			nack = fmt.Sprintf("basic.nack with requeue=true is delayed too, but RabbitMQ %s does not count it: it goes on for ever.", c.in.Broker)
		}
	}
	return []string{reject, nack}
}

// crashSentence: from 4.3 on returns from a wait queue add to the same count,
// and native retry delays what a crash gives back.
func (c *compiler) crashSentence() string {
	back, counted := "redelivers at once", ""
	switch s := c.strategy.(type) {
	case backoff, fixedDelay:
		if c.in.Broker.CarriesDeliveryCount() {
			counted = ", the returns after a delay counted in"
		}
	case native:
		if s.on != v1alpha1.NativeRetryOnReturned {
			back = "comes back after such a delay"
		}
	}
	return fmt.Sprintf("A crash, a closed channel or a lost connection %s, also what was prefetched, and parks over %d of them%s (deliveryLimit).", back, c.limit, counted)
}

// deadlineSentence: from 4.3 on a message whose consumer hangs is taken back
// uncounted, so that no limit ever ends it.
func (c *compiler) deadlineSentence() string {
	if c.in.Broker.CarriesDeliveryCount() {
		return fmt.Sprintf("Give the work a deadline of its own and reject when it passes: RabbitMQ %s redelivers the message of a consumer that hangs for ever, without counting.", c.in.Broker)
	}
	return "Give the work a deadline of its own and reject when it passes: the broker's consumer timeout is slow to notice."
}
