package facts

import (
	"fmt"
	"net"
	"testing"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/warren-mq/warren/test/amqptest"
)

// Fact 5: from 4.3 on the delivery count that the limit looks at goes with the
// message from queue to queue; before, it starts at 0 in each.
//
// It is why a delivery limit below the number of retries is refused, and the
// default leaves room above the ladder: on 4.3 a rejection on each rung uses
// the limit up as a crash does. status.retry.worstCaseDeliveries is computed
// by this.
func TestFact05DeliveryCountCrossesQueuesSince43(t *testing.T) {
	onEachBroker(t, func(t *testing.T, l *lab) {
		l.run(t, "UpTheLadder", func(t *testing.T, l *lab) {
			const limit = 3
			r := l.ladder(t, 3, limit)
			consumer := l.consume(t, "work", amqptest.InTurn(amqptest.Reject, amqptest.Reject, amqptest.Reject, amqptest.Crash))
			l.publish(t, "", "work", amqptest.Message("m"))
			l.expectParked(t, amqptest.Death{Reason: "delivery_limit", Queue: "work", Exchange: r.back(3)})

			want := r.rungs + limit + 1
			if l.since43(t) {
				want = limit + 1
			}
			expectDeliveries(t, consumer, "m", want)
			// The header counts on in both, so it does not tell how near the limit is.
			if got := consumer.DeliveriesOf("m")[r.rungs].Count(); got != int64(r.rungs) {
				t.Errorf("count after %d rungs is %d", r.rungs, got)
			}
		})
		l.run(t, "FromAnotherQueue", func(t *testing.T, l *lab) {
			l.queue(t, "parking")
			l.queue(t, "work", deadLettersTo("parking"), deliveryLimit(1))
			l.queue(t, "foreign", deadLettersTo("work"))
			l.publish(t, "", "foreign", amqptest.Message("m"))
			l.rejectOne(t, "foreign")
			consumer := l.consume(t, "work", amqptest.InTurn(amqptest.Crash))
			l.expectParked(t, amqptest.Death{Reason: "delivery_limit", Queue: "work"})

			want := 2
			if l.since43(t) {
				want = 1
			}
			expectDeliveries(t, consumer, "m", want)
		})
	})
}

// Fact 6: a rejection without requeue is a rejection, whatever the delivery
// count and the limit.
//
// So a message that is always rejected gets all of its N+1 deliveries, however
// often its consumer crashed in between, as long as the limit was not exceeded
// by the crashes themselves.
func TestFact06RejectIsNeverHeldBackByDeliveryLimit(t *testing.T) {
	onEachBroker(t, func(t *testing.T, l *lab) {
		l.run(t, "LadderLongerThanLimit", func(t *testing.T, l *lab) {
			l.expectClimb(t, l.ladder(t, 4, 1), "", "work", amqptest.Message("m"))
		})
		l.run(t, "OnLastAllowedDelivery", func(t *testing.T, l *lab) {
			l.queue(t, "parking")
			l.queue(t, "work", deadLettersTo("parking"), deliveryLimit(1))
			l.consume(t, "work", amqptest.InTurn(amqptest.RejectRequeue, amqptest.Reject))
			l.publish(t, "", "work", amqptest.Message("m"))
			l.expectParked(t, amqptest.Death{Reason: "rejected", Queue: "work"})
		})
	})
}

// Fact 7: from 4.3 on basic.nack with requeue is not counted: the message comes
// again at once and for ever. Before, it counts. basic.reject with requeue, a
// closed channel and a lost connection count in both.
//
// status.retry says so per verb and version: a consumer on 4.3 that nacks with
// requeue has no protection by the delivery limit.
func TestFact07NackWithRequeueIsNotCountedSince43(t *testing.T) {
	const limit = 2
	onEachBroker(t, func(t *testing.T, l *lab) {
		counted := []amqptest.Verb{amqptest.RejectRequeue, amqptest.Crash}
		if l.since43(t) {
			l.run(t, "NackRequeue", func(t *testing.T, l *lab) {
				l.limitedQueue(t, limit)
				l.expectSurvives(t, "work", amqptest.NackRequeue, 30)
			})
		} else {
			counted = append(counted, amqptest.NackRequeue)
		}
		for _, verb := range counted {
			l.run(t, verb.String(), func(t *testing.T, l *lab) { l.expectLimit(t, limit, verb) })
		}
		l.run(t, "LostConnection", func(t *testing.T, l *lab) {
			l.limitedQueue(t, limit)
			l.publish(t, "", "work", amqptest.Message("m"))
			for range limit + 1 {
				l.loseConnectionWithMessage(t, "work")
			}
			l.expectParked(t, amqptest.Death{Reason: "delivery_limit", Queue: "work"})
		})
	})
}

// Fact 8: a delivery limit of L allows L+1 deliveries, the first one and L
// redeliveries; then the message dies of reason delivery_limit.
//
// status.retry.maxDeliveries and worstCaseDeliveries are computed by this, and
// W.dead parks what dies of this reason because no binding knows it.
func TestFact08DeliveryLimitAllowsOneDeliveryMore(t *testing.T) {
	onEachBroker(t, func(t *testing.T, l *lab) {
		for _, limit := range []int{0, 1, 5} {
			l.run(t, fmt.Sprint(limit), func(t *testing.T, l *lab) { l.expectLimit(t, limit, amqptest.RejectRequeue) })
		}
	})
}

// limitedQueue declares work, which parks.
func (l *lab) limitedQueue(t *testing.T, limit int) {
	t.Helper()
	l.queue(t, "parking")
	l.queue(t, "work", deadLettersTo("parking"), deliveryLimit(limit))
}

// expectLimit answers each delivery with a verb until the message is parked.
func (l *lab) expectLimit(t *testing.T, limit int, verb amqptest.Verb) {
	t.Helper()
	l.limitedQueue(t, limit)
	l.publish(t, "", "work", amqptest.Message("m"))
	consumer := l.consume(t, "work", amqptest.InTurn(verb))
	l.expectParked(t, amqptest.Death{Reason: "delivery_limit", Queue: "work"})
	expectDeliveries(t, consumer, "m", limit+1)
}

// expectSurvives has a message delivered and put back n times, and takes it out
// the next time.
func (l *lab) expectSurvives(t *testing.T, queue string, verb amqptest.Verb, n int) {
	t.Helper()
	verbs := make([]amqptest.Verb, n+1)
	for i := range n {
		verbs[i] = verb
	}
	verbs[n] = amqptest.Ack
	l.publish(t, "", queue, amqptest.Message("m"))
	l.consume(t, queue, amqptest.InTurn(verbs...)).Await(t, n+1)
}

// loseConnectionWithMessage takes a message and cuts the line.
func (l *lab) loseConnectionWithMessage(t *testing.T, queue string) {
	t.Helper()
	var line net.Conn
	connection, err := amqp.DialConfig(l.Broker.AMQPURL(), amqp.Config{
		Vhost: l.Name,
		SASL:  []amqp.Authentication{&amqp.PlainAuth{Username: l.App.Name, Password: l.App.Password}},
		Dial: func(network, address string) (_ net.Conn, err error) {
			line, err = net.Dial(network, address)
			return line, err
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	amqptest.Consume(t, connection, queue, amqptest.InTurn(amqptest.Hang)).Await(t, 1)
	if err := line.Close(); err != nil {
		t.Fatal(err)
	}
}
