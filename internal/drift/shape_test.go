package drift_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/warren-mq/warren/api/v1alpha1"
	"github.com/warren-mq/warren/internal/drift"
	"github.com/warren-mq/warren/internal/topology"
)

// What a queue or an exchange is, beside its settings.
func TestDifferingShapes(t *testing.T) {
	const (
		recreateW    = `stop what publishes into queue "W", let it drain, delete it when it is empty, and Warren declares it anew`
		recreateDead = `an exchange cannot be changed: have its publishers stop, delete exchange "W.dead", and Warren declares it anew with its bindings; or give the resource another name`
	)
	entry := func(object, field, desired, observed, remedy string) v1alpha1.DriftEntry {
		return v1alpha1.DriftEntry{Object: object, Field: field, Desired: desired, Observed: observed, Impact: unsafe, Remedy: remedy}
	}
	cases := []struct {
		reason string
		spoil  func(*rabbit)
		want   v1alpha1.DriftEntry
	}{
		{"a classic queue, of which the number of messages is not known", func(r *rabbit) {
			r.setQueue("W", func(q *topology.SeenQueue) { q.Type = "classic" })
		}, entry(`queue "W"`, "x-queue-type", "quorum", "classic",
			"a queue's type cannot be changed, and classic queues have neither a delivery limit nor at-least-once dead-lettering: "+recreateW)},
		{"a queue that goes with its last consumer", func(r *rabbit) {
			r.setQueue("W", func(q *topology.SeenQueue) { q.AutoDelete = true })
		}, entry(`queue "W"`, "durable", "durable, not auto-delete, not exclusive", "durable true, auto-delete true, exclusive false", recreateW)},
		{"a queue of one connection", func(r *rabbit) {
			r.setQueue("W", func(q *topology.SeenQueue) { q.Durable, q.Exclusive = false, true })
		}, entry(`queue "W"`, "durable", "durable, not auto-delete, not exclusive", "durable false, auto-delete false, exclusive true", recreateW)},
		{"an exchange of another type", func(r *rabbit) {
			r.setExchange("W.dead", func(e *topology.SeenExchange) { e.Type = "topic" })
		}, entry(`exchange "W.dead"`, "type", "headers", "topic", recreateDead)},
		{"an exchange that goes with the broker", func(r *rabbit) {
			r.setExchange("W.dead", func(e *topology.SeenExchange) { e.Durable = false })
		}, entry(`exchange "W.dead"`, "durable", "durable, not auto-delete, not internal", "durable false, auto-delete false, internal false", recreateDead)},
		{"an exchange that goes with its last binding", func(r *rabbit) {
			r.setExchange("W.dead", func(e *topology.SeenExchange) { e.AutoDelete = true })
		}, entry(`exchange "W.dead"`, "durable", "durable, not auto-delete, not internal", "durable true, auto-delete true, internal false", recreateDead)},
		{"an exchange that nobody may publish to", func(r *rabbit) {
			r.setExchange("W.dead", func(e *topology.SeenExchange) { e.Internal = true })
		}, entry(`exchange "W.dead"`, "durable", "durable, not auto-delete, not internal", "durable true, auto-delete false, internal true", recreateDead)},
		{"unmatched messages are dropped in place of parked", func(r *rabbit) {
			r.setExchange("W.dead", func(e *topology.SeenExchange) { delete(e.Arguments, "alternate-exchange") })
		}, entry(`exchange "W.dead"`, "alternate-exchange", "W.park", "none", recreateDead)},
		{"unmatched messages go elsewhere", func(r *rabbit) {
			r.setExchange("W.dead", func(e *topology.SeenExchange) { e.Arguments["alternate-exchange"] = "W.retry" })
		}, entry(`exchange "W.dead"`, "alternate-exchange", "W.park", "W.retry", recreateDead)},
	}
	for _, tc := range cases {
		t.Run(tc.reason, func(t *testing.T) {
			want := subscription(t, threeDelays)
			r := rabbitWith(want)
			tc.spoil(r)
			got := drift.Compare(want, r.snapshot(), nothingOwned)
			expected := []drift.Difference{{DriftEntry: tc.want, Cause: drift.CauseImmutable}}
			if diff := cmp.Diff(expected, got.Differences); diff != "" {
				t.Errorf("differences (-want +got):\n%s", diff)
			}
			assertPlan(t, got.Plan, "")
		})
	}
}

// A queue without a leader or a majority is there: it is neither missing nor different.
func TestUnavailableQueues(t *testing.T) {
	for state, unavailable := range map[string]bool{
		"running": false, "": false, "flow": false, "idle": false,
		"down": true, "stopped": true, "minority": true, "crashed": true,
	} {
		want := subscription(t, threeDelays)
		r := rabbitWith(want)
		r.setQueue("W", func(q *topology.SeenQueue) { q.State = state })
		got := drift.Compare(want, r.snapshot(), nothingOwned)
		if has := len(got.Unavailable) == 1 && got.Unavailable[0].Name == "W"; has != unavailable {
			t.Errorf("state %q: unavailable %t, want %t", state, has, unavailable)
		}
		if len(got.Missing) > 0 || len(got.Plan) > 0 {
			t.Errorf("state %q: missing %v, plan %s", state, got.Missing, got.Plan)
		}
	}
}

// A topic's exchange that somebody gave an alternate exchange of his own loses
// nothing by it; without one that the spec asks for, it does.
func TestATopicsAlternateExchange(t *testing.T) {
	catches := v1alpha1.TopicSpec{Exchange: "orders", Unroutable: &v1alpha1.UnroutableSpec{Queue: "orders.lost"}}
	plain := v1alpha1.TopicSpec{Exchange: "orders"}
	cases := []struct {
		reason string
		spec   v1alpha1.TopicSpec
		has    any
		want   []v1alpha1.Impact
	}{
		{"none, and none is wanted", plain, nil, nil},
		{"somebody's, and none is wanted", plain, "theirs", []v1alpha1.Impact{tolerable}},
		{"the one that is wanted", catches, "orders.lost", nil},
		{"none, and one is wanted", catches, nil, []v1alpha1.Impact{unsafe}},
		{"somebody's, and another is wanted", catches, "theirs", []v1alpha1.Impact{unsafe}},
	}
	for _, tc := range cases {
		t.Run(tc.reason, func(t *testing.T) {
			want := topic(t, tc.spec)
			r := newRabbit()
			r.setExchange("orders", func(e *topology.SeenExchange) {
				e.Arguments = topology.Arguments{}
				if tc.has != nil {
					e.Arguments["alternate-exchange"] = tc.has
				}
			})
			var got []v1alpha1.Impact
			for _, d := range drift.Compare(want, r.snapshot(), drift.Claims{Adopt: true}).Differences {
				got = append(got, d.Impact)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("impacts (-want +got):\n%s", diff)
			}
		})
	}
}
