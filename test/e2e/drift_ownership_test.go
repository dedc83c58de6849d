package e2e

import (
	"fmt"
	"testing"

	amqp "github.com/rabbitmq/amqp091-go"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/warren-mq/warren/api/v1alpha1"
	"github.com/warren-mq/warren/hack/localenv"
	"github.com/warren-mq/warren/test/amqptest"
)

// claim is a subscription that is published to directly, with this work queue.
func claim(name, broker, queue, more string) string {
	return subscriptionManifestOn(broker, name, fmt.Sprintf(`workQueue: {name: %s}, retry: {immediate: {}}%s`, queue, more))
}

// Two resources claim one queue, be it through two Broker resources that
// point at one vhost: the older one has it, the younger one is told who, and
// deleting the younger one changes nothing. Field case C6.
func TestC6TwoResourcesClaimOneQueue(t *testing.T) {
	t.Parallel()
	forEachBroker(t, func(t *testing.T, w *tenant) {
		w.apply(w.brokerManifest("second", "1s"))
		w.awaitReady("broker/second")
		w.apply(claim("billing", "main", "billing", ""))
		w.awaitSettled("rsub/billing")
		before, version := w.onBroker(), w.resourceVersions()["rsub/billing"]

		w.apply(claim("rival", "main", "billing", ", adoptionPolicy: Adopt") + claim("rival-by-another-broker", "second", "billing", ", adoptionPolicy: Adopt"))
		message := w.namespace + `/billing claims queue "billing" too and is older: choose another name, or delete that one; nothing was changed`
		for _, rival := range []string{"rsub/rival", "rsub/rival-by-another-broker"} {
			w.awaitExactly(rival,
				expected{v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonConflict, message},
				expected{v1alpha1.ConditionEstablished, metav1.ConditionFalse, v1alpha1.ReasonConflict, message},
				expected{v1alpha1.ConditionStalled, metav1.ConditionTrue, v1alpha1.ReasonConflict, message},
				expected{v1alpha1.ConditionInSync, metav1.ConditionUnknown, v1alpha1.ReasonConflict, "nothing was compared"})
			w.awaitEvent(rival, v1alpha1.ReasonConflict, message)
		}
		w.staysUntouched(before)
		w.mustKubectl("delete", "rsub", "-n", w.namespace, "rival", "rival-by-another-broker")
		w.staysUntouched(before)
		if now := w.resourceVersions()["rsub/billing"]; now != version {
			t.Errorf("the older one's status was written meanwhile: %v", w.subscription("billing").Status)
		}
	})
}

// A queue that came after the last reading of the broker is somebody's all the
// same, be it exactly as Warren would declare it: a spec is compared with a
// reading that is younger than it. Field case C5.
func TestC5AQueueThatTheLastReadingDidNotHave(t *testing.T) {
	t.Parallel()
	forEachBroker(t, func(t *testing.T, w *tenant) {
		w.apply(w.brokerManifest("slow", "10m"))
		w.awaitReady("broker/slow")
		w.declareQueue("billing", asWarrenDeclares)
		before := w.onBroker()
		w.apply(claim("billing", "slow", "billing", ""))
		w.awaitExactly("rsub/billing", expected{v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonNotOwned, notOwned(w, `queue "billing"`)})
		w.staysUntouched(before)
	})
}

// notOwned is what is said of something that bears no mark.
func notOwned(w *tenant, object string) string {
	return fmt.Sprintf(`on the broker there is already %s, which Warren did not declare: choose another name, or take it over with adoptionPolicy: Adopt, where Broker.spec.adoption lets namespace %q; nothing was changed`, object, w.namespace)
}

// A claim that was lost itself stands in nobody's way.
func TestALostClaimBlocksNoLiveOne(t *testing.T) {
	t.Parallel()
	forEachBroker(t, func(t *testing.T, w *tenant) {
		w.declareQueue("theirs", amqp.Table{"x-queue-type": "quorum"})
		w.apply(claim("lost", "main", "theirs", ", parkingQueue: {name: wanted}"))
		w.awaitExactly("rsub/lost", expected{v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonNotOwned,
			notOwned(w, `queue "theirs"`)})
		w.apply(claim("live", "main", "wanted", ""))
		w.awaitReady("rsub/live")
	})
}

// A renamed resource finds what its old name declared and left. It is told
// so, and takes it over with what is in it when its adoption is asked for.
func TestARenamedResourceTakesOver(t *testing.T) {
	t.Parallel()
	forEachBroker(t, func(t *testing.T, w *tenant) {
		w.apply(claim("billing", "main", "billing", ""))
		w.awaitSettled("rsub/billing")
		amqptest.Publish(t, w.application(), "", "billing", amqptest.Message("kept"))
		w.mustKubectl("delete", "rsub", "-n", w.namespace, "billing")
		before := w.onBroker()

		w.apply(claim("invoicing", "main", "billing", ""))
		message := fmt.Sprintf(`on the broker there is still exchange "billing.park", queue "billing.parking", exchange "billing.dead", exchange "billing.redrive", queue "billing", which %[1]s/billing declared and left: choose another name, or take it over with adoptionPolicy: Adopt, where Broker.spec.adoption lets namespace %[1]q; nothing was changed`, w.namespace)
		w.awaitExactly("rsub/invoicing",
			expected{v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonNotOwned, message},
			expected{v1alpha1.ConditionStalled, metav1.ConditionTrue, v1alpha1.ReasonNotOwned, message})
		w.awaitEvent("rsub/invoicing", v1alpha1.ReasonNotOwned, message)
		w.staysUntouched(before)

		w.apply(claim("invoicing", "main", "billing", ", adoptionPolicy: Adopt"))
		w.awaitReady("rsub/invoicing")
		w.awaitExactly("rsub/invoicing", asDeclared)
		w.awaitCounts("invoicing", counts{messages: known(1)})
		w.staysUntouched(before)
	})
}

// A restored cluster has another id, so that what it left belongs to a
// stranger, until the Broker names the old id.
func TestARestoredClusterTakesOver(t *testing.T) {
	t.Parallel()
	localenv.ForEachBroker(t, func(t *testing.T, b *localenv.RabbitMQ) {
		t.Parallel()
		w := newTenantAlone(t, b)
		lost := w.startHere("--cluster-id=lost")
		manifests := topicOn("orders", "main") + claim("billing", "main", "billing", `, sources: [{topicRef: {name: orders}, routingKeys: ["#"]}]`)
		w.apply(manifests)
		w.awaitSettled("topic/orders", "rsub/billing")
		before := w.onBroker()
		if err := lost.process.Stop(); err != nil {
			t.Fatal(err)
		}
		// What a backup of the API server brings back is the manifests without a status.
		w.mustKubectl("delete", "-n", w.namespace, "topic/orders", "rsub/billing")
		w.startHere("--cluster-id=restored")
		w.apply(manifests)

		const stranger = `a resource of the cluster with id "lost" (which Broker.spec.acceptedOwners can name, to take over what it left)`
		const advice = `: choose another name, or delete the other resource; nothing was changed`
		w.awaitExactly("topic/orders", expected{v1alpha1.ConditionDeclared, metav1.ConditionFalse, v1alpha1.ReasonConflict,
			`exchange "orders" belongs to ` + stranger + advice})
		conflict := `exchange "billing.park", queue "billing.parking", exchange "billing.dead", exchange "billing.redrive", queue "billing" belongs to ` + stranger + advice
		w.awaitExactly("rsub/billing",
			expected{v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonConflict, conflict},
			expected{v1alpha1.ConditionStalled, metav1.ConditionTrue, v1alpha1.ReasonConflict, conflict},
			expected{v1alpha1.ConditionInSync, metav1.ConditionUnknown, v1alpha1.ReasonConflict, "nothing was compared"})
		w.staysUntouched(before)

		w.mustKubectl("patch", "broker", "main", "-n", w.namespace, "--type=merge", "-p", `{"spec": {"acceptedOwners": ["lost"]}}`)
		w.awaitSettled("topic/orders", "rsub/billing")
		w.awaitExactly("rsub/billing", asDeclared)
		w.staysUntouched(before)
	})
}
