package e2e

import (
	"testing"

	amqp "github.com/rabbitmq/amqp091-go"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/warren-mq/warren/api/v1alpha1"
)

// The annotation keeps Warren from writing to the broker and not from reading:
// what is gone is told, and comes back when the annotation goes.
func TestPausedReadsAndWritesNothing(t *testing.T) {
	onStages(t, func(t *testing.T, s *stage) {
		s.establish(subscriptionManifest("billing", `workQueue: {name: billing}, retry: {immediate: {}}`), "billing")
		s.awaitSettled("rsub/billing")
		s.pause("billing", true)
		s.mustDo(t, deleteQueue("billing.parking"))
		s.putPolicy("team", "^billing$", 7, map[string]any{"message-ttl": 604800000})
		before := s.onBroker()

		const message = `annotation warren.dev/paused keeps Warren from declaring what is not on the broker: queue "billing.parking", binding of queue "billing.parking" to exchange "billing.park"`
		s.awaitExactly("rsub/billing",
			expected{v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonPaused, message},
			expected{v1alpha1.ConditionEstablished, metav1.ConditionFalse, v1alpha1.ReasonPaused, message},
			expected{v1alpha1.ConditionInSync, metav1.ConditionFalse, override, `overridden by policy "team" (priority 7); tolerable: x-message-ttl of queue "billing" is 604800000, wanted none; status.drift says what to do`},
			expected{v1alpha1.ConditionStalled, metav1.ConditionFalse, v1alpha1.ReasonHelpsItself, helpsItselfMessage})
		s.staysUntouched(before)
		if notes := s.eventNotes("rsub/billing", "Recreated"); len(notes) > 0 {
			t.Errorf("paused, and yet there are Events of what was declared again: %q", notes)
		}

		s.deletePolicy("team")
		s.pause("billing", false)
		s.awaitReady("rsub/billing")
		s.awaitExactly("rsub/billing", asDeclared)
		s.awaitEvent("rsub/billing", "Recreated", `declared again, since it had gone from the broker: queue "billing.parking", binding of queue "billing.parking" to exchange "billing.park"; what was in a queue that had gone is lost`)
	})
}

// Exchange, parking queue and work queue exist, each as wanted, and nothing
// connects them: that is not established. It is when every route was proved.
// Field case B2.
func TestB2ObjectsThatExistProveNothing(t *testing.T) {
	t.Parallel()
	forEachBroker(t, func(t *testing.T, w *tenant) {
		w.onChannel(func(ch *amqp.Channel) error {
			for _, exchange := range []struct {
				name, kind string
				arguments  amqp.Table
			}{
				{"billing.park", amqp.ExchangeFanout, nil},
				{"billing.dead", amqp.ExchangeHeaders, amqp.Table{"alternate-exchange": "billing.park"}},
				{"billing.redrive", amqp.ExchangeFanout, nil},
			} {
				if err := ch.ExchangeDeclare(exchange.name, exchange.kind, true, false, false, false, exchange.arguments); err != nil {
					return err
				}
			}
			return nil
		})
		w.declareQueue("billing.parking", wantedArguments("billing", amqp.Table{"x-dead-letter-exchange": "billing.park", "x-delivery-limit": -1}))
		w.declareQueue("billing", asWarrenDeclares)
		before := w.onBroker()

		paused := `
---
apiVersion: warren.dev/v1alpha1
kind: ReliableSubscription
metadata: {name: billing, annotations: {warren.dev/paused: "true"}}
spec: {brokerRef: {name: main}, workQueue: {name: billing}, retry: {immediate: {}}, adoptionPolicy: Adopt}
`
		w.apply(paused)
		const message = `annotation warren.dev/paused keeps Warren from declaring what is not on the broker: binding of queue "billing.parking" to exchange "billing.park", binding of queue "billing" to exchange "billing.redrive"`
		w.awaitExactly("rsub/billing",
			expected{v1alpha1.ConditionEstablished, metav1.ConditionFalse, v1alpha1.ReasonPaused, message},
			expected{v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonPaused, message})
		w.staysUntouched(before)

		w.mustKubectl("annotate", "-n", w.namespace, "rsub", "billing", v1alpha1.PausedAnnotation+"-")
		w.awaitExactly("rsub/billing",
			expected{v1alpha1.ConditionEstablished, metav1.ConditionTrue, v1alpha1.ReasonAllRoutesProved, "7 objects are there and 6 routes were proved over the bindings read back"},
			asDeclared)
	})
}
