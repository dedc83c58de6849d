package e2e

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	amqp "github.com/rabbitmq/amqp091-go"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/warren-mq/warren/api/v1alpha1"
	"github.com/warren-mq/warren/test/amqptest"
)

// topicOrders is a topic, and a queue bound to all of it beside Warren's.
const topicOrders = `
apiVersion: warren.dev/v1alpha1
kind: Topic
metadata: {name: orders}
spec: {brokerRef: {name: main}}
`

const backoffBilling = `
apiVersion: warren.dev/v1alpha1
kind: ReliableSubscription
metadata: {name: billing}
spec:
  brokerRef: {name: main}
  sources: [{topicRef: {name: orders}, routingKeys: ["order.placed", "order.cancelled"]}]
  workQueue: {name: billing}
  retry: {backoff: {delays: [1s, 2s, 3s]}}
`

// A message that is rejected each time comes back after each delay in turn,
// then parks as it was; the others vanish with their ack; and a queue that is
// bound to everything hears of each event once.
func TestBackoffClimbsItsLadderThenParks(t *testing.T) {
	forEachBroker(t, func(t *testing.T, w *tenant) {
		w.apply(topicOrders + "---" + backoffBilling)
		w.awaitReady("rsub/billing")
		app := w.application()
		others := bindEverything(t, app, "orders")

		poison := amqptest.Message("poison")
		poison.Headers = amqp.Table{"tenant": "acme"}
		consumer := amqptest.Consume(t, app, "billing", amqptest.ByID(map[string]amqptest.Answer{"poison": amqptest.InTurn(amqptest.Reject)}))
		amqptest.Publish(t, app, "orders", "order.placed", amqptest.Message("good"), poison)

		deliveries := consumer.AwaitMessage(t, "poison", 4)
		assertDelays(t, deliveries, time.Second, 2*time.Second, 3*time.Second)
		parked := amqptest.Take(t, app, "billing.parking", 1)[0]
		if diff := cmp.Diff([]string{"poison", "order.placed", "acme"}, []string{parked.MessageId, parked.RoutingKey, parked.Headers["tenant"].(string)}); diff != "" {
			t.Errorf("the parked message is not as it was published (-want +got):\n%s", diff)
		}
		if n := len(consumer.DeliveriesOf("poison")); n != 4 {
			t.Errorf("delivered %d times, want 4", n)
		}
		amqptest.AwaitReady(t, app, "billing", 0)
		amqptest.AwaitReady(t, app, others, 2)
		w.await("rsub/billing", expected{Type: v1alpha1.ConditionParkingBacklog, Status: metav1.ConditionFalse, Reason: v1alpha1.ReasonEmpty})
	})
}

// bindEverything declares a queue that hears all of an exchange.
func bindEverything(t *testing.T, conn *amqp.Connection, exchange string) string {
	t.Helper()
	ch, err := conn.Channel()
	if err != nil {
		t.Fatal(err)
	}
	defer ch.Close()
	const queue = "everything"
	if _, err := ch.QueueDeclare(queue, true, false, false, false, amqp.Table{"x-queue-type": "quorum"}); err != nil {
		t.Fatal(err)
	}
	if err := ch.QueueBind(queue, "#", exchange, false, nil); err != nil {
		t.Fatal(err)
	}
	return queue
}

// assertDelays: a delay may be longer on a busy machine, never shorter.
func assertDelays(t *testing.T, deliveries []amqptest.Delivery, want ...time.Duration) {
	t.Helper()
	for i, least := range want {
		// The broker counts in whole milliseconds.
		if waited := deliveries[i+1].At.Sub(deliveries[i].At); waited < least-5*time.Millisecond {
			t.Errorf("delivery %d came after %s, want at least %s", i+2, waited, least)
		}
	}
}
