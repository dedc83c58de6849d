package facts

import (
	"errors"
	"fmt"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/warren-mq/warren/test/amqptest"
)

// Fact 33: from 4.3 on a delivery that the broker takes back from a consumer
// that hangs is not counted: the message never parks. Before, it counts, but
// the consumer timeout, however short, is looked at once a minute only.
//
// It is why the contract in status.retry asks every consumer to have a deadline
// of its own, and then to reject.
func TestFact33HangingConsumerNeverParksSince43(t *testing.T) {
	const limit = 1
	onEachBroker(t, func(t *testing.T, l *lab) {
		l.queue(t, "parking")
		for _, queue := range []string{"hanging", "crashing"} {
			l.queue(t, queue, deadLettersTo("parking"), deliveryLimit(limit), amqp.Table{amqp.ConsumerTimeoutArg: 100})
		}
		hanging := l.consume(t, "hanging", amqptest.InTurn(amqptest.Hang))
		l.publish(t, "", "hanging", amqptest.Message("hangs"))
		if l.since43(t) {
			for _, d := range hanging.Await(t, 20) {
				if d.Count() != 0 {
					t.Errorf("delivery %d has the count %d, want 0", d.Nth, d.Count())
				}
			}
		} else {
			l.awaitParkedByMinutes(t, limit+1)
			l.expectParked(t, amqptest.Death{Reason: "delivery_limit", Queue: "hanging"})
			expectDeliveries(t, hanging, "hangs", limit+1)
		}

		// Crashing does park, and nothing else has.
		l.consume(t, "crashing", amqptest.InTurn(amqptest.Crash))
		l.publish(t, "", "crashing", amqptest.Message("crashes"))
		l.expectParked(t, amqptest.Death{Reason: "delivery_limit", Queue: "crashing"})
	})
}

// awaitParkedByMinutes waits for a message that is parked after n timeouts that
// fire once a minute.
func (l *lab) awaitParkedByMinutes(t *testing.T, n int) {
	t.Helper()
	amqptest.Eventually(t, time.Duration(n)*time.Minute+amqptest.Deadline, func() error {
		ready, err := amqptest.Ready(l.connection, "parking")
		if err == nil && ready != 1 {
			err = fmt.Errorf("%d messages are parked, want 1", ready)
		}
		return err
	})
}

// Fact 34: when a channel closes just after many acks, some of the messages come
// back. When the consumer is cancelled first and the broker's cancel-ok
// awaited, none does.
//
// It is why the contract in status.retry says: to stop, cancel, await
// cancel-ok, then close. Redrive, which moves messages, does so itself.
func TestFact34AcksBeforeCloseComeBack(t *testing.T) {
	const rounds = 10
	onEachBroker(t, func(t *testing.T, l *lab) {
		l.run(t, "Close", func(t *testing.T, l *lab) {
			// It is a race, which the acks may win now and then.
			for round := range rounds {
				queue := fmt.Sprintf("work.%d", round)
				back := l.ackAndLeave(t, queue, func(*amqp.Channel) error { return nil })
				t.Logf("%d of %d acked messages came back", back, acks)
				if back > 0 {
					return
				}
			}
			t.Errorf("no acked message came back in %d rounds", rounds)
		})
		l.run(t, "CancelThenClose", func(t *testing.T, l *lab) {
			for round := range rounds {
				queue := fmt.Sprintf("work.%d", round)
				back := l.ackAndLeave(t, queue, func(channel *amqp.Channel) error { return channel.Cancel(consumerTag, false) })
				if back != 0 {
					t.Errorf("round %d: %d of %d acked messages came back, want 0", round, back, acks)
				}
			}
		})
	})
}

const (
	acks        = 128
	consumerTag = "consumer"
)

// ackAndLeave gets one message more than it acks, leaves and then closes the
// channel. It returns how many acked messages came back: they come together
// with the one that was not acked.
func (l *lab) ackAndLeave(t *testing.T, queue string, leave func(*amqp.Channel) error) int {
	t.Helper()
	l.queue(t, queue)
	l.publish(t, "", queue, amqptest.Messages("m", acks+1)...)
	l.must(t, "consuming", func(channel *amqp.Channel) error {
		deliveries, err := getAll(channel, queue, acks+1)
		if err != nil {
			return err
		}
		for _, d := range deliveries[:acks] {
			if err := d.Ack(false); err != nil {
				return err
			}
		}
		return leave(channel)
	})
	var ready int
	amqptest.Eventually(t, amqptest.Deadline, func() (err error) {
		if ready, err = amqptest.Ready(l.connection, queue); err == nil && ready == 0 {
			err = errors.New("the message that was not acked has not come back")
		}
		return err
	})
	return ready - 1
}

// getAll gets n messages and answers none.
func getAll(channel *amqp.Channel, queue string, n int) ([]amqp.Delivery, error) {
	incoming, err := channel.Consume(queue, consumerTag, false, false, false, false, nil)
	if err != nil {
		return nil, err
	}
	var deliveries []amqp.Delivery
	timeout := time.After(amqptest.Deadline)
	for len(deliveries) < n {
		select {
		case d := <-incoming:
			deliveries = append(deliveries, d)
		case <-timeout:
			return nil, fmt.Errorf("got %d messages, want %d", len(deliveries), n)
		}
	}
	return deliveries, nil
}
