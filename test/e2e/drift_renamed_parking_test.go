package e2e

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/warren-mq/warren/api/v1alpha1"
	"github.com/warren-mq/warren/test/amqptest"
)

// A parking queue that the spec names no more keeps what it holds: it still
// counts, the backlog tells where it is, and nothing comes to it any more.
func TestARenamedParkingQueueStillCounts(t *testing.T) {
	t.Parallel()
	forEachBroker(t, func(t *testing.T, w *tenant) {
		parkingAt := func(name string) string {
			return claim("billing", "main", "billing", ", parkingQueue: {name: "+name+"}")
		}
		w.apply(parkingAt("before"))
		w.awaitSettled("rsub/billing")
		app := w.application()
		amqptest.Publish(t, app, "billing.park", "order.placed", amqptest.Messages("earlier", 2)...)
		w.awaitCounts("billing", counts{parked: known(2)})

		w.apply(parkingAt("after"))
		w.awaitReady("rsub/billing")
		w.assertNotThere(`binding of queue "before" to exchange "billing.park"`)
		amqptest.Publish(t, app, "billing.park", "order.placed", amqptest.Message("later"))
		w.awaitExactly("rsub/billing", expected{v1alpha1.ConditionParkingBacklog, metav1.ConditionTrue, v1alpha1.ReasonBacklogReached,
			`queue "after" holds 3 parked messages (threshold 1): find out why, mend it, then bring them back with a Redrive whose subscriptionRef names "billing"; of these, as an earlier spec named it, 2 in queue "before" (the Redrive's spec.from names such a queue)`})
		w.awaitCounts("billing", counts{parked: known(3)})
		amqptest.AwaitReady(t, app, "before", 2)
		amqptest.AwaitReady(t, app, "after", 1)
	})
}
