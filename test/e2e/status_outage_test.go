package e2e

import (
	"context"
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/warren-mq/warren/api/v1alpha1"
	"github.com/warren-mq/warren/hack/localenv"
	"github.com/warren-mq/warren/test/amqptest"
)

// ownBroker is one that a test may stop, kill or block.
func ownBroker(t *testing.T, series localenv.Series) *localenv.RabbitMQ {
	t.Helper()
	return ownBrokerIn(t, t.TempDir(), series)
}

// ownBrokerIn has its data in a directory.
func ownBrokerIn(t *testing.T, dir string, series localenv.Series) *localenv.RabbitMQ {
	t.Helper()
	b, err := localenv.StartRabbitMQ(t.Context(), dir, series, localenv.RabbitMQOptions{})
	if err != nil {
		t.Fatalf("RabbitMQ %s: %v", series, err)
	}
	t.Cleanup(func() {
		// Killed first, since nobody needs its data.
		_ = b.Kill()
		_ = b.Stop()
	})
	return b
}

// While a broker is away nothing is known and nothing is claimed; when it is
// back everything is Ready again, by the same operator process. It makes no
// difference whether it was stopped or killed.
func TestABrokerGoesAndComesBack(t *testing.T) {
	t.Parallel()
	for _, series := range localenv.AllSeries() {
		t.Run(string(series), func(t *testing.T) {
			t.Parallel()
			b := ownBroker(t, series)
			w := newTenant(t, b)
			w.apply(topicOn("orders", "main") + billing(v1alpha1.AdoptionPolicyRefuse))
			w.awaitSettled("broker/main", "topic/orders", "rsub/billing")
			amqptest.Publish(t, w.application(), "billing.park", "order.placed", amqptest.Messages("parked", 2)...)
			w.awaitCounts("billing", counts{parked: known(2)})
			contract := w.subscription("billing").Status.Retry.Contract

			for _, end := range []struct {
				how string
				do  func() error
			}{{"stopped", b.Stop}, {"killed", b.Kill}} {
				if err := end.do(); err != nil {
					t.Fatal(err)
				}
				w.awaitUnreachable()
				if kept := w.subscription("billing").Status.Retry.Contract; kept != contract {
					t.Errorf("while the broker is %s, the contract is %q, want it kept as %q", end.how, kept, contract)
				}
				if err := b.Restart(t.Context()); err != nil {
					t.Fatal(err)
				}
				back := time.Now()
				w.awaitReady("broker/main")
				w.awaitReady("rsub/billing")
				w.took("Ready after the broker was "+end.how, back, twoSyncs)
				w.awaitSettled("broker/main", "topic/orders", "rsub/billing")
				w.awaitCounts("billing", counts{messages: known(0), parked: known(2)})
			}
			if !w.process.Running() {
				t.Error("the operator has ended")
			}
		})
	}
}

func (w *tenant) awaitUnreachable() {
	w.t.Helper()
	// Which of the two protocols is found to be away first is chance.
	const reason = v1alpha1.ReasonBrokerUnreachable
	unknown := func(kind string) expected { return expected{kind, metav1.ConditionUnknown, reason, ""} }
	w.await("broker/main",
		expected{v1alpha1.ConditionReady, metav1.ConditionFalse, reason, fmt.Sprintf("cannot reach AMQP at 127.0.0.1:%d: connection refused; check the address", w.vhost.Broker.AMQPPort)},
		unknown(v1alpha1.ConditionResourceAlarm))
	w.await("topic/orders", unknown(v1alpha1.ConditionDeclared), unknown(v1alpha1.ConditionReady))
	w.await("rsub/billing", append(blocked(metav1.ConditionUnknown, reason, "Broker "+w.namespace+"/main: ", helpsItself, unknown(v1alpha1.ConditionInSync)),
		unknown(v1alpha1.ConditionParkingBacklog),
		unknown(v1alpha1.ConditionUnconsumed),
		unknown(v1alpha1.ConditionDeadLetteringBlocked),
		unknown(v1alpha1.ConditionSpinning))...)
	w.assertNoCounts("billing")
}

// A memory alarm blocks publishers and nobody else: the Broker stays Ready,
// names the node, and what is new is still declared.
func TestAnAlarmIsNoReasonToStop(t *testing.T) {
	t.Parallel()
	b := ownBroker(t, localenv.Series43)
	w := newTenant(t, b)
	w.await("broker/main",
		expected{v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonConnected, ""},
		expected{v1alpha1.ConditionResourceAlarm, metav1.ConditionFalse, v1alpha1.ReasonNoAlarm, "no node has a memory or disk alarm"})
	w.setMemoryAlarm(true)
	var broker v1alpha1.Broker
	if err := w.read("broker/main", &broker); err != nil {
		t.Fatal(err)
	}
	node := broker.Status.Nodes[0].Name
	w.await("broker/main",
		expected{v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonConnected, ""},
		expected{v1alpha1.ConditionResourceAlarm, metav1.ConditionTrue, v1alpha1.ReasonPublishersBlocked,
			fmt.Sprintf("memory alarm on node %s: RabbitMQ blocks every publisher of the cluster until it has memory and disk again; declares go on", node)})

	w.apply(topicOn("orders", "main") + billing(v1alpha1.AdoptionPolicyRefuse))
	w.awaitReady("topic/orders")
	w.awaitReady("rsub/billing")
	w.setMemoryAlarm(false)
	w.await("broker/main", expected{v1alpha1.ConditionResourceAlarm, metav1.ConditionFalse, v1alpha1.ReasonNoAlarm, ""})
	w.awaitEvent("broker/main", v1alpha1.ReasonPublishersBlocked, "memory alarm on node "+node)
	w.awaitEvent("broker/main", v1alpha1.ReasonNoAlarm, "no node has a memory or disk alarm")
}

func (w *tenant) setMemoryAlarm(raised bool) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), 3*within) // rabbitmqctl is slow to start
	defer cancel()
	if err := w.vhost.Broker.SetMemoryAlarm(ctx, raised); err != nil {
		w.t.Fatal(err)
	}
}

// A changed password needs no restart: Ready is back within two sync periods
// of the moment in which RabbitMQ and the Secret agree again, whichever of them
// came first. A reading under way with the old password ends before: RabbitMQ
// lets whoever comes with a wrong one wait for 3 s.
func TestAPasswordIsRotated(t *testing.T) {
	t.Parallel()
	forEachBroker(t, func(t *testing.T, w *tenant) {
		w.apply(topicOn("orders", "main") + billing(v1alpha1.AdoptionPolicyRefuse))
		w.awaitReady("rsub/billing")
		user := w.vhost.Operator
		onBroker := func() {
			if err := w.vhost.Broker.CreateUser(t.Context(), user.Name, user.Password, "policymaker", "monitoring"); err != nil {
				t.Fatal(err)
			}
		}
		inSecret := func() {
			a := w.access()
			a.secret = credentials(user)
			w.apply(a.secretManifest("main"))
		}
		for i, steps := range [][2]func(){{onBroker, inSecret}, {inSecret, onBroker}} {
			user.Password = fmt.Sprintf("n3w/p@ss:%d-%s", i, w.namespace)
			steps[0]()
			w.await("broker/main", expected{v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonBadCredentials,
				fmt.Sprintf("does not accept user %q with this password; correct the username or the password", user.Name)})
			w.await("rsub/billing", expected{v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonBadCredentials, ""})
			steps[1]()
			agreed := time.Now()
			w.awaitReady("broker/main")
			w.awaitReady("rsub/billing")
			w.took("Ready", agreed, twoSyncs+3*time.Second)
			w.assertNoSecretShown(user)
		}
	})
}
