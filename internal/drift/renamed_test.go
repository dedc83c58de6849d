package drift_test

import (
	"testing"

	"github.com/warren-mq/warren/internal/drift"
	"github.com/warren-mq/warren/internal/topology"
)

// A resource with settings in a policy that got another name: its new policy
// stands beside the old one with the same priority for a while, and the old
// one goes when no dead letter can go with it.
func TestARenamedResourceTakesItsPolicyOver(t *testing.T) {
	claims := drift.Claims{Adopt: true, Abandoned: func(owner string) bool { return owner == other }}
	want := subscription(t, inPolicy)
	begin := func(deadLettering *int64) *rabbit {
		r := rabbitWith(want).marked(other)
		r.policies[0].Name = "warren.shop.shipping"
		r.setQueue("W", func(q *topology.SeenQueue) { q.DeadLettering = deadLettering })
		return r
	}
	cases := []struct {
		reason        string
		deadLettering *int64
		removal       string
	}{
		{"nothing waits to be dead-lettered", new(int64(0)), `delete policy "warren.shop.shipping"`},
		{"dead letters wait, and would go with the policy", new(int64(1)), ""},
		{"it is not known", nil, ""},
	}
	for _, tc := range cases {
		t.Run(tc.reason, func(t *testing.T) {
			r := begin(tc.deadLettering)
			first := drift.Compare(want, r.snapshot(), claims)
			assertPlan(t, first.Plan, `declare policy "warren.shop.billing"`)
			for _, action := range first.Plan {
				r.do(action)
			}
			second := drift.Compare(want, r.snapshot(), claims)
			if len(second.Differences) > 0 {
				t.Errorf("differences: %v", second.Differences)
			}
			assertPlan(t, second.Plan, tc.removal)
			for _, action := range second.Plan {
				r.do(action)
			}
			assertPlan(t, drift.Compare(want, r.snapshot(), claims).Plan, "")
		})
	}
}
