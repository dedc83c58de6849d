package facts

import (
	"context"
	"errors"
	"fmt"
	"testing"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/warren-mq/warren/test/amqptest"
)

// Fact 1: a message that dead-lettering brings back to a queue where it has
// been is dropped, or kept for ever where it died last, unless it was rejected
// on the way: exceeding the delivery limit and expiring do not make a cycle
// legal.
//
// It is why W.dead admits only rejections to the retry ladder and parks all
// else. Were such cycles let through, the frame would only be stricter than it
// has to be; were cycles with a rejection in them stopped, too, no retry would
// come back.
func TestFact01CycleWithoutRejectionNeverGetsHome(t *testing.T) {
	onEachBroker(t, func(t *testing.T, l *lab) {
		l.run(t, "AtMostOnceDropsIt", func(t *testing.T, l *lab) {
			l.queue(t, "work", deadLettersTo("wait"), atMostOnce(), deliveryLimit(1))
			l.queue(t, "wait", deadLettersTo("work"), atMostOnce(), ttl(100))
			l.expectOnlyRejectedComesHome(t)
			// Nothing is kept back at most once: what is not ready is gone.
			l.awaitReady(t, "work", 0)
			l.awaitReady(t, "wait", 0)
		})
		l.run(t, "AtLeastOnceKeepsItForEver", func(t *testing.T, l *lab) {
			l.queue(t, "work", deadLettersTo("wait"), deliveryLimit(1))
			l.queue(t, "wait", deadLettersTo("work"), ttl(100))
			l.expectOnlyRejectedComesHome(t)
			l.awaitHeld(t, "wait", held{messages: 1, deadLetters: 1})
		})
	})
}

// expectOnlyRejectedComesHome sends a message that kills its consumer from
// work to wait, and after it one that is rejected.
func (l *lab) expectOnlyRejectedComesHome(t *testing.T) {
	t.Helper()
	consumer := l.consume(t, "work", amqptest.ByID(map[string]amqptest.Answer{
		"crasher":  amqptest.InTurn(amqptest.Crash),
		"rejected": amqptest.InTurn(amqptest.Reject, amqptest.Reject, amqptest.Ack),
	}))
	l.publish(t, "", "work", amqptest.Message("crasher"))
	consumer.AwaitMessage(t, "crasher", 2)
	// What dies from here on is behind the crasher in the queue to wait in.
	l.publish(t, "", "work", amqptest.Message("rejected"))
	consumer.AwaitMessage(t, "rejected", 3)
	expectDeliveries(t, consumer, "crasher", 2)
}

// Fact 10: dead-lettering is at least once only with overflow reject-publish;
// with drop-head the broker silently falls back to at most once. A dead letter
// that has nowhere to go, for want of the exchange or of a binding, then stays
// in its queue, and at most once it is lost.
//
// It is why every queue of the topology that dead-letters has reject-publish,
// and why an absent exchange or binding is repaired drift and not yet a loss.
func TestFact10AtLeastOnceNeedsRejectPublish(t *testing.T) {
	// With one, statistics from before the rejection would look like a loss.
	const controls = 2
	onEachBroker(t, func(t *testing.T, l *lab) {
		for _, exchange := range []string{"leads nowhere", "missing"} {
			for overflow, kept := range map[string]int{"reject-publish": 1, "drop-head": 0} {
				l.run(t, exchange+"/"+overflow, func(t *testing.T, l *lab) {
					l.exchange(t, "leads nowhere", "fanout")
					l.queue(t, "work", deadLetters(exchange), amqp.Table{amqp.QueueOverflowArg: overflow})
					l.publish(t, "", "work", amqptest.Message("dead letter"))
					l.rejectOne(t, "work")
					l.publish(t, "", "work", amqptest.Messages("control", controls)...)
					l.awaitHeld(t, "work", held{messages: controls + kept, deadLetters: kept})
				})
			}
		}
	})
}

// Fact 36: a queue sends up to 32 dead letters at a time on their way. When so
// many are refused where they go, because a parking queue is full, all that die
// after them wait, those for the retry ladder included.
//
// It is why a parking queue has no length limit, and why shieldPolicy keeps a
// stray policy from setting one.
func TestFact36RefusingParkingQueueStopsRetries(t *testing.T) {
	const underWay = 32
	onEachBroker(t, func(t *testing.T, l *lab) {
		l.exchange(t, "source", "fanout")
		l.exchange(t, "dead", "direct")
		l.queue(t, "parking", amqp.Table{amqp.QueueMaxLenArg: 1, amqp.QueueOverflowArg: "reject-publish"})
		l.queue(t, "retry")
		l.queue(t, "work", deadLetters("dead"))
		l.bind(t, "work", "source", "")
		l.bind(t, "parking", "dead", "park")
		l.bind(t, "retry", "dead", "retry")
		l.fill(t, "parking")

		consumer := l.consume(t, "work", amqptest.InTurn(amqptest.Reject))
		l.publish(t, "source", "park", amqptest.Messages("refused", underWay-1)...)
		l.publish(t, "source", "retry", amqptest.Message("free"))
		if id := l.take(t, "retry").MessageId; id != "free" {
			t.Errorf("message %q came to be retried, want %q", id, "free")
		}

		l.publish(t, "source", "park", amqptest.Message("last refused"))
		l.publish(t, "source", "retry", amqptest.Message("stuck"))
		consumer.Await(t, underWay+2)
		l.awaitHeld(t, "work", held{messages: underWay + 1, deadLetters: underWay + 1})
		l.awaitReady(t, "retry", 0)
	})
}

// fill publishes until the queue refuses, which it does a little later than its
// limit says.
func (l *lab) fill(t *testing.T, queue string) {
	t.Helper()
	amqptest.Eventually(t, amqptest.Deadline, func() error {
		ctx, cancel := context.WithTimeout(t.Context(), amqptest.Deadline)
		defer cancel()
		err := amqptest.Send(ctx, l.connection, "", queue, amqptest.Message("filling"))
		if errors.Is(err, amqptest.ErrNacked) {
			return nil
		}
		return fmt.Errorf("queue %q is not full: %w", queue, err)
	})
}
