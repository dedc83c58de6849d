package e2e

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/warren-mq/warren/api/v1alpha1"
)

// policyDelay is how long RabbitMQ's statistics show the policy before the
// one that was set: 6 to 8 s (fact 20).
const policyDelay = 10 * time.Second

// Right after an apply, while RabbitMQ's own page still shows what was before,
// nothing is written a second time and no condition flaps: neither after the
// first declaring nor after a change of the policy. Field case E1.
func TestE1NothingFlapsRightAfterAnApply(t *testing.T) {
	t.Parallel()
	forEachBroker(t, func(t *testing.T, w *tenant) {
		spec := func(limit int) string {
			return subscriptionManifest("billing", fmt.Sprintf(`workQueue: {name: billing, deliveryLimit: %d}, retry: {backoff: {delays: [5s]}}, settings: Policy`, limit))
		}
		for _, limit := range []int{7, 30} {
			w.apply(spec(limit))
			w.awaitReady("rsub/billing")
			w.awaitLimit("billing", int64(limit))
			acts, since := len(w.logLines("acting on the broker")), w.turns("billing")
			// Another reconcile, at once.
			w.mustKubectl("annotate", "-n", w.namespace, "--overwrite", "rsub", "billing", fmt.Sprintf("reconcile=%d", limit))
			w.stays(policyDelay, func() error {
				if diff := cmp.Diff(since, w.turns("billing")); diff != "" {
					return fmt.Errorf("a condition flapped (-before +after):\n%s", diff)
				}
				return nil
			})
			if now := w.logLines("acting on the broker"); len(now) != acts {
				t.Errorf("the operator acted again:\n%s", now[acts:])
			}
		}
		if notes := append(w.eventNotes("rsub/billing", "Recreated"), w.eventNotes("rsub/billing", "Restored")...); len(notes) > 0 {
			t.Errorf("something was declared again: %q", notes)
		}
	})
}

// turns are the conditions that do not rest on counters, with the time of
// their last turn: they tell of a flap that was too short to be seen.
func (w *tenant) turns(name string) map[string]string {
	w.t.Helper()
	turns := map[string]string{}
	for _, c := range w.subscription(name).Status.Conditions {
		switch c.Type {
		case v1alpha1.ConditionReady, v1alpha1.ConditionEstablished, v1alpha1.ConditionInSync, v1alpha1.ConditionStalled:
			turns[c.Type] = fmt.Sprint(c.Status, " ", c.Reason, " since ", c.LastTransitionTime.UTC(), ": ", c.Message)
		}
	}
	if len(turns) != 4 {
		w.t.Fatalf("conditions are %v, want four", turns)
	}
	return turns
}
