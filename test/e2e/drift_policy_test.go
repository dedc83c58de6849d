package e2e

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/warren-mq/warren/api/v1alpha1"
	"github.com/warren-mq/warren/test/amqptest"
)

// asDeclared is condition InSync where nothing differs.
var asDeclared = expected{v1alpha1.ConditionInSync, metav1.ConditionTrue, v1alpha1.ReasonAsDeclared, "the broker has what the spec says"}

// helpsItselfMessage is what condition Stalled says while it is False.
const helpsItselfMessage = "no change of the spec or of the broker's objects is called for; Warren goes on trying what is not done"

// inPolicy is a subscription with a delivery limit of 7, its settings in a policy.
func inPolicy(name string) string {
	return subscriptionManifest(name, `workQueue: {name: `+name+`, deliveryLimit: 7}, retry: {immediate: {}}, settings: Policy`)
}

// A team's policy for all queues, of a higher priority, silently replaces the
// one that holds the settings of the work queue. Every key that is not in force is told, with the
// policy that wins and its priority; nothing is done to it, and all is well
// when it goes. Field case D1.
func TestD1AStrayPolicyOfAHigherPriority(t *testing.T) {
	t.Parallel()
	forEachBroker(t, func(t *testing.T, w *tenant) {
		w.apply(inPolicy("billing"))
		w.awaitSettled("rsub/billing")
		w.putPolicy("team", ".*", 200, map[string]any{"dead-letter-exchange": "team.dlx"})
		before := w.onBroker()

		wins := ` RabbitMQ applies one policy to a queue, and policy "team" (priority 200) wins over policy "warren.` + w.namespace + `.billing" (priority 100): give it a lower priority, or have its pattern leave queue "billing" out.`
		entry := func(field, desired, observed string, impact v1alpha1.Impact, consequence string) v1alpha1.DriftEntry {
			return v1alpha1.DriftEntry{Object: `queue "billing"`, Field: field, Desired: desired, Observed: observed, Impact: impact, Remedy: consequence + wins}
		}
		w.awaitDrift("billing",
			entry("x-dead-letter-exchange", "billing.dead", "team.dlx", unsafe, leadsElsewhere),
			entry("x-dead-letter-strategy", "at-least-once", "none", unsafe, atMostOnceInForce),
			entry("x-overflow", "reject-publish", "none", unsafe, atMostOnceInForce),
			entry("x-delivery-limit", "7", "none", tolerable, "the broker's default of 20 is in force."))
		unproved := `a message over the delivery limit reaches no queue, in place of "billing.parking", a message that expires in the work queue reaches no queue, in place of "billing.parking", a rejected message reaches no queue, in place of "billing.parking"`
		stalledBy := `x-dead-letter-exchange of queue "billing" is team.dlx, wanted billing.dead: ` + leadsElsewhere + wins
		w.awaitExactly("rsub/billing",
			expected{v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonNoRoute, unproved},
			expected{v1alpha1.ConditionEstablished, metav1.ConditionFalse, v1alpha1.ReasonNoRoute, unproved},
			expected{v1alpha1.ConditionInSync, metav1.ConditionFalse, override,
				`overridden by policy "team" (priority 200); unsafe: x-dead-letter-exchange of queue "billing" is team.dlx, wanted billing.dead, x-dead-letter-strategy of queue "billing" is none, wanted at-least-once, x-overflow of queue "billing" is none, wanted reject-publish; and 1 tolerable; status.drift says what to do`},
			expected{v1alpha1.ConditionStalled, metav1.ConditionTrue, override, stalledBy})
		w.awaitEvent("rsub/billing", override, stalledBy)
		w.staysUntouched(before)

		w.deletePolicy("team")
		gone := time.Now()
		w.awaitReady("rsub/billing")
		w.took("Ready after the policy went", gone, 3*time.Second)
		w.awaitExactly("rsub/billing", asDeclared)
		w.awaitDrift("billing")
		w.awaitEvent("rsub/billing", v1alpha1.ReasonAsDeclared, asDeclared.Message)
	})
}

// A policy may break the pair of strategy and overflow without touching the
// dead-letter exchange: the API goes on showing at-least-once. Field case A6.
func TestA6APolicyBreaksAtLeastOnce(t *testing.T) {
	t.Parallel()
	forEachBroker(t, func(t *testing.T, w *tenant) {
		w.apply(inPolicy("billing"))
		w.awaitSettled("rsub/billing")
		w.putPolicy("team", "^billing$", 101, map[string]any{
			"dead-letter-exchange": "billing.dead", "dead-letter-strategy": "at-least-once", "overflow": "drop-head", "delivery-limit": 7})
		before := w.onBroker()

		const differs = `x-overflow of queue "billing" is drop-head, wanted reject-publish`
		unsafeDrift := `overridden by policy "team" (priority 101); unsafe: ` + differs + "; status.drift says what to do"
		w.awaitExactly("rsub/billing",
			expected{v1alpha1.ConditionEstablished, metav1.ConditionTrue, v1alpha1.ReasonAllRoutesProved, "8 objects are there and 6 routes were proved over the bindings read back"},
			expected{v1alpha1.ConditionReady, metav1.ConditionFalse, override, unsafeDrift},
			expected{v1alpha1.ConditionInSync, metav1.ConditionFalse, override, unsafeDrift})
		remedy := atMostOnceInForce + ` RabbitMQ applies one policy to a queue, and policy "team" (priority 101) wins over policy "warren.` + w.namespace + `.billing" (priority 100): give it a lower priority, or have its pattern leave queue "billing" out.`
		w.awaitDrift("billing", v1alpha1.DriftEntry{Object: `queue "billing"`, Field: "x-overflow", Desired: "reject-publish", Observed: "drop-head", Impact: unsafe, Remedy: remedy})
		w.awaitEvent("rsub/billing", override, differs+": "+remedy)
		w.staysUntouched(before)

		w.deletePolicy("team")
		w.awaitReady("rsub/billing")
		w.awaitExactly("rsub/billing", asDeclared)
	})
}

// In sync means that the effective value was read back. Our own policy that
// somebody changes is set again; an operator policy that limits it is named, and left. Field case D2.
func TestD2TheDeliveryLimitThatIsInForce(t *testing.T) {
	t.Parallel()
	forEachBroker(t, func(t *testing.T, w *tenant) {
		w.apply(inPolicy("billing"))
		w.awaitSettled("rsub/billing")
		own := "warren." + w.namespace + ".billing"
		ours := w.onBroker()[`policy "`+own+`"`]

		w.putPolicy(own, "^billing$", 100, map[string]any{"delivery-limit": 3})
		w.awaitEvent("rsub/billing", "Restored", `set again, since it had been changed on the broker: policy "`+own+`"`)
		w.awaitReady("rsub/billing")
		w.awaitLimit("billing", 7)
		if now := w.onBroker()[`policy "`+own+`"`]; len(now) != len(ours) || now["delivery-limit"] != ours["delivery-limit"] {
			t.Errorf("our policy is %v, want it as it was: %v", now, ours)
		}

		w.putOperatorPolicy("cap", "^billing$", map[string]any{"delivery-limit": 2})
		before := w.onBroker()
		consequence := "a message parks after 3 crashes or requeues in one stay in the queue."
		if w.on43() {
			consequence = "a message parks after 2 crashes, requeues and returns."
		}
		const differs = `overridden by operator policy "cap" (priority 0); tolerable: x-delivery-limit of queue "billing" is 2, wanted 7; status.drift says what to do`
		w.awaitExactly("rsub/billing",
			expected{v1alpha1.ConditionInSync, metav1.ConditionFalse, override, differs},
			expected{v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonReliable, "established, in force, nothing unsafe"},
			expected{v1alpha1.ConditionStalled, metav1.ConditionFalse, v1alpha1.ReasonHelpsItself, helpsItselfMessage})
		w.awaitDrift("billing", v1alpha1.DriftEntry{Object: `queue "billing"`, Field: "x-delivery-limit", Desired: "7", Observed: "2", Impact: tolerable,
			Remedy: consequence + ` Take delivery-limit out of operator policy "cap" (priority 0), or have its pattern leave queue "billing" out.`})
		w.awaitLimit("billing", 2)
		w.awaitEvent("rsub/billing", override, differs)
		w.staysUntouched(before)

		w.deleteOperatorPolicy("cap")
		w.awaitExactly("rsub/billing", asDeclared)
		w.awaitLimit("billing", 7)
	})
}

// Where both argument and policy name a dead-letter exchange the argument is
// in force, and there is nothing to report: a rejected message still parks. Field case D4.
func TestD4AnArgumentBeatsAPolicy(t *testing.T) {
	t.Parallel()
	forEachBroker(t, func(t *testing.T, w *tenant) {
		w.apply(subscriptionManifest("billing", `workQueue: {name: billing}, retry: {immediate: {}}`))
		w.awaitSettled("rsub/billing")
		w.putPolicy("team", "^billing", 200, map[string]any{"dead-letter-exchange": "team.dlx", "dead-letter-strategy": "at-most-once", "overflow": "drop-head"})
		before := w.onBroker()
		w.staysUntouched(before)
		w.awaitExactly("rsub/billing", asDeclared)
		w.awaitReady("rsub/billing")

		app := w.application()
		amqptest.Publish(t, app, "", "billing", amqptest.Message("rejected"))
		amqptest.Consume(t, app, "billing", amqptest.InTurn(amqptest.Reject))
		if parked := amqptest.Take(t, app, "billing.parking", 1)[0]; parked.MessageId != "rejected" {
			t.Errorf("parked %s, want the message that was rejected", parked)
		}
	})
}
