package e2e

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/warren-mq/warren/api/v1alpha1"
	"github.com/warren-mq/warren/test/amqptest"
)

// looks is how often a parked message is looked at in each way: more often
// than the delivery limit of 20 that a queue has which sets none.
const looks = 40

// A parked message stays and is as it was, however it is looked at and
// however often, and even when it is rejected for good.
func TestParkedMessageSurvivesLooks(t *testing.T) {
	onStages(t, func(t *testing.T, s *stage) {
		s.establish(subscriptionManifest("billing", `workQueue: {name: billing}, retry: {immediate: {}}`), "billing")
		s.publish("billing.park", "order.placed", poison())
		const queue = "billing.parking"

		getAnd := func(answer func(amqp.Delivery) error) func(*testing.T) {
			return func(t *testing.T) { s.getAndAnswer(t, queue, looks, answer) }
		}
		ways := []struct {
			name string
			look func(t *testing.T)
		}{
			{"GetAndRejectWithRequeue", getAnd(func(d amqp.Delivery) error { return d.Reject(true) })},
			{"GetAndNackWithRequeue", getAnd(func(d amqp.Delivery) error { return d.Nack(false, true) })},
			{"ConsumeAndCrash", func(t *testing.T) { s.consumeAndCrash(t, queue, looks) }},
			{"ManagementPageNack", func(t *testing.T) { s.lookByManagement(t, queue, looks, "ack_requeue_true") }},
			{"ManagementPageReject", func(t *testing.T) { s.lookByManagement(t, queue, looks, "reject_requeue_true") }},
			{"GetAndRejectForGood", getAnd(func(d amqp.Delivery) error { return d.Reject(false) })},
			{"GetAndNackForGood", getAnd(func(d amqp.Delivery) error { return d.Nack(false, false) })},
		}
		for _, way := range ways {
			t.Run(way.name, func(t *testing.T) {
				way.look(t)
				amqptest.AwaitReady(t, s.app, queue, 1)
			})
		}
		assertAsPublished(t, s.takeOnly(t, queue), "order.placed", poison())
	})
}

// What makes a parked message die all the same, an expiration that was copied
// into it or a policy of somebody who does not know Warren, drives it into
// the parking queue's dead-letter line. It is counted there, the status tells that
// it is held, and it is brought back as docs/parking.md says.
func TestHeldParkedMessagesComeBack(t *testing.T) {
	onStages(t, func(t *testing.T, s *stage) {
		s.establish(subscriptionManifest("billing", `workQueue: {name: billing}, retry: {immediate: {}}`), "billing")
		const queue = "billing.parking"
		s.holdByExpiration(t, queue)
		s.holdByDeliveryLimit(t, queue)
		s.setPolicy(t, "ttl", map[string]any{"message-ttl": 100}, queue)
		s.publish("billing.park", "order.outdated", amqptest.Message("time-to-live"))

		s.awaitHeld(t, queue, 3)
		s.awaitParked(t, "billing", 3)
		s.await("rsub/billing", expected{
			Type: v1alpha1.ConditionParkingBacklog, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonBacklogReached,
			Message: "3 of that is held in its dead-letter line",
		})

		s.removePolicy(t, "ttl", queue)
		s.pause("billing", true)
		s.queue(t, "rescue")
		s.bind(t, "rescue", "billing.park", "")
		s.unbind(t, queue, "billing.park", "")
		rescued := s.consume("rescue", amqptest.InTurn(amqptest.Ack), amqptest.Prefetch(10))
		awaitBrokersRetry(t, rescued, 3)
		s.awaitHeld(t, queue, 0)
		for id, key := range map[string]string{"expiration": "order.expiring", "delivery limit": "order.looked.at", "time-to-live": "order.outdated"} {
			back := rescued.DeliveriesOf(id)
			if len(back) != 1 || back[0].RoutingKey != key || back[0].Expiration != "" {
				t.Errorf("message %q came back as %v; want it once, with key %q and no expiration", id, back, key)
			}
		}

		s.pause("billing", false)
		s.unbind(t, "rescue", "billing.park", "")
		s.await("rsub/billing",
			expected{Type: v1alpha1.ConditionReady, Status: metav1.ConditionTrue},
			expected{Type: v1alpha1.ConditionDeadLetteringBlocked, Status: metav1.ConditionFalse, Reason: v1alpha1.ReasonFlowing},
			expected{Type: v1alpha1.ConditionParkingBacklog, Status: metav1.ConditionFalse, Reason: v1alpha1.ReasonEmpty})
		s.publish("billing.park", "order.placed", amqptest.Message("afterwards"))
		s.takeOnly(t, queue)
	})
}

// holdByExpiration parks a message as a consumer does that copies the expiration.
func (s *stage) holdByExpiration(t *testing.T, queue string) {
	t.Helper()
	expiring := amqptest.Message("expiration")
	expiring.Expiration = "100"
	s.publish("billing.park", "order.expiring", expiring)
	s.awaitHeld(t, queue, 1)
}

// holdByDeliveryLimit looks at a parked message more often than a policy allows.
func (s *stage) holdByDeliveryLimit(t *testing.T, queue string) {
	t.Helper()
	s.setPolicy(t, "limit", map[string]any{"delivery-limit": 5}, queue)
	s.publish("billing.park", "order.looked.at", amqptest.Message("delivery limit"))
	s.getAndAnswer(t, queue, 6, func(d amqp.Delivery) error { return d.Reject(true) })
	s.awaitHeld(t, queue, 2)
	s.removePolicy(t, "limit", queue)
}

// A loop that somebody has wired by hand, which leads a crasher's message
// through the wait queues, jams there. Warren takes the binding away, and
// nothing is lost: the status says how to get the message out, and so it comes out.
func TestJammedRetryComesOut(t *testing.T) {
	onStages(t, func(t *testing.T, s *stage) {
		s.establish(subscriptionManifest("billing", `workQueue: {name: billing, deliveryLimit: 1}, retry: {backoff: {delays: [1s]}}`), "billing")
		consumer := s.consume("billing", amqptest.InTurn(amqptest.Crash))
		const wait = "billing.wait.1.1s"
		s.jam(t, wait)
		s.await("rsub/billing",
			expected{Type: v1alpha1.ConditionReady, Status: metav1.ConditionFalse, Reason: v1alpha1.ConditionDeadLetteringBlocked},
			expected{
				Type: v1alpha1.ConditionDeadLetteringBlocked, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonDraining,
				Message: `bind queue "billing.parking" to exchange "billing.return.1" in place of "billing" until they have parked`,
			})

		s.pause("billing", true)
		s.bind(t, "billing.parking", "billing.return.1", "")
		s.unbind(t, "billing", "billing.return.1", "")
		parked := s.consume("billing.parking", amqptest.InTurn(amqptest.Ack))
		awaitBrokersRetry(t, parked, 1)
		s.awaitHeld(t, wait, 0)
		s.unbind(t, "billing.parking", "billing.return.1", "")
		s.pause("billing", false)

		s.awaitReady("rsub/billing")
		s.publish("", "billing", amqptest.Message("afterwards"))
		parked.AwaitMessage(t, "afterwards", 1)
		assertDeliveries(t, consumer, "crasher", 2)
		assertDeliveries(t, consumer, "afterwards", 2)
		assertDeliveries(t, parked, "crasher", 1)
	})
}

// jam has a crasher's message wait as if it had been rejected.
func (s *stage) jam(t *testing.T, wait string) {
	t.Helper()
	s.pause("billing", true)
	overLimit := amqp.Table{"x-match": "all-with-x", "x-last-death-reason": "delivery_limit"}
	s.mustDo(t, func(channel *amqp.Channel) error {
		return channel.ExchangeBind("billing.retry", "", "billing.dead", false, overLimit)
	})
	s.publish("", "billing", amqptest.Message("crasher"))
	s.awaitHeld(t, wait, 1)
	s.pause("billing", false)
}

// awaitBrokersRetry waits for dead letters that could not leave before:
// RabbitMQ tries again every 3 minutes.
func awaitBrokersRetry(t *testing.T, consumer *amqptest.Consumer, n int) {
	t.Helper()
	amqptest.Eventually(t, 4*time.Minute, func() error {
		if got := len(consumer.Deliveries()); got < n {
			return fmt.Errorf("%d dead letters have come, want %d", got, n)
		}
		return nil
	})
}

// pause keeps Warren from writing to the broker for a subscription.
func (s *stage) pause(name string, paused bool) {
	s.t.Helper()
	annotation := v1alpha1.PausedAnnotation + "-"
	if paused {
		annotation = v1alpha1.PausedAnnotation + "=true"
	}
	s.mustKubectl("annotate", "-n", s.namespace, "rsub", name, annotation)
}

// awaitParked waits until the status counts n parked messages.
func (s *stage) awaitParked(t *testing.T, name string, n int64) {
	t.Helper()
	amqptest.Eventually(t, within, func() error {
		if got := ptr.Deref(s.subscription(name).Status.ParkingQueue.Messages, -1); got != n {
			return fmt.Errorf("status.parkingQueue.messages is %d, want %d", got, n)
		}
		return nil
	})
}

// getAndAnswer gets the next message of a queue n times.
func (s *stage) getAndAnswer(t *testing.T, queue string, n int, answer func(amqp.Delivery) error) {
	t.Helper()
	channel, err := s.app.Channel()
	if err != nil {
		t.Fatal(err)
	}
	defer channel.Close()
	for look := range n {
		amqptest.Eventually(t, amqptest.Deadline, func() error {
			message, ok, err := channel.Get(queue, false)
			if err == nil && !ok {
				err = errors.New("the queue is empty")
			}
			if err != nil {
				return fmt.Errorf("look %d of %d: %w", look+1, n, err)
			}
			return answer(message)
		})
	}
	// The broker has taken the last answer when it answers this.
	if _, err := channel.QueueDeclarePassive(queue, true, false, false, false, nil); err != nil {
		t.Fatal(err)
	}
}

func (s *stage) consumeAndCrash(t *testing.T, queue string, n int) {
	t.Helper()
	verbs := append(slices.Repeat([]amqptest.Verb{amqptest.Crash}, n), amqptest.Hang)
	consumer := amqptest.Consume(t, s.app, queue, amqptest.InTurn(verbs...))
	consumer.Await(t, n+1)
	consumer.Stop()
}

// lookByManagement does what "Get messages" of the management page does.
func (s *stage) lookByManagement(t *testing.T, queue string, n int, mode string) {
	t.Helper()
	for look := range n {
		amqptest.Eventually(t, amqptest.Deadline, func() error {
			var messages []any
			request := map[string]any{"count": 1, "ackmode": mode, "encoding": "auto"}
			err := s.manage(http.MethodPost, request, &messages, "queues", queue, "get")
			if err == nil && len(messages) != 1 {
				err = fmt.Errorf("look %d of %d: got %d messages, want 1", look+1, n, len(messages))
			}
			return err
		})
	}
}
