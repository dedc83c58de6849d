package e2e

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/warren-mq/warren/api/v1alpha1"
	"github.com/warren-mq/warren/test/amqptest"
)

// Dead letters that wait are destroyed with the policy that holds the
// dead-letter settings. While there are any, neither a spec that wants
// arguments nor one that wants at-most-once takes them out of our policy; what waits parks when the
// broker tries again, and then the policy follows the spec. Field case A8.
func TestA8APolicyStaysWhileDeadLettersWait(t *testing.T) {
	onStages(t, func(t *testing.T, s *stage) {
		spec := func(name, more string) string {
			return subscriptionManifest(name, `retry: {immediate: {}}, workQueue: {name: `+name+more)
		}
		s.establish(spec("once", `}, settings: Policy`)+spec("moved", `}, settings: Policy`), "once", "moved")
		s.rejectedWithoutAWay(t, "once", 1)
		s.rejectedWithoutAWay(t, "moved", 1)
		before := s.onBroker()
		policy := func(name string) string { return `policy "warren.` + s.namespace + "." + name + `"` }

		s.apply(spec("once", `, deadLetterStrategy: AtMostOnce}, settings: Policy`) + spec("moved", `}, settings: Arguments`))
		s.pause("once", false)
		s.pause("moved", false)
		s.awaitDrift("once", v1alpha1.DriftEntry{
			Object: `queue "once"`, Field: "x-dead-letter-strategy", Desired: "at-most-once", Observed: "at-least-once", Impact: tolerable,
			Remedy: "dead letters are moved at least once: slower than the spec says, and nothing is lost. Warren sets " + policy("once") + ` when no dead letter waits in queue "once" any more: those that wait would be lost with the change.`,
		})
		s.awaitExactly("rsub/once", expected{v1alpha1.ConditionInSync, metav1.ConditionFalse, override,
			`tolerable: x-dead-letter-strategy of queue "once" is at-least-once, wanted at-most-once; status.drift says what to do`})
		s.awaitExactly("rsub/moved", asDeclared)
		s.awaitThere(`binding of queue "once.parking" to exchange "once.park"`)
		s.awaitThere(`binding of queue "moved.parking" to exchange "moved.park"`)
		now := s.onBroker()
		for _, name := range []string{"once", "moved"} {
			if diff := cmp.Diff(before[policy(name)], now[policy(name)]); diff != "" {
				t.Errorf("%s was changed while a dead letter waits (-before +after):\n%s", policy(name), diff)
			}
		}

		for _, name := range []string{"once", "moved"} {
			parked := s.consume(name+".parking", amqptest.InTurn(amqptest.Ack))
			awaitBrokersRetry(t, parked, 1)
		}
		s.awaitExactly("rsub/once", asDeclared)
		if is := s.onBroker()[policy("once")]["dead-letter-strategy"]; is != "at-most-once" {
			t.Errorf("%s has dead-letter-strategy %v after all have parked, want at-most-once as the spec says", policy("once"), is)
		}
		if is := s.onBroker()[policy("moved")]["dead-letter-strategy"]; is != "at-least-once" {
			t.Errorf("%s has dead-letter-strategy %v, want it kept: the queue has no argument in its place", policy("moved"), is)
		}
	})
}
