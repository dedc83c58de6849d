package e2e

import (
	"testing"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/warren-mq/warren/test/amqptest"
)

// A message with an expiration of its own that nobody consumes in time parks,
// once and with its key. It does not expire again in the parking queue: the
// broker takes the expiration off a message that dies, and notes it in x-death.
func TestExpiredMessageParks(t *testing.T) {
	onStages(t, func(t *testing.T, s *stage) {
		s.establish(topicOrders+
			subscriptionManifest("backoff", fromOrders+`, workQueue: {name: backoff}`)+
			subscriptionManifest("immediate", fromOrders+`, workQueue: {name: immediate}, retry: {immediate: {}}`), "backoff", "immediate")
		for id, expiration := range map[string]string{"short-lived": "100", "longer-lived": "1500"} {
			message := amqptest.Message(id)
			message.Expiration = expiration
			s.publish("orders", "order."+id, message)
		}

		for _, queue := range []string{"backoff", "immediate"} {
			// When the second one is there, the first would have expired many times.
			amqptest.AwaitReady(t, s.app, queue+".parking", 2)
			parked := map[string]amqptest.Delivery{}
			for _, d := range amqptest.Take(t, s.app, queue+".parking", 2) {
				parked[d.MessageId] = d
			}
			assertExpired(t, parked["short-lived"], queue, "order.short-lived", "100")
			assertExpired(t, parked["longer-lived"], queue, "order.longer-lived", "1500")
			amqptest.AwaitReady(t, s.app, queue, 0)
			amqptest.AwaitReady(t, s.app, queue+".parking", 0)
		}
	})
}

func assertExpired(t *testing.T, d amqptest.Delivery, queue, key, expiration string) {
	t.Helper()
	if d.RoutingKey != key || d.Expiration != "" {
		t.Errorf("%s has expiration %q; want key %q and no expiration", d, d.Expiration, key)
	}
	deaths, _ := d.Headers["x-death"].([]any)
	if len(deaths) != 1 {
		t.Fatalf("%s has %d entries in x-death, want 1: %v", d, len(deaths), deaths)
	}
	death, _ := deaths[0].(amqp.Table)
	if death["queue"] != queue || death["reason"] != "expired" || death["original-expiration"] != expiration {
		t.Errorf("%s died as %v; want queue %q, reason expired, original-expiration %q", d, death, queue, expiration)
	}
}
