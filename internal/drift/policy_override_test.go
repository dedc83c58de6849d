package drift_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/warren-mq/warren/api/v1alpha1"
	"github.com/warren-mq/warren/internal/drift"
	"github.com/warren-mq/warren/internal/topology"
)

// stray is a policy of a team that thought of other queues.
func stray(priority int, definition topology.Arguments) topology.Policy {
	return topology.Policy{Name: "stray", Pattern: ".*", ApplyTo: "all", Priority: priority, Definition: definition}
}

// What argument, policy and operator policy amount to is compared, not what was declared.
func TestPolicyOverrides(t *testing.T) {
	type arguments = topology.Arguments
	type policies = []topology.Policy
	const (
		leaveOut     = `or have its pattern leave queue %q out.`
		orShield     = `or have its pattern leave queue %q out; or set Broker.spec.shieldPolicy, which keeps such policies off wait and parking queues.`
		winsOverOurs = `RabbitMQ applies one policy to a queue, and policy "stray" (priority 200) wins over policy "warren.shop.billing" (priority 100): give it a lower priority, or have its pattern leave queue "W" out.`
	)
	cases := []struct {
		reason             string
		spec               string
		policies, operator policies
		want               []v1alpha1.DriftEntry
		// overriding policies, told once for all entries.
		overriding []string
	}{
		{reason: "a time-to-live for all empties the parking queue", spec: immediate,
			overriding: []string{`policy "stray" (priority 1)`},
			policies:   policies{{Name: "stray", Pattern: "parking$", ApplyTo: "queues", Priority: 1, Definition: arguments{"message-ttl": int64(60000)}}},
			want: []v1alpha1.DriftEntry{{Object: `queue "W.parking"`, Field: "x-message-ttl", Desired: "none", Observed: "60000", Impact: unsafe,
				Remedy: keptExpires + ` Take message-ttl out of policy "stray" (priority 1), ` + fmt.Sprintf(orShield, "W.parking")}}},
		{reason: "an operator's too", spec: immediate,
			overriding: []string{`operator policy "limits" (priority 0)`},
			operator:   policies{{Name: "limits", Pattern: "parking$", ApplyTo: "queues", Definition: arguments{"message-ttl": int64(60000)}}},
			want: []v1alpha1.DriftEntry{{Object: `queue "W.parking"`, Field: "x-message-ttl", Desired: "none", Observed: "60000", Impact: unsafe,
				Remedy: keptExpires + ` Take message-ttl out of operator policy "limits" (priority 0), ` + fmt.Sprintf(leaveOut, "W.parking")}}},
		{reason: "both at once", spec: immediate,
			overriding: []string{`policy "stray" (priority 0)`, `operator policy "limits" (priority 0)`},
			policies:   policies{{Name: "stray", Pattern: "parking$", ApplyTo: "queues", Definition: arguments{"expires": int64(60000)}}},
			operator:   policies{{Name: "limits", Pattern: "parking$", ApplyTo: "queues", Definition: arguments{"expires": int64(1000)}}},
			want: []v1alpha1.DriftEntry{{Object: `queue "W.parking"`, Field: "x-expires", Desired: "none", Observed: "1000", Impact: unsafe,
				Remedy: expires + ` Take expires out of policy "stray" (priority 0) and of operator policy "limits" (priority 0), ` + fmt.Sprintf(leaveOut, "W.parking")}}},
		{reason: "only the one that sets it is named", spec: immediate,
			policies: policies{{Name: "stray", Pattern: "parking$", ApplyTo: "queues", Definition: arguments{"max-length": int64(10)}}},
			operator: policies{{Name: "harmless", Pattern: "parking$", ApplyTo: "queues", Definition: arguments{"target-group-size": int64(3)}}},
			want: []v1alpha1.DriftEntry{{Object: `queue "W.parking"`, Field: "x-max-length", Desired: "none", Observed: "10", Impact: unsafe,
				Remedy: standsStill + ` Take max-length out of policy "stray" (priority 0), ` + fmt.Sprintf(orShield, "W.parking")}}},
		{reason: "a limit wins over the -1 of a parking queue", spec: immediate,
			policies: policies{{Name: "stray", Pattern: "parking$", ApplyTo: "queues", Definition: arguments{"delivery-limit": int64(5)}}},
			want: []v1alpha1.DriftEntry{{Object: `queue "W.parking"`, Field: "x-delivery-limit", Desired: "-1", Observed: "5", Impact: unsafe,
				Remedy: `a message leaves this queue after more than 5 looks at it. Take delivery-limit out of policy "stray" (priority 0), ` + fmt.Sprintf(orShield, "W.parking")}}},
		{reason: "the shield had no room for it", spec: immediate,
			policies: policies{
				{Name: "stray", Pattern: "parking$", ApplyTo: "queues", Definition: arguments{"expires": int64(1)}},
				{Name: topology.ShieldPrefix + "id.shop.main", Pattern: "^none$", ApplyTo: "queues", Priority: 9, Definition: arguments{"overflow": "reject-publish"}},
			},
			want: []v1alpha1.DriftEntry{{Object: `queue "W.parking"`, Field: "x-expires", Desired: "none", Observed: "1", Impact: unsafe,
				Remedy: expires + ` Take expires out of policy "stray" (priority 0), or have its pattern leave queue "W.parking" out; or give it its default name, for which the shield policy always has room.`}}},
		{reason: "the lower limit is in force", spec: immediate,
			policies: policies{{Name: "stray", Pattern: "^W$", ApplyTo: "queues", Definition: arguments{"delivery-limit": int64(5)}}},
			want: []v1alpha1.DriftEntry{{Object: `queue "W"`, Field: "x-delivery-limit", Desired: "20", Observed: "5", Impact: tolerable,
				Remedy: `a message parks after 5 crashes, requeues and returns. Take delivery-limit out of policy "stray" (priority 0), ` + fmt.Sprintf(leaveOut, "W")}}},
		{reason: "the higher limit is not in force", spec: immediate,
			policies: policies{{Name: "stray", Pattern: "^W$", ApplyTo: "queues", Definition: arguments{"delivery-limit": int64(99)}}}},
		{reason: "a wait is cut short", spec: threeDelays,
			policies: policies{{Name: "stray", Pattern: "30s$", ApplyTo: "queues", Definition: arguments{"message-ttl": int64(1000)}}},
			want: []v1alpha1.DriftEntry{{Object: `queue "W.wait.2.30s"`, Field: "x-message-ttl", Desired: "30000", Observed: "1000", Impact: tolerable,
				Remedy: `messages wait for another time than the spec says. Take message-ttl out of policy "stray" (priority 0), ` + fmt.Sprintf(orShield, "W.wait.2.30s")}}},
		{reason: "a longer time-to-live does nothing to a wait", spec: threeDelays,
			policies: policies{{Name: "stray", Pattern: "30s$", ApplyTo: "queues", Definition: arguments{"message-ttl": int64(99000)}}}},
		{reason: "the argument beats the policy where it is not a limit", spec: immediate,
			policies: policies{stray(999, arguments{"dead-letter-exchange": "elsewhere", "dead-letter-strategy": "at-most-once", "overflow": "drop-head"})}},
		{reason: "a key that no argument sets", spec: immediate,
			policies: policies{{Name: "stray", Pattern: "^W$", ApplyTo: "queues", Definition: arguments{"dead-letter-routing-key": "dead"}}},
			want: []v1alpha1.DriftEntry{{Object: `queue "W"`, Field: "x-dead-letter-routing-key", Desired: "none", Observed: "dead", Impact: tolerable,
				Remedy: keyLost + ` Take dead-letter-routing-key out of policy "stray" (priority 0), ` + fmt.Sprintf(leaveOut, "W")}}},

		{reason: "a policy of a higher priority silently replaces ours", spec: `{workQueue: {name: W}, retry: {immediate: {}}, settings: Policy}`,
			overriding: []string{`policy "stray" (priority 200)`},
			policies:   policies{{Name: "stray", Pattern: "^W$", ApplyTo: "queues", Priority: 200, Definition: arguments{"max-length": int64(10)}}},
			want: []v1alpha1.DriftEntry{
				{Object: `queue "W"`, Field: "x-dead-letter-exchange", Desired: "W.dead", Observed: "none", Impact: unsafe,
					Remedy: "messages that are rejected, expire or exceed the delivery limit (20 in force) are dropped. " + winsOverOurs},
				{Object: `queue "W"`, Field: "x-dead-letter-strategy", Desired: "at-least-once", Observed: "none", Impact: unsafe, Remedy: atMostOnceInForce + " " + winsOverOurs},
				{Object: `queue "W"`, Field: "x-overflow", Desired: "reject-publish", Observed: "none", Impact: unsafe, Remedy: atMostOnceInForce + " " + winsOverOurs},
				{Object: `queue "W"`, Field: "x-max-length", Desired: "none", Observed: "10", Impact: tolerable,
					Remedy: "publishers are refused when the queue is full, and returning retries starve. " + winsOverOurs},
				{Object: `queue "W"`, Field: "x-delivery-limit", Desired: "20", Observed: "none", Impact: tolerable, Remedy: "the broker's default of 20 is in force. " + winsOverOurs},
			}},
		{reason: "a policy of a lower priority does nothing beside ours", spec: inPolicy,
			policies: policies{{Name: "stray", Pattern: "^W$", ApplyTo: "queues", Priority: 99, Definition: arguments{"max-length": int64(10)}}}},
		{reason: "an operator policy beside ours", spec: inPolicy,
			operator: policies{{Name: "limits", Pattern: "^W$", ApplyTo: "queues", Definition: arguments{"delivery-limit": int64(5)}}},
			want: []v1alpha1.DriftEntry{{Object: `queue "W"`, Field: "x-delivery-limit", Desired: "20", Observed: "5", Impact: tolerable,
				Remedy: `a message parks after 5 crashes, requeues and returns. Take delivery-limit out of operator policy "limits" (priority 0), ` + fmt.Sprintf(leaveOut, "W")}}},
		{reason: "a policy of the same priority may win at any time", spec: inPolicy,
			overriding: []string{`policy "aaa" (priority 100)`},
			policies:   policies{{Name: "aaa", Pattern: "^W$", ApplyTo: "queues", Priority: 100, Definition: arguments{}}},
			want: []v1alpha1.DriftEntry{{Object: `queue "W"`, Field: "policy", Desired: `policy "warren.shop.billing" alone has priority 100`, Observed: `policy "aaa" has priority 100 too`, Impact: unsafe,
				Remedy: `RabbitMQ applies one policy to a queue, and of two with the same priority either may win: give policy "aaa" a lower priority, or have its pattern leave the queue out`}}},
		{reason: "of the same priority, for other queues or exchanges", spec: inPolicy,
			policies: policies{
				{Name: "a", Pattern: "^W.parking$", ApplyTo: "queues", Priority: 100, Definition: arguments{}},
				{Name: "b", Pattern: "^W$", ApplyTo: "exchanges", Priority: 100, Definition: arguments{}},
				{Name: "c", Pattern: "^W$", ApplyTo: "classic_queues", Priority: 100, Definition: arguments{}},
			}},
	}
	for _, tc := range cases {
		t.Run(tc.reason, func(t *testing.T) {
			want := subscription(t, tc.spec)
			r := rabbitWith(want)
			r.policies, r.operatorPolicies = append(r.policies, tc.policies...), tc.operator
			got := drift.Compare(want, r.snapshot(), nothingOwned)
			if diff := cmp.Diff(causedByPolicy(tc.want), got.Differences); diff != "" {
				t.Errorf("differences (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.overriding, got.Overriding); tc.overriding != nil && diff != "" {
				t.Errorf("overriding policies (-want +got):\n%s", diff)
			}
			assertPlan(t, got.Plan, "")
		})
	}
}

// A queue that was taken over may have its dead-letter exchange by a policy
// alone: without that it would have none.
func TestAnAdoptedQueueWithItsSettingsInAPolicy(t *testing.T) {
	want := subscription(t, immediate)
	r := rabbitWith(want).marked("")
	r.setArgument("W", "x-dead-letter-exchange", nil)
	r.policies = []topology.Policy{{Name: "platform", Pattern: "^W$", ApplyTo: "queues", Priority: 7, Definition: topology.Arguments{"dead-letter-exchange": "orders.dlx"}}}
	got := drift.Compare(want, r.snapshot(), drift.Claims{Adopt: true})
	expected := []drift.Difference{{
		DriftEntry: v1alpha1.DriftEntry{Object: `queue "W"`, Field: "x-dead-letter-exchange", Desired: "W.dead", Observed: "orders.dlx", Impact: unsafe,
			Remedy: `dying messages do not come to Warren's exchange, so they are neither retried nor parked as the spec says. The queue has no x-dead-letter-exchange of its own, so policy "platform" (priority 7) decides: set dead-letter-exchange to W.dead there.`},
		Cause: drift.CausePolicy, Adopted: true,
	}}
	got.Differences = slices.DeleteFunc(got.Differences, func(d drift.Difference) bool { return d.Cause != drift.CausePolicy })
	if diff := cmp.Diff(expected, got.Differences); diff != "" {
		t.Errorf("differences (-want +got):\n%s", diff)
	}

	r.policies[0].Definition["dead-letter-exchange"] = "W.dead"
	assertInSync(t, drift.Compare(want, r.snapshot(), drift.Claims{Adopt: true}))
}

// A policy that was set after the policies had been read is known by its effect alone.
func TestAPolicyThatIsNotKnown(t *testing.T) {
	want := subscription(t, immediate)
	seen := rabbitWith(want).snapshot()
	parking := seen.Queues["W.parking"]
	parking.Policy, parking.EffectivePolicy = "new", topology.Arguments{"message-ttl": int64(1000)}
	seen.Queues["W.parking"] = parking
	got := drift.Compare(want, seen, nothingOwned)
	expected := causedByPolicy([]v1alpha1.DriftEntry{{
		Object: `queue "W.parking"`, Field: "x-message-ttl", Desired: "none", Observed: "1000", Impact: unsafe,
		Remedy: keptExpires + ` Find the policy that sets message-ttl for queue "W.parking", and have its pattern leave the queue out.`,
	}})
	if diff := cmp.Diff(expected, got.Differences); diff != "" {
		t.Errorf("differences (-want +got):\n%s", diff)
	}
}

func causedByPolicy(entries []v1alpha1.DriftEntry) []drift.Difference {
	var differences []drift.Difference
	for _, e := range entries {
		differences = append(differences, drift.Difference{DriftEntry: e, Cause: drift.CausePolicy})
	}
	return differences
}
