package drift_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/warren-mq/warren/api/v1alpha1"
	"github.com/warren-mq/warren/internal/drift"
	"github.com/warren-mq/warren/internal/topology"
)

// RabbitMQ destroys the dead letters that wait when the policy that makes
// their queue at-least-once goes or says less. So our policy follows the spec only when none waits.
func TestAPolicyIsKeptWhileDeadLettersWait(t *testing.T) {
	const (
		atMostOnce = `{workQueue: {name: W, deadLetterStrategy: AtMostOnce}, retry: {immediate: {}}, settings: Policy}`
		limited    = `{workQueue: {name: W, deliveryLimit: 5}, retry: {immediate: {}}, settings: Policy}`
		before     = `{workQueue: {name: W}, retry: {immediate: {}}, settings: Policy}`
		set        = `declare policy "warren.shop.billing"`
		wait       = ` Warren sets policy "warren.shop.billing" when no dead letter waits in queue "W" any more: those that wait would be lost with the change.`
	)
	kept := []v1alpha1.DriftEntry{{
		Object: `queue "W"`, Field: "x-dead-letter-strategy", Desired: "at-most-once", Observed: "at-least-once", Impact: tolerable,
		Remedy: "dead letters are moved at least once: slower than the spec says, and nothing is lost." + wait,
	}}
	cases := []struct {
		reason        string
		has, wants    string
		deadLettering *int64
		plan          string
		differences   []v1alpha1.DriftEntry
	}{
		{"dead letters wait", before, atMostOnce, new(int64(1)), "", kept},
		{"it is not known whether they do", before, atMostOnce, nil, "", kept},
		{"none waits", before, atMostOnce, new(int64(0)), set, nil},
		{"a change that costs none", before, limited, new(int64(1)), set, nil},
		{"at-least-once comes back", atMostOnce, before, new(int64(1)), set, nil},
		{"the spec moves the settings to arguments", before, immediate, new(int64(1)), "", nil},
	}
	for _, tc := range cases {
		t.Run(tc.reason, func(t *testing.T) {
			r := rabbitWith(subscription(t, tc.has))
			r.setQueue("W", func(q *topology.SeenQueue) { q.DeadLettering = tc.deadLettering })
			got := drift.Compare(subscription(t, tc.wants), r.snapshot(), nothingOwned)
			if diff := cmp.Diff(causedByPolicy(tc.differences), differencesOf(got, "W")); diff != "" {
				t.Errorf("differences (-want +got):\n%s", diff)
			}
			assertPlan(t, got.Plan, tc.plan)
		})
	}
}

// differencesOf one queue.
func differencesOf(r drift.Result, queue string) []drift.Difference {
	var differences []drift.Difference
	for _, d := range r.Differences {
		if d.Object == (topology.Queue{Name: queue}).String() {
			differences = append(differences, d)
		}
	}
	return differences
}
