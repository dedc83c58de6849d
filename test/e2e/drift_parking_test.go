package e2e

import (
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/warren-mq/warren/api/v1alpha1"
	"github.com/warren-mq/warren/test/amqptest"
)

const (
	keptExpires  = "what is kept here expires; it circles in the dead-letter line in place of being kept in sight."
	wholeExpires = "the broker deletes the queue with all its messages when nobody uses it for that long."
	standsStill  = "when the queue is full, every dead letter behind it stands still, retries too."
)

// onParking is the entry for a setting that a layer puts on the parking queue.
func onParking(field, key, observed, consequence, layer string) v1alpha1.DriftEntry {
	shield := "; or set Broker.spec.shieldPolicy, which keeps such policies off wait and parking queues"
	if strings.Contains(layer, "operator policy") {
		shield = "" // it does nothing against that
	}
	return v1alpha1.DriftEntry{
		Object: `queue "billing.parking"`, Field: field, Desired: "none", Observed: observed, Impact: unsafe,
		Remedy: fmt.Sprintf(`%s Take %s out of %s, or have its pattern leave queue "billing.parking" out%s.`, consequence, key, layer, shield),
	}
}

// What is parked must not expire. A time-to-live or an expiry that comes from
// a policy or from an operator policy is told with its layer, and left to whoever set it. Field case A10.
func TestA10NothingMayExpireInParking(t *testing.T) {
	t.Parallel()
	const (
		policy   = `policy "team" (priority 7)`
		operator = `operator policy "cap" (priority 0)`
		week     = 604800000
	)
	forEachBroker(t, func(t *testing.T, w *tenant) {
		w.apply(subscriptionManifest("billing", `workQueue: {name: billing}, retry: {immediate: {}}`))
		w.awaitSettled("rsub/billing")
		amqptest.Publish(t, w.application(), "billing.park", "order.placed", amqptest.Message("parked"))
		for _, c := range []struct {
			name             string
			policy, operator map[string]any
			layer            string
			entry            v1alpha1.DriftEntry
		}{
			{"time-to-live from a policy", map[string]any{"message-ttl": week}, nil, policy,
				onParking("x-message-ttl", "message-ttl", "604800000", keptExpires, policy)},
			{"time-to-live from an operator policy", nil, map[string]any{"message-ttl": week}, operator,
				onParking("x-message-ttl", "message-ttl", "604800000", keptExpires, operator)},
			{"expiry from a policy", map[string]any{"expires": week}, nil, policy,
				onParking("x-expires", "expires", "604800000", wholeExpires, policy)},
			{"expiry from both, of which the lower is in force", map[string]any{"expires": 2 * week}, map[string]any{"expires": week}, policy + " and of " + operator,
				onParking("x-expires", "expires", "604800000", wholeExpires, policy+" and of "+operator)},
		} {
			t.Run(c.name, func(t *testing.T) {
				w := w.in(t)
				if c.policy != nil {
					w.putPolicy("team", "parking$", 7, c.policy)
				}
				if c.operator != nil {
					w.putOperatorPolicy("cap", "parking$", c.operator)
				}
				before := w.onBroker()
				w.awaitDrift("billing", c.entry)
				differs, _ := describe([]v1alpha1.DriftEntry{c.entry})
				message := "overridden by " + strings.ReplaceAll(c.layer, " and of ", ", ") + "; unsafe: " + differs + "; status.drift says what to do"
				w.awaitExactly("rsub/billing",
					expected{v1alpha1.ConditionReady, metav1.ConditionFalse, override, message},
					expected{v1alpha1.ConditionInSync, metav1.ConditionFalse, override, message},
					expected{v1alpha1.ConditionStalled, metav1.ConditionTrue, override, differs + ": " + c.entry.Remedy})
				w.awaitEvent("rsub/billing", override, differs+": "+c.entry.Remedy)
				w.staysUntouched(before)
				if c.policy != nil {
					w.deletePolicy("team")
				}
				if c.operator != nil {
					w.deleteOperatorPolicy("cap")
				}
				w.awaitReady("rsub/billing")
				w.awaitExactly("rsub/billing", asDeclared)
			})
		}
		amqptest.AwaitReady(t, w.application(), "billing.parking", 1)
	})
}

// A parking queue with a limit refuses what it cannot hold, and the work
// queue holds the rest: the status says what happens before it does, and
// which queue refuses when it has. Field case A9.
func TestA9AFullParkingQueueStopsEveryDeadLetter(t *testing.T) {
	t.Parallel()
	forEachBroker(t, func(t *testing.T, w *tenant) {
		w.apply(subscriptionManifest("billing", `workQueue: {name: billing}, retry: {immediate: {}}`))
		w.awaitSettled("rsub/billing")
		w.putPolicy("team", "parking$", 7, map[string]any{"max-length-bytes": 1})
		before := w.onBroker()
		entry := onParking("x-max-length-bytes", "max-length-bytes", "1", standsStill, `policy "team" (priority 7)`)
		w.awaitDrift("billing", entry)

		app := w.application()
		amqptest.Publish(t, app, "", "billing", amqptest.Messages("rejected", 50)...)
		amqptest.Consume(t, app, "billing", amqptest.InTurn(amqptest.Reject)).Await(t, 50)
		const refuses = ` dead letters cannot leave queue "billing", and retries stand still behind them: queue "billing.parking" refuses them; lift its length limit`
		w.await("rsub/billing", expected{v1alpha1.ConditionDeadLetteringBlocked, metav1.ConditionTrue, v1alpha1.ReasonTargetRefuses, refuses})
		w.awaitEvent("rsub/billing", v1alpha1.ConditionDeadLetteringBlocked, refuses)
		w.staysUntouched(before)
	})
}
