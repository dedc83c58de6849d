package drift_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/warren-mq/warren/api/v1alpha1"
	"github.com/warren-mq/warren/internal/drift"
)

// A queue that was made with settings: Policy lives by that policy also when
// the spec says Arguments: nobody is told to take something out of it.
func TestSettingsOutOfAPolicyWithAnotherLimit(t *testing.T) {
	r := rabbitWith(subscription(t, inPolicy))
	want := subscriptionOn(t, `{workQueue: {name: W, deliveryLimit: 7}, retry: {backoff: {delays: [5s, 30s, 5m]}}}`, r)
	got := drift.Compare(want, r.snapshot(), nothingOwned)
	expected := []drift.Difference{{
		Cause: drift.CauseImmutable,
		DriftEntry: v1alpha1.DriftEntry{Object: `queue "W"`, Field: "x-delivery-limit", Desired: "7", Observed: "20", Impact: tolerable,
			Remedy: `a message parks after 20 crashes, requeues and returns. The queue was made with settings: Policy and lives by policy "warren.shop.billing", which stays as it is: RabbitMQ cannot give arguments to a queue that exists. Set settings to Policy again, which changes it live; or stop what publishes into queue "W", let it drain, delete it when it is empty, and Warren declares it anew`},
	}}
	if diff := cmp.Diff(expected, got.Differences); diff != "" {
		t.Errorf("differences (-want +got):\n%s", diff)
	}
	if len(got.Overriding) > 0 {
		t.Errorf("our own policy is told to override: %v", got.Overriding)
	}
	assertPlan(t, got.Plan, "")
}
