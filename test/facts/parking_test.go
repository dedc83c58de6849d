package facts

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/warren-mq/warren/test/amqptest"
)

// Fact 9: a quorum queue without a delivery limit has one of 20, and drops the
// message after it when there is no dead letter exchange. x-delivery-limit -1
// takes the limit away, whichever way the messages are looked at; a policy with
// a limit wins over it. A queue that dead-letters to itself keeps even what
// exceeds a limit or expires; only a policy with expires destroys it.
//
// It is why the parking queue has the limit -1 and W.park, which leads back to
// it, as its dead letter exchange, why wait queues have the limit -1, too, and
// why Broker.spec.shieldPolicy exists.
func TestFact09DefaultDeliveryLimitDropsWhatIsLookedAt(t *testing.T) {
	onEachBroker(t, func(t *testing.T, l *lab) {
		l.run(t, "DefaultOf20", func(t *testing.T, l *lab) {
			l.queue(t, "parking")
			l.expectDroppedAfter(t, 21)
		})
		for _, verb := range []amqptest.Verb{amqptest.RejectRequeue, amqptest.NackRequeue, amqptest.Crash} {
			l.run(t, "UnlimitedSurvives"+verb.String(), func(t *testing.T, l *lab) {
				l.queue(t, "parking", deliveryLimit(-1))
				l.expectSurvives(t, "parking", verb, 40)
			})
		}
		for _, mode := range []string{"ack_requeue_true", "reject_requeue_true"} {
			l.run(t, "UnlimitedSurvivesManagementPage/"+mode, func(t *testing.T, l *lab) {
				l.queue(t, "parking", deliveryLimit(-1))
				l.publish(t, "", "parking", amqptest.Message("m"))
				for range 40 {
					l.awaitReady(t, "parking", 1)
					l.lookByManagement(t, mode)
				}
				l.take(t, "parking")
			})
		}
		l.run(t, "PolicyWinsOverUnlimited", func(t *testing.T, l *lab) {
			l.queue(t, "parking", deliveryLimit(-1))
			l.setLimitByPolicy(t, 5)
			l.expectDroppedAfter(t, 6)
		})
		l.run(t, "DeadLetteringToItselfKeeps", testParkingQueueKeeps)
		l.run(t, "PolicyExpiresDestroys", func(t *testing.T, l *lab) {
			l.parkingQueue(t)
			l.publish(t, "", "parking", amqptest.Message("m"))
			l.policy(t, "parking", map[string]any{"expires": 100})
			l.awaitNoQueues(t)
		})
		l.run(t, "LookAtWaitingMessage", testLookAtWaitingMessage)
	})
}

// parkingQueue declares parking as a subscription has it.
func (l *lab) parkingQueue(t *testing.T) {
	t.Helper()
	l.exchange(t, "park", "fanout")
	l.queue(t, "parking", deadLetters("park"), deliveryLimit(-1))
	l.bind(t, "parking", "park", "")
}

func testParkingQueueKeeps(t *testing.T, l *lab) {
	l.parkingQueue(t)
	expiring := amqptest.Message("expiring")
	expiring.Expiration = "50"
	l.publish(t, "", "parking", expiring)
	l.awaitReady(t, "parking", 0)

	l.setLimitByPolicy(t, 2)
	consumer := l.consume(t, "parking", amqptest.ByID(map[string]amqptest.Answer{
		"looked at": amqptest.InTurn(amqptest.RejectRequeue),
		"rejected":  amqptest.InTurn(amqptest.Reject, amqptest.Reject, amqptest.Ack),
	}))
	l.publish(t, "", "parking", amqptest.Message("looked at"))
	consumer.AwaitMessage(t, "looked at", 3)
	l.publish(t, "", "parking", amqptest.Message("rejected"))
	consumer.AwaitMessage(t, "rejected", 3)

	expectDeliveries(t, consumer, "looked at", 3)
	l.awaitHeld(t, "parking", held{messages: 2, deadLetters: 2})
}

// testLookAtWaitingMessage shows what a limit on a wait queue would do: from
// 4.3 on, where the count comes along with the message, a single look at one
// that has been delivered often ends its wait.
func testLookAtWaitingMessage(t *testing.T, l *lab) {
	const hour = 3_600_000
	wait := map[string]int{"unlimited": -1, "limited": 2}
	l.queue(t, "home")
	for name, limit := range wait {
		l.queue(t, name, deadLettersTo("home"), deliveryLimit(limit), ttl(hour))
		work := "before " + name
		l.queue(t, work, deadLettersTo(name))
		l.publish(t, "", work, amqptest.Message(name))
		l.consume(t, work, amqptest.InTurn(amqptest.RejectRequeue, amqptest.RejectRequeue, amqptest.Reject)).Await(t, 3)
	}
	// A second delivery proves that the message waits on after the first.
	look := amqptest.InTurn(amqptest.RejectRequeue, amqptest.Ack)
	l.consume(t, "unlimited", look).Await(t, 2)
	limited := l.consume(t, "limited", look)
	if !l.since43(t) {
		limited.Await(t, 2)
		return
	}
	home := l.take(t, "home")
	if want := (amqptest.Death{Reason: "delivery_limit", Queue: "limited"}); home.LastDeath() != want {
		t.Errorf("the message that came home died by %+v, want %+v", home.LastDeath(), want)
	}
}

// expectDroppedAfter has parking deliver a message and requeue it until it does
// not come again, and a second message, which does.
func (l *lab) expectDroppedAfter(t *testing.T, deliveries int) {
	t.Helper()
	consumer := l.consume(t, "parking", amqptest.ByID(map[string]amqptest.Answer{"m": amqptest.InTurn(amqptest.RejectRequeue)}))
	l.publish(t, "", "parking", amqptest.Message("m"))
	consumer.AwaitMessage(t, "m", deliveries)
	l.publish(t, "", "parking", amqptest.Message("control"))
	consumer.AwaitMessage(t, "control", 1)
	consumer.Stop()
	expectDeliveries(t, consumer, "m", deliveries)
	l.awaitReady(t, "parking", 0)
}

// setLimitByPolicy returns when parking has the limit.
func (l *lab) setLimitByPolicy(t *testing.T, limit int) {
	t.Helper()
	l.policy(t, "parking", map[string]any{"delivery-limit": limit})
	amqptest.Eventually(t, amqptest.Deadline, func() error {
		var state struct {
			DeliveryLimit any `json:"delivery_limit"`
		}
		l.manage(t, http.MethodGet, nil, &state, "queues", l.Name, "parking")
		if got := fmt.Sprint(state.DeliveryLimit); got != fmt.Sprint(limit) {
			return fmt.Errorf("parking has the delivery limit %s, want %d", got, limit)
		}
		return nil
	})
}

// lookByManagement does what the management page's "Get messages" does.
func (l *lab) lookByManagement(t *testing.T, mode string) {
	t.Helper()
	var messages []any
	request := map[string]any{"count": 1, "ackmode": mode, "encoding": "auto"}
	l.manage(t, http.MethodPost, request, &messages, "queues", l.Name, "parking", "get")
	if len(messages) != 1 {
		t.Fatalf("got %d messages by %s, want 1", len(messages), mode)
	}
}

// awaitNoQueues asks the management API: a passive declare would be a use of
// the queue, which keeps it from expiring.
func (l *lab) awaitNoQueues(t *testing.T) {
	t.Helper()
	amqptest.Eventually(t, amqptest.Deadline, func() error {
		var queues []any
		l.manage(t, http.MethodGet, nil, &queues, "queues", l.Name)
		if len(queues) > 0 {
			return fmt.Errorf("%d queues are left, want none", len(queues))
		}
		return nil
	})
}
