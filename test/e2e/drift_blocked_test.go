package e2e

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/warren-mq/warren/api/v1alpha1"
	"github.com/warren-mq/warren/test/amqptest"
)

// rejectedWithoutAWay has messages rejected in a work queue while nothing
// leads them to its parking queue, and waits until the broker counts them.
// The subscription is left paused.
func (s *stage) rejectedWithoutAWay(t *testing.T, queue string, n int) {
	t.Helper()
	s.pause(queue, true)
	s.unbind(t, queue+".parking", queue+".park", "")
	s.publish("", queue, amqptest.Messages("rejected", n)...)
	consumer := s.consume(queue, amqptest.InTurn(amqptest.Reject))
	consumer.Await(t, n)
	consumer.Stop()
	s.awaitHeld(t, queue, n)
}

// Dead letters that have no way out pile up in a counter that nobody watches. The
// status tells queue and count, what is missing, and after the repair that
// the broker's next try may take 3 minutes. Field case A7.
func TestA7DeadLettersWithoutARoute(t *testing.T) {
	onStages(t, func(t *testing.T, s *stage) {
		s.establish(subscriptionManifest("billing", `workQueue: {name: billing}, retry: {immediate: {}}`), "billing")
		s.rejectedWithoutAWay(t, "billing", 2)
		before := s.onBroker()

		const stuck = `2 dead letters cannot leave queue "billing", and retries stand still behind them: `
		const broken = stuck + `their way is broken (binding of queue "billing.parking" to exchange "billing.park", ` +
			`a message over the delivery limit reaches no queue, in place of "billing.parking", ` +
			`a message that expires in the work queue reaches no queue, in place of "billing.parking", ` +
			`a message that is rejected in the parking queue reaches no queue, in place of "billing.parking", ` +
			`a message that the consumer parks reaches no queue, in place of "billing.parking", ` +
			`a rejected message reaches no queue, in place of "billing.parking")`
		s.awaitExactly("rsub/billing", expected{v1alpha1.ConditionDeadLetteringBlocked, metav1.ConditionTrue, v1alpha1.ReasonNoRoute, broken})
		s.awaitEvent("rsub/billing", v1alpha1.ConditionDeadLetteringBlocked, broken)
		s.staysUntouched(before)

		s.pause("billing", false)
		const repaired = stuck + "every route is there, RabbitMQ tries again within 3 minutes"
		s.awaitExactly("rsub/billing",
			expected{v1alpha1.ConditionEstablished, metav1.ConditionTrue, v1alpha1.ReasonAllRoutesProved, "7 objects are there and 6 routes were proved over the bindings read back"},
			expected{v1alpha1.ConditionDeadLetteringBlocked, metav1.ConditionTrue, v1alpha1.ReasonDraining, repaired},
			expected{v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ConditionDeadLetteringBlocked, repaired})
	})
}
