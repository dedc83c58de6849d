package e2e

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	amqp "github.com/rabbitmq/amqp091-go"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/warren-mq/warren/api/v1alpha1"
	"github.com/warren-mq/warren/test/amqptest"
)

// redriveManifest is a Redrive of subscription billing. The spec's other
// fields are in YAML's flow style, without the braces.
func redriveManifest(name, spec string) string {
	return redriveOf("billing", name, spec)
}

func redriveOf(subscription, name, spec string) string {
	return fmt.Sprintf(`
---
apiVersion: warren.dev/v1alpha1
kind: Redrive
metadata: {name: %s}
spec: {subscriptionRef: {name: %s}, %s}
`, name, subscription, spec)
}

// immediateBilling parks what is rejected at once.
var immediateBilling = subscriptionManifest("billing", `workQueue: {name: billing}, retry: {immediate: {}}`)

func (w *tenant) redrive(name string) *v1alpha1.Redrive {
	w.t.Helper()
	var rd v1alpha1.Redrive
	if err := w.read("redrive/"+name, &rd); err != nil {
		w.t.Fatal(err)
	}
	return &rd
}

// awaitRedrive waits for a condition of a Redrive, and gives it.
func (w *tenant) awaitRedrive(name string, long time.Duration, kind, reason string) *v1alpha1.Redrive {
	w.t.Helper()
	var rd v1alpha1.Redrive
	amqptest.Eventually(w.t, long, func() error {
		rd = v1alpha1.Redrive{}
		if err := w.read("redrive/"+name, &rd); err != nil {
			return err
		}
		c := meta.FindStatusCondition(rd.Status.Conditions, kind)
		if c == nil || c.Status != metav1.ConditionTrue || c.Reason != reason {
			return fmt.Errorf("condition %s of Redrive %s is %+v, want True, %s; the status is %+v", kind, name, c, reason, rd.Status)
		}
		return nil
	})
	return &rd
}

func (w *tenant) awaitComplete(name string) *v1alpha1.Redrive {
	w.t.Helper()
	return w.awaitRedrive(name, 2*within, v1alpha1.ConditionComplete, v1alpha1.ReasonCompleted)
}

// awaitWaiting waits until nothing moves, for a reason whose message has some words.
func (w *tenant) awaitWaiting(name, reason, words string) {
	w.t.Helper()
	w.await("redrive/"+name, expected{v1alpha1.ConditionProgressing, metav1.ConditionFalse, reason, words})
}

// tally are the counts of a Redrive's status, -1 for one that is not known.
type tally struct{ Total, Moved, Discarded, Skipped, Remaining int64 }

func assertTally(t testing.TB, rd *v1alpha1.Redrive, want tally) {
	t.Helper()
	if diff := cmp.Diff(want, tallyOf(rd)); diff != "" {
		t.Errorf("counts of Redrive %s (-want +got):\n%s", rd.Name, diff)
	}
}

func tallyOf(rd *v1alpha1.Redrive) tally {
	s := rd.Status
	return tally{ptr.Deref(s.Total, -1), ptr.Deref(s.Moved, -1), ptr.Deref(s.Discarded, -1), ptr.Deref(s.Skipped, -1), ptr.Deref(s.Remaining, -1)}
}

// park publishes to billing's parking exchange.
func (s *stage) park(t testing.TB, messages ...amqp.Publishing) {
	t.Helper()
	amqptest.Publish(t, s.app, "billing.park", "order.placed", messages...)
}

func (s *stage) assertReady(t testing.TB, queue string, want int) {
	t.Helper()
	amqptest.AwaitReady(t, s.app, queue, want)
}

// idsIn takes all n messages out of a queue and gives their ids, in their order.
func (s *stage) idsIn(t testing.TB, queue string, n int) []string {
	t.Helper()
	s.assertReady(t, queue, n)
	var ids []string
	for _, d := range amqptest.Take(t, s.app, queue, n) {
		ids = append(ids, d.MessageId)
	}
	return ids
}

// idsOf are the ids that amqptest.Messages gives.
func idsOf(prefix string, n int) []string {
	var ids []string
	for _, m := range amqptest.Messages(prefix, n) {
		ids = append(ids, m.MessageId)
	}
	return ids
}
