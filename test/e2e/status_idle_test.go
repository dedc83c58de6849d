package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/warren-mq/warren/test/amqptest"
)

// fiveSyncs are five sync periods of a tenant's Broker.
const fiveSyncs = 5 * time.Second

// everyStrategy is a Topic with subscriptions of each retry strategy that both series know.
const everyStrategy = `
apiVersion: warren.dev/v1alpha1
kind: Topic
metadata: {name: orders}
spec: {brokerRef: {name: main}, unroutable: {}, requiredSubscriptions: [backoff]}
---
apiVersion: warren.dev/v1alpha1
kind: ReliableSubscription
metadata: {name: backoff}
spec:
  brokerRef: {name: main}
  sources: [{topicRef: {name: orders}, routingKeys: ["order.*", "refund.#"]}]
---
apiVersion: warren.dev/v1alpha1
kind: ReliableSubscription
metadata: {name: fixed}
spec:
  brokerRef: {name: main}
  sources: [{topicRef: {name: orders}, routingKeys: ["#"]}]
  retry: {fixedDelay: {delay: 30s, maxAttempts: 5}}
  settings: Policy
---
apiVersion: warren.dev/v1alpha1
kind: ReliableSubscription
metadata: {name: immediate}
spec:
  brokerRef: {name: main}
  retry: {immediate: {}}
---`

// Applying the same manifest again changes nothing: no resource is written,
// and nothing is done to the broker. Field case E1; drift_idle_test.go looks at
// the moment right after an apply.
func TestApplyingAgainChangesNothing(t *testing.T) {
	t.Parallel()
	forEachBroker(t, func(t *testing.T, w *tenant) {
		w.apply(everyStrategy)
		w.awaitSettled("topic/orders", "rsub/backoff", "rsub/fixed", "rsub/immediate", "broker/main")
		versions, objects, acts := w.resourceVersions(), w.onBroker(), len(w.logLines("acting on the broker"))

		w.apply(everyStrategy)
		w.stays(fiveSyncs, func() error {
			if diff := cmp.Diff(versions, w.resourceVersions()); diff != "" {
				return fmt.Errorf("a resource was written (-before +after):\n%s", diff)
			}
			return nil
		})
		if diff := cmp.Diff(objects, w.onBroker()); diff != "" {
			t.Errorf("the broker was changed (-before +after):\n%s", diff)
		}
		if now := w.logLines("acting on the broker"); len(now) != acts {
			t.Errorf("the operator acted again:\n%s", strings.Join(now[acts:], "\n"))
		}
	})
}

// awaitSettled waits until resources are Ready and every condition is known:
// the broker tells the counters of a new queue some seconds late.
func (w *tenant) awaitSettled(resources ...string) {
	w.t.Helper()
	for _, resource := range resources {
		w.awaitReady(resource)
		amqptest.Eventually(w.t, within, func() error {
			var o object
			if err := w.read(resource, &o); err != nil {
				return err
			}
			for _, c := range o.Status.Conditions {
				if c.Status == metav1.ConditionUnknown {
					return fmt.Errorf("condition %s of %s is Unknown, %s: %s", c.Type, resource, c.Reason, c.Message)
				}
			}
			return nil
		})
	}
}

// resourceVersions of all that Warren has in the tenant's namespace, and of
// what it writes there for applications.
func (w *tenant) resourceVersions() map[string]string {
	w.t.Helper()
	versions := map[string]string{}
	for _, kind := range []string{"rsub", "topic", "broker", "configmap", "secret"} {
		var list struct {
			Items []object `json:"items"`
		}
		if err := w.read(kind, &list); err != nil {
			w.t.Fatal(err)
		}
		for _, o := range list.Items {
			versions[kind+"/"+o.Metadata.Name] = o.Metadata.ResourceVersion
		}
	}
	return versions
}

// logLines are the lines of the operator's log that concern the tenant's
// namespace and hold a text.
func (w *tenant) logLines(text string) []string {
	var lines []string
	for line := range strings.Lines(w.log()) {
		if strings.Contains(line, w.namespace) && strings.Contains(line, text) {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	return lines
}
