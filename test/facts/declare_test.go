package facts

import (
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/warren-mq/warren/test/amqptest"
)

// Fact 13: an argument that the broker does not know is kept and shown, and not
// compared when the queue or exchange is declared again.
//
// Warren writes the owner's mark into such an argument: applications that
// declare the same queue themselves, without the mark, go on working.
func TestFact13UnknownArgumentIsKeptAndNotCompared(t *testing.T) {
	const mark = "x-warren-owner"
	kinds := map[string]struct {
		declare  func(*lab, amqp.Table) error
		compared amqp.Table // the control: an argument that is known
	}{
		"queues": {
			declare:  func(l *lab, arguments amqp.Table) error { return l.declareQueue("marked", arguments) },
			compared: deliveryLimit(7),
		},
		"exchanges": {
			declare:  func(l *lab, arguments amqp.Table) error { return l.declareExchange("marked", "topic", arguments) },
			compared: alternate("other"),
		},
	}
	again := map[string]amqp.Table{"without the mark": nil, "with another mark": {mark: "yours"}}
	onEachBroker(t, func(t *testing.T, l *lab) {
		for kind, c := range kinds {
			if err := c.declare(l, amqp.Table{mark: "mine"}); err != nil {
				t.Fatalf("%s: %v", kind, err)
			}
			for what, arguments := range again {
				if err := c.declare(l, arguments); err != nil {
					t.Errorf("%s: declared again %s: %v", kind, what, err)
				}
			}
			expectCode(t, c.declare(l, c.compared), amqp.PreconditionFailed)
			if got := l.arguments(t, kind, "marked")[mark]; got != "mine" {
				t.Errorf("%s: the mark reads %v, want %q", kind, got, "mine")
			}
		}
	})
}

// Fact 17: queue.delete with if-empty or if-unused is not implemented for
// quorum queues, and the attempt closes the whole connection. A plain delete
// answers with the number of messages that went with the queue.
//
// It is why removal cannot leave it to the broker to spare a queue with
// messages, but has to look first.
func TestFact17ConditionalDeleteClosesConnection(t *testing.T) {
	conditions := map[string]struct{ ifUnused, ifEmpty bool }{
		"IfUnused": {ifUnused: true},
		"IfEmpty":  {ifEmpty: true},
	}
	onEachBroker(t, func(t *testing.T, l *lab) {
		for name, condition := range conditions {
			l.run(t, name, func(t *testing.T, l *lab) {
				l.queue(t, "unused and empty")
				closed := l.connection.NotifyClose(make(chan *amqp.Error, 1))
				expectCode(t, l.do(func(channel *amqp.Channel) error {
					_, err := channel.QueueDelete("unused and empty", condition.ifUnused, condition.ifEmpty, false)
					return err
				}), amqp.NotImplemented)
				expectCode(t, ended(t, closed), amqp.NotImplemented)
			})
		}
		l.run(t, "PlainCounts", func(t *testing.T, l *lab) {
			l.queue(t, "full")
			l.publish(t, "", "full", amqptest.Messages("m", 3)...)
			l.must(t, "deleting", func(channel *amqp.Channel) error {
				count, err := channel.QueueDelete("full", false, false, false)
				if err == nil && count != 3 {
					t.Errorf("%d messages were deleted with the queue, want 3", count)
				}
				return err
			})
		})
	})
}

// ended is why a connection ended.
func ended(t *testing.T, closed <-chan *amqp.Error) error {
	t.Helper()
	select {
	case err := <-closed:
		return err
	case <-time.After(amqptest.Deadline):
		t.Fatal("the connection is still open")
		return nil
	}
}
