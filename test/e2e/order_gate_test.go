package e2e

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/warren-mq/warren/api/v1alpha1"
	"github.com/warren-mq/warren/hack/localenv"
	"github.com/warren-mq/warren/test/amqptest"
)

// Pods that wait for one topic go within a few seconds of its becoming Ready,
// with one patch each and no other request.
func TestManyPodsAreReleasedWithOnePatchEach(t *testing.T) {
	t.Parallel()
	const many = 200
	w := newOrderTenant(t, localenv.Broker(t, localenv.Series43))
	w.apply(deployment("web-shop", many, forTopics("orders")))
	w.awaitPods("web-shop", many, isWaiting)
	amqptest.Eventually(t, within, func() error {
		if n := w.metric(t, "warren_gated_pods", `namespace="`+w.namespace+`"`); n != many {
			return fmt.Errorf("metric warren_gated_pods is %d, want %d", n, many)
		}
		return nil
	})
	if requests := w.warrensPodRequests(); len(requests) > 0 {
		t.Errorf("Warren touched pods while they wait: %v", requests)
	}

	w.apply(orderedTopic + hearsOrders("billing") + hearsOrders("shipping"))
	w.awaitReady("topic/orders")
	ready := time.Now()
	pods := w.awaitPods("web-shop", many, func(p corev1.Pod) error {
		if len(p.Spec.SchedulingGates) > 0 {
			return fmt.Errorf("pod %s has gates %v", p.Name, p.Spec.SchedulingGates)
		}
		return nil
	})
	w.took(fmt.Sprintf("the release of %d pods", many), ready, 5*time.Second)
	w.awaitPods("web-shop", many, hasStarted)

	want := map[string][]string{}
	for _, p := range pods {
		want[p.Name] = []string{"patch"}
	}
	if diff := cmp.Diff(want, w.warrensPodRequests()); diff != "" {
		t.Errorf("what Warren did to the pods (-want +got):\n%s", diff)
	}
	if n := w.metric(t, "warren_gated_pods", `namespace="`+w.namespace+`"`); n != 0 {
		t.Errorf("metric warren_gated_pods is %d, want none", n)
	}
}

// Who comes later to an open topic closes nothing that runs; new pods wait for it.
func TestALateSubscriptionHoldsNewPodsOnly(t *testing.T) {
	t.Parallel()
	w := newOrderTenant(t, localenv.Broker(t, localenv.Series43))
	w.apply(topicOn("orders", "main") + hearsOrders("billing") + deployment("web-shop", 2, forTopics("orders")))
	running := versions(w.awaitPods("web-shop", 2, hasStarted))

	w.apply(subscriptionWith("late", `{topicRef: {name: orders}, headers: {a: b}}`))
	w.scale("web-shop", 3)
	w.await("topic/orders", expected{v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonSubscriptionsNotReady, w.namespace + "/late (InvalidSource)"})
	newcomer := w.awaitNewPod("web-shop", running, isWaiting)
	w.awaitEvent("pod/"+newcomer, "WaitingForTopology",
		"waits for Topic orders (SubscriptionsNotEstablished: 1 of 2 subscriptions are not established: "+w.namespace+"/late (InvalidSource))")
	w.stays(threeSyncs, func() error { return w.unchanged(running) })

	w.mustKubectl("patch", "rsub/late", "-n", w.namespace, "--type=merge", `-p={"spec":{"sources":[{"topicRef":{"name":"orders"},"routingKeys":["#"]}]}}`)
	w.awaitNewPod("web-shop", running, hasStarted)
	w.awaitEvent("pod/"+newcomer, "TopologyReady", "scheduled from now on, since what it awaits is ready: Topic orders")
	if err := w.unchanged(running); err != nil {
		t.Error(err)
	}
}

// versions are the resource versions of pods, by name.
func versions(pods []corev1.Pod) map[string]string {
	all := map[string]string{}
	for _, p := range pods {
		all[p.Name] = p.ResourceVersion
	}
	return all
}

// unchanged checks that pods are there as they were.
func (w *tenant) unchanged(were map[string]string) error {
	var errs []error
	for name, version := range were {
		var p corev1.Pod
		if err := w.read("pod/"+name, &p); err != nil || p.ResourceVersion != version {
			errs = append(errs, fmt.Errorf("running pod %s went from version %s to %s, %w", name, version, p.ResourceVersion, err))
		}
	}
	return errors.Join(errs...)
}

// awaitNewPod waits until an application has one pod besides others, and gives its name.
func (w *tenant) awaitNewPod(app string, others map[string]string, is func(corev1.Pod) error) string {
	w.t.Helper()
	isOld := func(p corev1.Pod) bool { _, old := others[p.Name]; return old }
	pods := w.awaitPods(app, len(others)+1, func(p corev1.Pod) error {
		if isOld(p) {
			return nil
		}
		return is(p)
	})
	return slices.DeleteFunc(pods, isOld)[0].Name
}

// While the broker is away new pods wait and are told why; when it is back
// they start, by the same operator process. Pods that run notice nothing.
func TestPodsWaitWhileTheBrokerIsAway(t *testing.T) {
	t.Parallel()
	b := ownBroker(t, localenv.Series43)
	w := newOrderTenant(t, b)
	w.apply(topicOn("orders", "main") + billing(v1alpha1.AdoptionPolicyRefuse) + deployment("web-shop", 1, forTopics("orders")))
	running := versions(w.awaitPods("web-shop", 1, hasStarted))

	if err := b.Stop(); err != nil {
		t.Fatal(err)
	}
	w.awaitUnreachable()
	w.apply(deployment("mailer", 1, forSubscriptions("billing")))
	w.scale("web-shop", 2)
	w.stayWaiting("mailer", 1)
	newcomer := w.awaitNewPod("web-shop", running, isWaiting)
	w.awaitEvent("pod/"+newcomer, "WaitingForTopology", "waits for Topic orders (BrokerUnreachable: Broker "+w.namespace+"/main: ", "cannot reach AMQP at")

	if err := b.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.awaitNewPod("web-shop", running, hasStarted)
	w.awaitPods("mailer", 1, hasStarted)
	if err := w.unchanged(running); err != nil {
		t.Error(err)
	}
	if !w.process.Running() {
		t.Error("the operator has ended")
	}
}

// What nobody is bound to is kept, and told; who binds it later gets the next
// one. While keys change, the new way is there before the old one goes.
func TestAKeyIsBoundLater(t *testing.T) {
	t.Parallel()
	w := newTenant(t, localenv.Broker(t, localenv.Series43))
	w.apply(`
apiVersion: warren.dev/v1alpha1
kind: Topic
metadata: {name: orders}
spec: {brokerRef: {name: main}, unroutable: {}}
---` + subscriptionWith("billing", `{topicRef: {name: orders}, routingKeys: [order.placed]}`))
	w.awaitReady("rsub/billing")
	app := w.application()
	amqptest.Publish(t, app, "orders", "order.paid", amqptest.Message("early"))
	w.await("topic/orders", expected{v1alpha1.ConditionUnroutableBacklog, metav1.ConditionTrue, v1alpha1.ReasonBacklogReached,
		`queue "orders.unroutable" holds 1 message with no other queue to go to (threshold 1)`})

	w.mustKubectl("patch", "rsub/billing", "-n", w.namespace, "--type=merge", `-p={"spec":{"sources":[{"topicRef":{"name":"orders"},"routingKeys":["order.paid"]}]}}`)
	w.awaitReady("rsub/billing")
	amqptest.Publish(t, app, "orders", "order.paid", amqptest.Message("next"))
	if got := amqptest.Take(t, app, "billing", 1)[0].MessageId; got != "next" {
		t.Errorf("billing got message %q, want next", got)
	}
	amqptest.AwaitReady(t, app, "orders.unroutable", 1)
	amqptest.Publish(t, app, "orders", "order.placed", amqptest.Message("unbound since"))
	amqptest.AwaitReady(t, app, "orders.unroutable", 2)
}
