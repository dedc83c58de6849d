package e2e

import (
	"fmt"
	"testing"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/warren-mq/warren/test/amqptest"
)

// Whatever is not known to be retried parks. Even with the binding gone that
// leads rejections to the wait queues, nothing is lost or stands still: a
// rejection parks then, also that of a message that was waiting meanwhile.
// Once the binding is back, as Warren's next reading sees to, rejections are
// retried again.
func TestRejectionsParkWhileTheirWayIsGone(t *testing.T) {
	onStages(t, func(t *testing.T, s *stage) {
		// A Broker that is not read again for an hour leaves time to look.
		s.establish(s.brokerManifest("slow", "1h")+
			subscriptionManifestOn("slow", "billing", `workQueue: {name: billing}, retry: {backoff: {delays: [2s, 2s]}}`), "billing")
		consumer := s.consume("billing", amqptest.InTurn(amqptest.Reject))
		s.publish("", "billing", amqptest.Message("waiting"))
		consumer.AwaitMessage(t, "waiting", 1)
		amqptest.AwaitReady(t, s.app, "billing.wait.1.2s", 1)

		rejections := amqp.Table{"x-match": "all-with-x", "x-last-death-reason": "rejected"}
		s.mustDo(t, func(channel *amqp.Channel) error {
			return channel.ExchangeUnbind("billing.retry", "", "billing.dead", false, rejections)
		})
		s.publish("", "billing", amqptest.Messages("late", 3)...)
		ids := map[string]int{}
		for _, d := range amqptest.Take(t, s.app, "billing.parking", 4) {
			ids[d.MessageId]++
		}
		for id, deliveries := range map[string]int{"waiting": 2, "late-1": 1, "late-2": 1, "late-3": 1} {
			if ids[id] != 1 {
				t.Errorf("message %q parked %d times, want once", id, ids[id])
			}
			assertDeliveries(t, consumer, id, deliveries)
		}
		for _, queue := range []string{"billing", "billing.parking", "billing.wait.1.2s", "billing.wait.2.2s"} {
			amqptest.AwaitReady(t, s.app, queue, 0)
		}

		s.apply(s.brokerManifest("slow", "1s"))
		amqptest.Eventually(t, within, func() error { return s.bound("billing.dead", "billing.retry") })
		s.publish("", "billing", amqptest.Message("healed"))
		s.takeOnly(t, "billing.parking")
		assertDeliveries(t, consumer, "healed", 3)
	})
}

// bound tells whether an exchange is bound to another one.
func (s *stage) bound(source, destination string) error {
	var bindings []struct{ Source, Destination string }
	if err := s.manage("GET", nil, &bindings, "bindings"); err != nil {
		return err
	}
	for _, b := range bindings {
		if b.Source == source && b.Destination == destination {
			return nil
		}
	}
	return fmt.Errorf("exchange %q is not bound to exchange %q", destination, source)
}
