package e2e

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/warren-mq/warren/hack/localenv"
	"github.com/warren-mq/warren/test/amqptest"
)

// startOrderOperator starts one that runs beside kube-controller-manager and kube-scheduler, in a
// cluster with one Node. There is no kubelet: a pod "starts" when it has a node.
var startOrderOperator = sync.OnceValues(func() (*operator, error) {
	o, err := startOperator(localenv.ControlPlaneOptions{Controllers: true})
	if err != nil {
		return nil, err
	}
	return o, o.addNode()
})

// addNode makes a Node that has room for all pods of all tests.
func (o *operator) addNode() error {
	const node = `{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "node"}, "status": {
		"capacity":    {"cpu": "1000", "memory": "1000Gi", "pods": "10000"},
		"allocatable": {"cpu": "1000", "memory": "1000Gi", "pods": "10000"},
		"conditions": [{"type": "Ready", "status": "True", "reason": "KubeletReady", "message": "not really"}]}}`
	return o.api.Post().AbsPath("api/v1/nodes").Body([]byte(node)).Do(cleanupContext()).Error()
}

// newOrderTenant is a tenant whose pods are made by controllers and scheduled.
func newOrderTenant(t *testing.T, b *localenv.RabbitMQ) *tenant {
	t.Helper()
	o, err := startOrderOperator()
	if err != nil {
		t.Fatalf("the operator did not start: %v", err)
	}
	w := newTenantOf(t, o, b)
	w.awaitServiceAccount()
	return w
}

// awaitServiceAccount waits for what every pod needs, and a controller makes.
func (w *tenant) awaitServiceAccount() {
	w.t.Helper()
	amqptest.Eventually(w.t, within, func() error {
		return w.api.Get().AbsPath("api/v1/namespaces", w.namespace, "serviceaccounts/default").Do(w.t.Context()).Error()
	})
}

// waitsFor are the annotations of pods, in YAML's flow style.
type waitsFor string

func forTopics(names string) waitsFor {
	return waitsFor(fmt.Sprintf(`{warren.dev/await-topics: %q}`, names))
}

func forSubscriptions(names string) waitsFor {
	return waitsFor(fmt.Sprintf(`{warren.dev/await-subscriptions: %q}`, names))
}

const (
	forNothing waitsFor = `{}`
	ungated    waitsFor = ""
)

// deployment is one whose pods wait.
func deployment(name string, replicas int, waits waitsFor) string {
	return fmt.Sprintf(`
apiVersion: apps/v1
kind: Deployment
metadata: {name: %s}
spec:
  replicas: %d
  selector: {matchLabels: {app: %[1]s}}
  template: %[3]s
---`, name, replicas, podTemplate(name, waits))
}

// pod is a single one that waits.
func pod(name string, waits waitsFor) string {
	return fmt.Sprintf(`
{"apiVersion": "v1", "kind": "Pod", %s
---`, strings.TrimPrefix(podTemplate(name, waits), "{"))
}

func podTemplate(name string, waits waitsFor) string {
	if waits == ungated {
		return fmt.Sprintf(`{metadata: {name: %[1]s, labels: {app: %[1]s}}, spec: {containers: [{name: main, image: none}]}}`, name)
	}
	return fmt.Sprintf(`{metadata: {name: %[1]s, labels: {app: %[1]s, warren.dev/gated: "true"}, annotations: %s},
    spec: {schedulingGates: [{name: warren.dev/topology}], containers: [{name: main, image: none}]}}`, name, waits)
}

// pods are those of an application.
func (w *tenant) pods(app string) ([]corev1.Pod, error) {
	var list corev1.PodList
	if err := w.read("pod", &list); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(list.Items, func(p corev1.Pod) bool { return p.Labels["app"] != app }), nil
}

// awaitPods waits until an application has n pods, each of which is as it should be.
func (w *tenant) awaitPods(app string, n int, is func(corev1.Pod) error) []corev1.Pod {
	w.t.Helper()
	var pods []corev1.Pod
	amqptest.Eventually(w.t, within, func() (err error) {
		pods, err = w.pods(app)
		if err == nil && len(pods) != n {
			err = fmt.Errorf("%s has %d pods, want %d", app, len(pods), n)
		}
		for i := 0; err == nil && i < len(pods); i++ {
			err = is(pods[i])
		}
		return err
	})
	return pods
}

// isWaiting: the scheduler leaves the pod alone because of its gate.
func isWaiting(p corev1.Pod) error {
	i := slices.IndexFunc(p.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == corev1.PodScheduled })
	if p.Spec.NodeName != "" || len(p.Spec.SchedulingGates) != 1 || i < 0 || p.Status.Conditions[i].Reason != corev1.PodReasonSchedulingGated {
		return fmt.Errorf("pod %s is on node %q with gates %v and conditions %v, want it gated", p.Name, p.Spec.NodeName, p.Spec.SchedulingGates, p.Status.Conditions)
	}
	return nil
}

// hasStarted: it has a node; a kubelet would run it.
func hasStarted(p corev1.Pod) error {
	if p.Spec.NodeName == "" {
		return fmt.Errorf("pod %s has no node; its gates are %v", p.Name, p.Spec.SchedulingGates)
	}
	return nil
}

// stayWaiting fails when one of an application's pods starts within three sync periods.
func (w *tenant) stayWaiting(app string, n int) {
	w.t.Helper()
	w.awaitPods(app, n, isWaiting)
	w.stays(threeSyncs, func() error {
		pods, err := w.pods(app)
		for i := 0; err == nil && i < len(pods); i++ {
			err = isWaiting(pods[i])
		}
		return err
	})
}

// scale sets the replicas of a Deployment.
func (w *tenant) scale(name string, replicas int) {
	w.t.Helper()
	w.mustKubectl("scale", "deployment", name, "-n", w.namespace, fmt.Sprintf("--replicas=%d", replicas))
}
