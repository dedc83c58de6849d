package e2e

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/warren-mq/warren/test/amqptest"
)

// With settings: Policy the work queue has its type and its owner's mark for
// arguments, and all else by policy. So an application may declare it by its
// type alone, and another delivery limit is in force at once on the queue that
// there is, for what is in it too.
func TestPolicySettingsChangeOnALiveQueue(t *testing.T) {
	onStages(t, func(t *testing.T, s *stage) {
		billing := func(limit int) string {
			return subscriptionManifest("billing", fmt.Sprintf(`workQueue: {name: billing, deliveryLimit: %d}, retry: {backoff: {delays: [1s]}}, settings: Policy`, limit))
		}
		s.establish(billing(7), "billing")
		s.awaitLimit("billing", 7)
		s.assertPolicyHoldsTheSettings(t)
		s.queue(t, "billing") // 406 if it disagreed
		s.publish("", "billing", amqptest.Message("before the change"))

		s.establish(billing(2), "billing")
		s.awaitLimit("billing", 2)
		consumer := s.consume("billing", amqptest.InTurn(amqptest.Crash))
		if parked := s.takeOnly(t, "billing.parking"); parked.MessageId != "before the change" {
			t.Errorf("parked %s, want the message that was there before the change", parked)
		}
		assertDeliveries(t, consumer, "before the change", 3)
	})
}

// assertPolicyHoldsTheSettings asks the broker what is in force, and by what.
func (s *stage) assertPolicyHoldsTheSettings(t *testing.T) {
	t.Helper()
	policy := "warren." + s.namespace + ".billing"
	s.awaitPolicy(t, "billing", policy)
	state, err := s.queueState("billing")
	if err != nil {
		t.Fatal(err)
	}
	delete(state.Arguments, "x-warren-owner")
	if diff := cmp.Diff(map[string]any{"x-queue-type": "quorum"}, state.Arguments); diff != "" {
		t.Errorf("arguments of the work queue, its mark left out (-want +got):\n%s", diff)
	}
	var effective map[string]any
	if err := json.Unmarshal(state.EffectivePolicy, &effective); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"dead-letter-exchange": "billing.dead", "dead-letter-strategy": "at-least-once",
		"overflow": "reject-publish", "delivery-limit": 7.0,
	}
	if diff := cmp.Diff(want, effective); diff != "" {
		t.Errorf("policy in force (-want +got):\n%s", diff)
	}
}
