package e2e

import (
	"testing"

	amqp "github.com/rabbitmq/amqp091-go"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/warren-mq/warren/api/v1alpha1"
)

func bindByHand(queue, key, exchange string) func(*amqp.Channel) error {
	return func(ch *amqp.Channel) error { return ch.QueueBind(queue, key, exchange, false, nil) }
}

// A binding that somebody made to the work queue is told and stays: it may be
// wanted. It is no fault of the topology.
func TestABindingOfSomebodyElseIsToldAndStays(t *testing.T) {
	t.Parallel()
	forEachBroker(t, func(t *testing.T, w *tenant) {
		w.declareExchange("theirs", amqp.ExchangeTopic)
		w.apply(claim("billing", "main", "billing", ""))
		w.awaitSettled("rsub/billing")
		w.onChannel(bindByHand("billing", "audit.#", "theirs"))
		before := w.onBroker()

		const binding = `binding of queue "billing" to exchange "theirs" with key "audit.#"`
		const message = `tolerable: unexpected ` + binding + `; status.drift says what to do`
		w.awaitExactly("rsub/billing",
			expected{v1alpha1.ConditionInSync, metav1.ConditionFalse, v1alpha1.ReasonUnexpectedBinding, message},
			expected{v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonReliable, "established, in force, nothing unsafe"})
		w.awaitDrift("billing", v1alpha1.DriftEntry{
			Object: `queue "billing"`, Field: "binding", Desired: "none", Observed: binding, Impact: tolerable,
			Remedy: `the queue also gets what comes over this binding, which Warren did not make: add exchange "theirs" to spec.sources if that is wanted, or remove the binding`,
		})
		w.awaitEvent("rsub/billing", v1alpha1.ReasonUnexpectedBinding, message)
		w.staysUntouched(before)

		w.onChannel(func(ch *amqp.Channel) error { return ch.QueueUnbind("billing", "audit.#", "theirs", nil) })
		w.awaitExactly("rsub/billing", asDeclared)
		w.awaitDrift("billing")
	})
}

// A source that the spec drops is unbound: exactly that binding, and none of somebody else's from
// the same exchange.
func TestADroppedSourceIsUnbound(t *testing.T) {
	t.Parallel()
	forEachBroker(t, func(t *testing.T, w *tenant) {
		w.declareExchange("theirs", amqp.ExchangeTopic)
		w.declareExchange("refunds", amqp.ExchangeTopic)
		sources := func(list string) string {
			return claim("billing", "main", "billing", ", sources: ["+list+"]")
		}
		w.apply(sources(`{exchange: theirs, routingKeys: ["order.*", "order.late"]}, {exchange: refunds, routingKeys: ["#"]}`))
		w.awaitSettled("rsub/billing")
		w.onChannel(bindByHand("billing", "audit.#", "theirs"))
		w.await("rsub/billing", expected{v1alpha1.ConditionInSync, metav1.ConditionFalse, v1alpha1.ReasonUnexpectedBinding, ""})
		left := w.onBroker()

		w.apply(sources(`{exchange: theirs, routingKeys: ["order.*"]}`))
		delete(left, `binding of queue "billing" to exchange "theirs" with key "order.late"`)
		delete(left, `binding of queue "billing" to exchange "refunds" with key "#"`)
		w.awaitBroker(left)
		w.awaitReady("rsub/billing")
		w.staysUntouched(left)
	})
}
