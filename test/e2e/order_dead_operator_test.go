package e2e

import (
	"fmt"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/warren-mq/warren/api/v1alpha1"
	"github.com/warren-mq/warren/hack/localenv"
	"github.com/warren-mq/warren/test/amqptest"
)

// gateInOneNamespace is what the gate needs besides rolesInOneNamespace, and
// the service account of pods, which no controller makes here.
const gateInOneNamespace = `
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: warren-gate}
rules:
  - {apiGroups: [""], resources: [pods], verbs: [list, watch, patch]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: warren-gate}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: warren-gate}
subjects: [{kind: ServiceAccount, name: warren}]
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: default}
---
`

// What an operator that has died has left in a status is believed by nobody:
// neither while it is dead, nor by its successor before it has looked again.
func TestAStatusIsNotBelievedForLong(t *testing.T) {
	t.Parallel()
	w := newTenantAlone(t, localenv.Broker(t, localenv.Series43))
	w.apply(gateInOneNamespace)
	first := w.startHere()
	w.apply(topicOn("orders", "main") + billing(v1alpha1.AdoptionPolicyRefuse) + pod("before", forTopics("orders")))
	w.awaitPods("before", 1, hasNoGate)
	w.startWaiting("--topic=orders", "--timeout=1m").exits(0)
	if err := first.process.Kill(); err != nil {
		t.Fatal(err)
	}

	// Behind its back, the queue goes, and somebody else's comes in its place.
	w.onChannel(func(ch *amqp.Channel) error { _, err := ch.QueueDelete("billing", false, false, false); return err })
	w.declareQueue("billing", amqp.Table{"x-queue-type": "classic"})
	w.awaitStale()
	w.mustKubectl("wait", "--for=condition=Ready", "topic/orders", "-n", w.namespace, "--timeout=10s") // which knows no better
	stale := fmt.Sprintf("Topic %s/orders: its status is ready and not to be believed: the broker was last read well ", w.namespace)
	w.startWaiting("--topic=orders", "--timeout=2s").exits(1, stale, "is the operator running, and the broker reachable?")

	r := w.startWaiting("--topic=orders", "--timeout=10m")
	r.says(stale)
	w.apply(pod("after", forTopics("orders")))
	w.startHere()
	w.await("rsub/billing", expected{Type: v1alpha1.ConditionEstablished, Status: metav1.ConditionFalse})
	w.await("topic/orders", expected{v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonSubscriptionsNotReady, "billing"})
	w.awaitEvent("pod/after", "WaitingForTopology", "waits for Topic orders (SubscriptionsNotEstablished")
	w.stays(threeSyncs, func() error {
		if pods, err := w.pods("after"); err != nil || len(pods) != 1 || hasNoGate(pods[0]) == nil {
			return fmt.Errorf("the pod's gate was opened on an old status: %v, %w", pods, err)
		}
		return r.runs()
	})

	w.onChannel(func(ch *amqp.Channel) error { _, err := ch.QueueDelete("billing", false, false, false); return err })
	r.exits(0)
	w.awaitPods("after", 1, hasNoGate)
}

func hasNoGate(p corev1.Pod) error {
	if len(p.Spec.SchedulingGates) > 0 {
		return fmt.Errorf("pod %s has gates %v", p.Name, p.Spec.SchedulingGates)
	}
	return nil
}

// awaitStale waits until the Broker's Lease is as old as nobody believes.
func (w *tenant) awaitStale() {
	w.t.Helper()
	amqptest.Eventually(w.t, within, func() error {
		l := w.lease()
		if age := time.Since(l.Spec.RenewTime.Time); age < time.Duration(*l.Spec.LeaseDurationSeconds)*time.Second {
			return fmt.Errorf("the Lease is %s old", age)
		}
		return nil
	})
}

func (w *tenant) lease() coordinationv1.Lease {
	w.t.Helper()
	var l coordinationv1.Lease
	if err := w.read("lease/warren-broker-main", &l); err != nil {
		w.t.Fatal(err)
	}
	return l
}

// However long ago the last change was: what each reading shows again is believed.
func TestAPodGoesLongAfterTheLastChange(t *testing.T) {
	t.Parallel()
	w := newOrderTenant(t, localenv.Broker(t, localenv.Series43))
	w.apply(topicOn("orders", "main") + hearsOrders("billing"))
	w.awaitSettled("topic/orders", "rsub/billing")
	amqptest.Eventually(t, within, func() error { return w.read("lease/warren-broker-main", &coordinationv1.Lease{}) })
	first := w.lease()
	amqptest.Eventually(t, within, func() error {
		l := w.lease()
		since := l.Spec.RenewTime.Sub(first.Spec.RenewTime.Time)
		if limit := time.Duration(*l.Spec.LeaseDurationSeconds) * time.Second; since < limit+2*time.Second {
			return fmt.Errorf("the broker was read for %s, want longer than %s", since, limit)
		}
		return nil
	})
	w.apply(pod("late", forTopics("orders")))
	w.awaitPods("late", 1, hasStarted)
	if notes := w.eventNotes("pod/late", "WaitingForTopology"); len(notes) > 0 {
		t.Errorf("the pod had to wait: %q", notes)
	}
}
