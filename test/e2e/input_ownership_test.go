package e2e

import (
	"fmt"
	"strings"
	"testing"

	amqp "github.com/rabbitmq/amqp091-go"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/warren-mq/warren/api/v1alpha1"
	"github.com/warren-mq/warren/test/amqptest"
)

// billing is a subscription whose work queue bears its name.
func billing(adoption v1alpha1.AdoptionPolicy) string {
	return fmt.Sprintf(`
apiVersion: warren.dev/v1alpha1
kind: ReliableSubscription
metadata: {name: billing}
spec:
  brokerRef: {name: main}
  sources: [{topicRef: {name: orders}, routingKeys: ["order.*"]}]
  workQueue: {name: billing}
  retry: {immediate: {}}
  adoptionPolicy: %s
---`, adoption)
}

// asWarrenDeclares are the arguments of that work queue, without the owner's mark.
var asWarrenDeclares = amqp.Table{
	"x-queue-type":           "quorum",
	"x-dead-letter-exchange": "billing.dead",
	"x-dead-letter-strategy": "at-least-once",
	"x-overflow":             "reject-publish",
	"x-delivery-limit":       int64(20),
}

// A queue without Warren's mark is somebody's. It is left untouched and
// unbound, and nothing else is declared, until it goes or its adoption is asked for.
// Field case C5.
func TestAQueueOfSomebodyElseIsLeftAlone(t *testing.T) {
	t.Parallel()
	forEachBroker(t, func(t *testing.T, w *tenant) {
		w.declareQueue("billing", amqp.Table{"x-queue-type": "quorum"})
		amqptest.Publish(t, w.application(), "", "billing", amqptest.Message("theirs"))
		w.apply(topicOn("orders", "main"))
		w.awaitReady("topic/orders")
		before := w.onBroker()

		w.apply(billing(v1alpha1.AdoptionPolicyRefuse))
		w.await("rsub/billing", blocked(metav1.ConditionFalse, v1alpha1.ReasonNotOwned,
			fmt.Sprintf(`on the broker there is already queue "billing", which Warren did not declare: choose another name, or take it over with adoptionPolicy: Adopt, where Broker.spec.adoption lets namespace %q; nothing was changed`, w.namespace), stalled,
			expected{v1alpha1.ConditionInSync, metav1.ConditionUnknown, v1alpha1.ReasonNotOwned, "nothing was compared"})...)
		w.staysUntouched(before)
		if n := w.subscription("billing").Status.WorkQueue.Messages; n != nil {
			t.Errorf("the status tells %d messages of somebody else's queue, want none", *n)
		}

		w.onChannel(deleteQueue("billing"))
		w.awaitReady("rsub/billing")
	})
}

// With adoptionPolicy Adopt a queue that is as wanted is taken over as it is,
// with what is in it.
func TestAnEqualQueueIsAdopted(t *testing.T) {
	t.Parallel()
	forEachBroker(t, func(t *testing.T, w *tenant) {
		w.declareQueue("billing", asWarrenDeclares)
		amqptest.Publish(t, w.application(), "", "billing", amqptest.Message("theirs"))

		w.apply(topicOn("orders", "main") + billing(v1alpha1.AdoptionPolicyAdopt))
		w.awaitReady("rsub/billing")
		w.await("rsub/billing", expected{v1alpha1.ConditionInSync, metav1.ConditionTrue, v1alpha1.ReasonAsDeclared, "the broker has what the spec says"})
		w.assertThere(`binding of queue "billing" to exchange "orders" with key "order.*"`)
		amqptest.AwaitReady(t, w.application(), "billing", 1)
	})
}

// A queue that would cost messages as it is stays unbound although its
// adoption is asked for, and the status says what differs and what to do; when
// it goes, all is declared. Field case C3; drift_adoption_test.go has the others.
func TestAnUnsafeQueueIsNotAdopted(t *testing.T) {
	t.Parallel()
	forEachBroker(t, func(t *testing.T, w *tenant) {
		w.declareQueue("billing", amqp.Table{"x-queue-type": "classic"})
		w.apply(topicOn("orders", "main"))
		w.awaitReady("topic/orders")
		before := w.onBroker()

		w.apply(billing(v1alpha1.AdoptionPolicyAdopt))
		const differs = `x-queue-type of queue "billing" is classic, with 0 messages, wanted quorum`
		w.await("rsub/billing", blocked(metav1.ConditionFalse, v1alpha1.ReasonUnsafeToAdopt,
			"what is on the broker would cost messages as it is, and stays unbound: "+differs, stalled,
			expected{v1alpha1.ConditionInSync, metav1.ConditionFalse, v1alpha1.ReasonImmutableDrift, differs})...)
		entry := w.subscription("billing").Status.Drift[0]
		if want := `stop what publishes into queue "billing", let it drain, delete it when it is empty, and Warren declares it anew`; !strings.Contains(entry.Remedy, want) || entry.Impact != v1alpha1.ImpactUnsafe {
			t.Errorf("status.drift says %s: %s, want %s: %s", entry.Impact, entry.Remedy, v1alpha1.ImpactUnsafe, want)
		}
		w.staysUntouched(before)

		w.onChannel(deleteQueue("billing"))
		w.awaitReady("rsub/billing")
	})
}
