package e2e

import (
	"strings"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/warren-mq/warren/internal/topology"
)

// deletion is something that a person does to the broker by hand.
type deletion struct {
	object string
	byHand func(*amqp.Channel) error
	// told is the resource that tells of it.
	told string
	// alsoGone went with it.
	alsoGone string
	// lost: messages may have gone with it.
	lost bool
}

// What is deleted by hand comes back within a sync period and 2 s, and an
// Event names it. Only where a queue was gone does it speak of lost contents.
// Field case E3.
func TestWhatIsDeletedByHandComesBack(t *testing.T) {
	t.Parallel()
	const source = `binding of queue "billing" to exchange "orders" with key "order.*"`
	forEachBroker(t, func(t *testing.T, w *tenant) {
		w.apply(topicOn("orders", "main") + subscriptionWith("billing", `{topicRef: {name: orders}, routingKeys: ["order.*"]}`))
		w.awaitReady("topic/orders")
		w.awaitReady("rsub/billing")
		mark := amqp.Table{topology.OwnerArgument: w.onBroker()[`queue "billing"`].Owner()}

		for _, d := range []deletion{
			{`queue "billing"`, deleteQueue("billing"), "rsub/billing", source, true},
			{`queue "billing.wait.2.30s"`, deleteQueue("billing.wait.2.30s"), "rsub/billing", "", true},
			{`queue "billing.parking"`, deleteQueue("billing.parking"), "rsub/billing", `binding of queue "billing.parking" to exchange "billing.park"`, true},
			{source, func(ch *amqp.Channel) error { return ch.QueueUnbind("billing", "order.*", "orders", mark) }, "rsub/billing", "", false},
			{`exchange "billing.dead"`, deleteExchange("billing.dead"), "rsub/billing", `binding of exchange "billing.retry" to exchange "billing.dead"`, false},
			{`exchange "orders"`, deleteExchange("orders"), "topic/orders", "", false},
		} {
			w.onChannel(d.byHand)
			gone := time.Now()
			w.awaitThere(d.object)
			w.took(d.object, gone, 3*time.Second)

			note := w.awaitEvent(d.told, "Recreated", "declared again, since it had gone from the broker: "+d.object, d.alsoGone)
			const lost = "; what was in a queue that had gone is lost"
			if says := strings.Contains(note, lost); says != d.lost {
				t.Errorf("of %s the Event says %q; that contents are lost: %t, want %t", d.object, note, says, d.lost)
			}
			w.awaitThere(source) // it goes with the exchange
			w.awaitReady("topic/orders")
			w.awaitReady("rsub/billing")
		}
	})
}

func deleteQueue(name string) func(*amqp.Channel) error {
	return func(ch *amqp.Channel) error {
		_, err := ch.QueueDelete(name, false, false, false)
		return err
	}
}

func deleteExchange(name string) func(*amqp.Channel) error {
	return func(ch *amqp.Channel) error { return ch.ExchangeDelete(name, false, false) }
}
