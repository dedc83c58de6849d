package e2e

import (
	"testing"

	"github.com/warren-mq/warren/test/amqptest"
)

// A retry reaches its own subscription only: another one on the same events,
// with a ladder of its own, and a queue that is bound to all of the topic hear
// each event once, however often it is retried elsewhere.
func TestRetryReachesItsOwnSubscriptionOnly(t *testing.T) {
	onStages(t, func(t *testing.T, s *stage) {
		s.establish(topicOrders+
			subscriptionManifest("billing", fromOrders+`, workQueue: {name: billing}, retry: {backoff: {delays: [1s, 1s, 1s]}}`)+
			subscriptionManifest("audit", `sources: [{topicRef: {name: orders}, routingKeys: ["#"]}], workQueue: {name: audit}, retry: {backoff: {delays: [1s]}}`)+
			subscriptionManifest("shipping", `sources: [{topicRef: {name: orders}, routingKeys: ["#"]}], workQueue: {name: shipping}`),
			"billing", "audit", "shipping")
		s.queue(t, "everything")
		s.bind(t, "everything", "orders", "#")
		billing := s.consume("billing", amqptest.InTurn(amqptest.Reject))
		audit := s.consume("audit", amqptest.InTurn(amqptest.Reject))
		shipping := s.consume("shipping", amqptest.InTurn(amqptest.Ack))
		s.publish("orders", "order.placed", amqptest.Message("event"))

		// The longer ladder ends last.
		s.takeOnly(t, "billing.parking")
		s.takeOnly(t, "audit.parking")
		s.takeOnly(t, "everything")
		assertDeliveries(t, billing, "event", 4)
		assertDeliveries(t, audit, "event", 2)
		assertDeliveries(t, shipping, "event", 1)
		for _, queue := range []string{"billing", "audit", "shipping", "shipping.parking"} {
			amqptest.AwaitReady(t, s.app, queue, 0)
		}
	})
}
