package e2e

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/warren-mq/warren/hack/localenv"
	"github.com/warren-mq/warren/test/amqptest"
)

const (
	onlyTheGate   = "Warren may remove the scheduling gate warren.dev/topology from a pod, and may change nothing else of it"
	noOtherGate   = "Warren may remove the scheduling gate warren.dev/topology from a pod, and neither add a gate nor remove another one"
	needsTheLabel = `a pod with the scheduling gate warren.dev/topology needs the label warren.dev/gated: "true", since Warren sees no other pod and this one would wait for ever; in a Deployment the label belongs to spec.template.metadata.labels`
)

// twoGates has a gate of somebody else's beside Warren's.
const twoGates = `
apiVersion: v1
kind: Pod
metadata:
  name: two-gates
  labels: {warren.dev/gated: "true"}
  annotations: {warren.dev/await-topics: nowhere}
spec:
  schedulingGates: [{name: warren.dev/topology}, {name: example.com/other}]
  containers: [{name: main, image: none}]
`

// The right to patch pods is a great one. The policy leaves Warren no more of
// it than to remove its own gate.
func TestWarrenMayOnlyRemoveItsGate(t *testing.T) {
	t.Parallel()
	w := newOrderTenant(t, localenv.Broker(t, localenv.Series43))
	w.apply(twoGates)
	patch := func(content string) error { // kubectl would get the pod first, which Warren may not
		return w.api.Patch(types.StrategicMergePatchType).AbsPath(w.path("pod"), "two-gates").Body([]byte(content)).
			SetHeader("Impersonate-User", "system:serviceaccount:"+operatorNamespace+":"+operatorAccount).Do(t.Context()).Error()
	}
	const gateOnly = `{"spec":{"schedulingGates":[{"name":"warren.dev/topology","$patch":"delete"}]}}`
	for _, c := range []struct{ reason, patch, message string }{
		{"another gate", `{"spec":{"schedulingGates":[{"name":"example.com/other","$patch":"delete"}]}}`, noOtherGate},
		{"all gates", `{"spec":{"schedulingGates":[{"$patch":"replace"}]}}`, noOtherGate},
		{"its gate and a label", `{"metadata":{"labels":{"a":"b"}},"spec":{"schedulingGates":[{"name":"warren.dev/topology","$patch":"delete"}]}}`, onlyTheGate},
		{"its gate and an annotation less", `{"metadata":{"annotations":{"warren.dev/await-topics":null}},"spec":{"schedulingGates":[{"name":"warren.dev/topology","$patch":"delete"}]}}`, onlyTheGate},
		{"its gate and an image", `{"spec":{"containers":[{"name":"main","image":"evil"}],"schedulingGates":[{"name":"warren.dev/topology","$patch":"delete"}]}}`, onlyTheGate},
		{"its gate and a deadline", `{"spec":{"activeDeadlineSeconds":1,"schedulingGates":[{"name":"warren.dev/topology","$patch":"delete"}]}}`, onlyTheGate},
		{"its gate and a finalizer", `{"metadata":{"finalizers":["example.com/stays"]},"spec":{"schedulingGates":[{"name":"warren.dev/topology","$patch":"delete"}]}}`, onlyTheGate},
	} {
		if err := patch(c.patch); err == nil || !strings.Contains(err.Error(), c.message) {
			t.Errorf("Warren changes %s: %v\nwant it refused: %s", c.reason, err, c.message)
		}
	}
	for _, turn := range []string{"first", "second"} { // it is idempotent
		if err := patch(gateOnly); err != nil {
			t.Errorf("Warren removes its gate, %s time: %v", turn, err)
		}
	}
	var p corev1.Pod
	if err := w.read("pod/two-gates", &p); err != nil || len(p.Spec.SchedulingGates) != 1 || p.Spec.SchedulingGates[0].Name != "example.com/other" {
		t.Errorf("the pod's gates are %v, %v; want the other one left", p.Spec.SchedulingGates, err)
	}
}

// The gate without the label would wait for ever, in silence.
func TestTheGateNeedsTheLabel(t *testing.T) {
	t.Parallel()
	w := newOrderTenant(t, localenv.Broker(t, localenv.Series43))
	unlabelled := strings.Replace(twoGates, `{warren.dev/gated: "true"}`, `{app: web-shop}`, 1)
	mislabelled := strings.Replace(twoGates, `"true"`, `"yes"`, 1)
	for _, manifest := range []string{unlabelled, mislabelled} {
		if out, err := w.tryApply(manifest); err == nil || !strings.Contains(out, needsTheLabel) {
			t.Errorf("kubectl apply: %v, %s\nwant it refused: %s\n%s", err, out, needsTheLabel, manifest)
		}
	}
	for _, manifest := range []string{
		twoGates,
		strings.Replace(strings.Replace(unlabelled, "{name: warren.dev/topology}, ", "", 1), "two-gates", "of-others", 1),
		pod("no-gate", ungated),
	} {
		if out, err := w.tryApply(manifest); err != nil {
			t.Errorf("kubectl apply: %v, %s\nwant it taken\n%s", err, out, manifest)
		}
	}
	if out, err := w.kubectl.run(t.Context(), "", "label", "pod/two-gates", "-n", w.namespace, "warren.dev/gated-"); err == nil || !strings.Contains(out, needsTheLabel) {
		t.Errorf("the label is taken away from a gated pod: %v, %s\nwant it refused: %s", err, out, needsTheLabel)
	}
	w.mustKubectl("label", "pod/two-gates", "-n", w.namespace, "team=shop")
	w.mustKubectl("patch", "pod/two-gates", "-n", w.namespace, "--type=strategic", "-p="+`{"spec":{"schedulingGates":[{"name":"warren.dev/topology","$patch":"delete"}]}}`)
	w.mustKubectl("label", "pod/two-gates", "-n", w.namespace, "warren.dev/gated-")
}

// Kubernetes itself finds nothing wrong with the policy's expressions.
func TestThePolicyIsWellTyped(t *testing.T) {
	t.Parallel()
	w := newOrderTenant(t, localenv.Broker(t, localenv.Series43))
	amqptest.Eventually(t, within, func() error {
		var policy admissionv1.ValidatingAdmissionPolicy
		content, err := w.api.Get().AbsPath("apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies/warren-gate").DoRaw(t.Context())
		if err != nil {
			return err
		}
		if err := json.Unmarshal(content, &policy); err != nil {
			return err
		}
		if status := policy.Status; status.TypeChecking == nil || len(status.TypeChecking.ExpressionWarnings) > 0 {
			return fmt.Errorf("the policy's status is %+v, want it checked and without a warning", status)
		}
		return nil
	})
}
