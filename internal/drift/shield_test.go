package drift_test

import (
	"testing"

	"github.com/warren-mq/warren/internal/drift"
	"github.com/warren-mq/warren/internal/topology"
)

func TestPlanShield(t *testing.T) {
	none := func(string) bool { return false }
	shield, _ := topology.Shield("shield", newRabbit().snapshot(), none)
	changed := shield
	changed.Pattern = "^$"
	cases := []struct {
		reason string
		wanted bool
		there  []topology.Policy
		want   string
	}{
		{"it is not there", true, nil, `declare policy "shield"`},
		{"it is there as it should be", true, []topology.Policy{shield}, ""},
		{"somebody changed it", true, []topology.Policy{changed}, `declare policy "shield"`},
		{"it is not wanted any more", false, []topology.Policy{shield}, `delete policy "shield"`},
		{"it never was", false, []topology.Policy{{Name: "team"}}, ""},
	}
	for _, tc := range cases {
		t.Run(tc.reason, func(t *testing.T) {
			r := newRabbit()
			r.policies = tc.there
			plan, _ := drift.PlanShield("shield", tc.wanted, r.snapshot(), none)
			assertPlan(t, plan, tc.want)
		})
	}
}

// With the shield, a policy on everything leaves what is kept alone.
func TestAShieldedSubscriptionIsInSync(t *testing.T) {
	want := subscription(t, threeDelays)
	r := rabbitWith(want)
	shield, _ := topology.Shield("shield", r.snapshot(), func(string) bool { return true })
	r.policies = []topology.Policy{
		{Name: "team", Pattern: ".*", ApplyTo: "all", Priority: 10, Definition: topology.Arguments{"message-ttl": int64(1000)}},
		shield,
	}
	if got := drift.Compare(want, r.snapshot(), nothingOwned).Differences; len(got) != 1 || got[0].Object != `queue "W"` {
		t.Errorf("differences, want one of the work queue alone: %v", got)
	}
}
