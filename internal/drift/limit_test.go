package drift_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/warren-mq/warren/api/v1alpha1"
	"github.com/warren-mq/warren/internal/drift"
	"github.com/warren-mq/warren/internal/topology"
)

// A limit that was changed by policy and not taken over by the queue: every
// setting is as wanted, and the broker goes by another number.
func TestALimitThatIsNotTakenOver(t *testing.T) {
	cases := []struct {
		reason string
		queue  string
		told   *int64
		want   []drift.Difference
	}{
		{"as it should be", "W", new(int64(20)), nil},
		{"unlimited, as a parking queue should be", "W.parking", new(topology.Unlimited), nil},
		{"the broker does not tell", "W", nil, nil},
		{"the work queue kept an earlier one", "W", new(int64(5)), []drift.Difference{{
			Cause: drift.CausePolicy,
			DriftEntry: v1alpha1.DriftEntry{Object: `queue "W"`, Field: "x-delivery-limit", Desired: "20 in force", Observed: "5 in force", Impact: tolerable,
				Remedy: `a message parks after 5 crashes, requeues and returns. Arguments and policies of queue "W" amount to 20, but the broker has not taken it over: set the policy again, or have the queue's leader moved to another node.`},
		}}},
		{"the parking queue forgets after some looks", "W.parking", new(int64(20)), []drift.Difference{{
			Cause: drift.CausePolicy,
			DriftEntry: v1alpha1.DriftEntry{Object: `queue "W.parking"`, Field: "x-delivery-limit", Desired: "-1 in force", Observed: "20 in force", Impact: unsafe,
				Remedy: `a message leaves this queue after more than 20 looks at it. Arguments and policies of queue "W.parking" amount to -1, but the broker has not taken it over: set the policy again, or have the queue's leader moved to another node.`},
		}}},
	}
	for _, tc := range cases {
		t.Run(tc.reason, func(t *testing.T) {
			want := subscription(t, inPolicy)
			seen := rabbitWith(want).snapshot()
			q := seen.Queues[tc.queue]
			q.DeliveryLimit = tc.told
			seen.Queues[tc.queue] = q
			if diff := cmp.Diff(tc.want, drift.Compare(want, seen, nothingOwned).Differences); diff != "" {
				t.Errorf("differences (-want +got):\n%s", diff)
			}
		})
	}
}
