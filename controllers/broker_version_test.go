package controllers_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/warren-mq/warren/api/v1alpha1"
	"github.com/warren-mq/warren/controllers"
	"github.com/warren-mq/warren/internal/broker"
	"github.com/warren-mq/warren/internal/topology"
)

// emptyBroker is a broker of a chosen version that has nothing: no real one
// of an unsupported version is to be had for tests.
type emptyBroker struct {
	// Session is nil: what is not written out below must not be called.
	controllers.Session

	mutex    sync.Mutex
	version  topology.Version
	declares int
}

func (b *emptyBroker) Observe(context.Context, broker.ObserveOptions) (*broker.Observation, error) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	seen := &topology.Snapshot{TakenAt: time.Now(), Broker: b.version}
	seen.Bindings = topology.NewBindings(nil)
	return &broker.Observation{Info: broker.Info{Version: b.version, ClusterName: "old"}, Snapshot: seen}, nil
}

func (b *emptyBroker) Declare(context.Context, []topology.Object) error {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	b.declares++
	return nil
}

func (b *emptyBroker) upgrade(to topology.Version) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	b.version = to
}

func (*emptyBroker) Close() {}

func (b *emptyBroker) session(broker.Config) controllers.Session { return b }

// A broker that is too old is told as such, on the Broker and on what wants to
// live on it, and nothing is declared on it. An upgrade heals it.
func TestABrokerThatIsTooOld(t *testing.T) {
	old := &emptyBroker{version: topology.Version{Major: 3, Minor: 13, Patch: 7}}
	w := newWorld(t, old.session)
	w.createBroker(broker.Config{AMQPURL: "amqp://old.example:5672", ManagementURL: "http://old.example:15672", Vhost: "/", Username: "u", Password: "p"})
	var b v1alpha1.Broker
	b.Name, b.Namespace = "main", w.namespace
	orders, sub := topic("orders"), subscription("billing")
	w.create(orders)
	w.create(sub)

	const message = "the broker is RabbitMQ 3.13.7 and Warren needs 4.0 or newer: upgrade the broker; nothing is declared on it"
	ready := w.awaitCondition(&b, v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonUnsupportedVersion)
	assertMessage(t, ready, message)
	w.awaitCondition(&b, v1alpha1.ConditionResourceAlarm, metav1.ConditionUnknown, v1alpha1.ReasonUnsupportedVersion)
	onIt := fmt.Sprintf("Broker %s/main: %s", w.namespace, message)
	assertMessage(t, w.awaitCondition(orders, v1alpha1.ConditionDeclared, metav1.ConditionFalse, v1alpha1.ReasonUnsupportedByBroker), onIt)
	assertMessage(t, w.awaitCondition(sub, v1alpha1.ConditionEstablished, metav1.ConditionFalse, v1alpha1.ReasonUnsupportedByBroker), onIt)
	assertMessage(t, w.awaitCondition(sub, v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonUnsupportedByBroker), onIt)
	w.awaitCondition(sub, v1alpha1.ConditionStalled, metav1.ConditionTrue, v1alpha1.ReasonUnsupportedByBroker)
	w.awaitCondition(sub, v1alpha1.ConditionInSync, metav1.ConditionUnknown, v1alpha1.ReasonUnsupportedByBroker)
	if old.declares != 0 {
		t.Errorf("%d declares were sent to a broker that is not supported, want none", old.declares)
	}

	old.upgrade(topology.Version{Major: 4, Minor: 0, Patch: 5})
	assertMessage(t, w.awaitCondition(&b, v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonConnected), `RabbitMQ 4.0.5, cluster "old", vhost "/"`)
}

func assertMessage(t *testing.T, c metav1.Condition, want string) {
	t.Helper()
	if c.Message != want {
		t.Errorf("condition %s says %q, want %q", c.Type, c.Message, want)
	}
}
