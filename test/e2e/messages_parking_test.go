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

		expiring := amqptest.Message("copied expiration")
		expiring.Expiration = "100"
		s.publish("billing.park", "order.expiring", expiring)
		s.awaitHeld(t, queue, 1)

		s.setPolicy(t, "limit", map[string]any{"delivery-limit": 5}, queue)
		s.publish("billing.park", "order.looked.at", amqptest.Message("delivery limit"))
		s.getAndAnswer(t, queue, 6, func(d amqp.Delivery) error { return d.Reject(true) })
		s.awaitHeld(t, queue, 2)
		s.removePolicy(t, "limit", queue)

		s.setPolicy(t, "ttl", map[string]any{"message-ttl": 100}, queue)
		s.publish("billing.park", "order.outdated", amqptest.Message("time-to-live"))
		s.awaitHeld(t, queue, 3)
		s.awaitParked(t, "billing", 3)
		s.await("rsub/billing", expected{
			Type: v1alpha1.ConditionParkingBacklog, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonBacklogReached,
			Message: "3 of that is held in its dead-letter line",
		})

		s.removePolicy(t, "ttl", queue)
		s.queue("rescue", "billing.park")
		rescued := s.consume("rescue", amqptest.InTurn(amqptest.Ack), amqptest.Prefetch(10))
		// RabbitMQ tries again every 3 minutes.
		amqptest.Eventually(t, 4*time.Minute, func() error {
			if n := len(rescued.Deliveries()); n < 3 {
				return fmt.Errorf("%d messages are back, want 3", n)
			}
			return nil
		})
		s.await("rsub/billing",
			expected{Type: v1alpha1.ConditionParkingBacklog, Status: metav1.ConditionFalse, Reason: v1alpha1.ReasonEmpty},
			expected{Type: v1alpha1.ConditionDeadLetteringBlocked, Status: metav1.ConditionFalse, Reason: v1alpha1.ReasonFlowing},
			expected{Type: v1alpha1.ConditionReady, Status: metav1.ConditionTrue})
		s.awaitHeld(t, queue, 0)
		for id, key := range map[string]string{"copied expiration": "order.expiring", "delivery limit": "order.looked.at", "time-to-live": "order.outdated"} {
			back := rescued.DeliveriesOf(id)
			if len(back) != 1 || back[0].RoutingKey != key || back[0].Expiration != "" {
				t.Errorf("message %q came back as %v; want it once, with key %q and no expiration", id, back, key)
			}
		}
	})
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
