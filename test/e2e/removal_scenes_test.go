package e2e

import (
	"fmt"
	"testing"

	amqp "github.com/rabbitmq/amqp091-go"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/warren-mq/warren/api/v1alpha1"
	"github.com/warren-mq/warren/hack/localenv"
	"github.com/warren-mq/warren/test/amqptest"
)

// What a scene's cells have in common.
var (
	kept     = cell{"all", "gone"}
	cleared  = cell{"nothing", "gone, Removed"}
	released = cell{"all", "gone, Released"}
)

// row has the cells of the policies that do something; Retain always keeps
// everything and waits for nothing.
func row(whenEmpty, deleted, topicDeleted cell) map[string]cell {
	return map[string]cell{subRetain: kept, subWhenEmpty: whenEmpty, subDelete: deleted, topicRetain: kept, topicDelete: topicDeleted}
}

func waits(broker, format string, args ...any) cell {
	return cell{broker, "waits: " + fmt.Sprintf(format, args...)}
}

var (
	only43 = []localenv.Series{localenv.Series43}
	// unbound: a topic's exchange goes before its queue.
	unbound = func(has string) cell {
		return waits("topic-delete.unroutable and exchanges", `queue "topic-delete.unroutable" has %s`, has)
	}
)

// removalScenes are states, each with what is to be left in it.
var removalScenes = map[string]struct {
	series []localenv.Series
	set    func(*testing.T, localenv.Series) *removalScene
	rows   []removalRow
}{
	"empty": {only43, usualRemovalScene, []removalRow{
		{"empty", (*removalScene).removeAll, row(cleared, cleared, cleared)},
	}},
	"ready": {only43, usualRemovalScene, []removalRow{
		{"ready", (*removalScene).removeWithMessages, row(
			waits("all but its source", `queue %q has 1 ready`, subWhenEmpty), cleared, unbound("1 ready"))},
		{"ready, then taken", (*removalScene).takeMessages, row(cleared, cleared, cleared)},
	}},
	"unacknowledged": {only43, usualRemovalScene, []removalRow{
		{"unacknowledged", (*removalScene).removeWhileHeld, row(
			waits("all but its source", `queue %q has 1 unacknowledged, 1 consumers`, subWhenEmpty), cleared, unbound("1 unacknowledged, 1 consumers"))},
	}},
	"stuck": {localenv.AllSeries(), usualRemovalScene, []removalRow{
		{"stuck in dead-lettering", (*removalScene).removeStuck, map[string]cell{subRetain: kept, subDelete: cleared,
			subWhenEmpty: waits("all but its source", `queue %q has 1 waiting to be dead-lettered`, subWhenEmpty)}},
		{"stuck, then abandoned", (*removalScene).abandon, map[string]cell{subRetain: kept, subDelete: cleared,
			subWhenEmpty: {"all but its source", "gone, Released"}}},
	}},
	"parked": {only43, usualRemovalScene, []removalRow{
		{"parked", (*removalScene).removeWithParked, map[string]cell{subRetain: kept, subDelete: cleared,
			subWhenEmpty: waits("sub-whenempty.parking and exchanges", `queue "sub-whenempty.parking" has 1 ready`)}},
	}},
	"bound": {only43, usualRemovalScene, []removalRow{
		{"bound by somebody", (*removalScene).removeBound, row(
			waits("all but its source", `queue %q still gets messages over the binding`, subWhenEmpty), cleared,
			waits("all", `exchange "topic-delete" has 1 bindings`))},
	}},
	"broker down": {only43, mortalRemovalScene, []removalRow{
		{"broker down", (*removalScene).removeWhileDown, map[string]cell{
			subRetain: {"", "gone"}, subWhenEmpty: waits("", "Broker "), subDelete: waits("", "Broker "),
			topicRetain: {"", "gone"}, topicDelete: waits("", "Broker ")}},
		{"broker down, then back", (*removalScene).bringBack, row(cleared, cleared, cleared)},
	}},
	"broker gone": {only43, usualRemovalScene, []removalRow{
		{"Broker resource gone", (*removalScene).removeWithoutBroker, row(released, released, released)},
	}},
	"secret gone": {only43, usualRemovalScene, []removalRow{
		{"Secret gone", (*removalScene).removeWithoutSecret, row(released, released, released)},
	}},
	"namespace": {only43, guestRemovalScene, []removalRow{
		{"namespace deleted", (*removalScene).removeNamespace, map[string]cell{
			subRetain: kept, topicRetain: kept, subDelete: {"nothing", "gone"}, topicDelete: {"nothing", "gone"},
			subWhenEmpty: {"sub-whenempty.parking and exchanges", "gone"}}},
	}},
	"restart": {only43, lonelyRemovalScene, []removalRow{
		{"operator killed half-way", (*removalScene).removeHalfWay, row(
			waits("all but its source", `queue %q has 1 ready`, subWhenEmpty), waits("all", "annotation warren.dev/paused"), unbound("1 ready"))},
		{"operator started again", (*removalScene).goOn, row(cleared, cleared, cleared)},
	}},
}

// mortalRemovalScene is on a broker that the scene ends.
func mortalRemovalScene(t *testing.T, series localenv.Series) *removalScene {
	w := newTenant(t, ownBroker(t, series))
	return (&stage{tenant: w, t: t, app: w.application()}).removalScene("{name: main}")
}

// guestRemovalScene is in a namespace that is deleted; its Broker is in another.
func guestRemovalScene(t *testing.T, series localenv.Series) *removalScene {
	home, guest := newOrderTenant(t, localenv.Broker(t, series)), newOrderTenant(t, localenv.Broker(t, series))
	home.apply(home.brokerManifest("main", "1s") + "  allowedNamespaces: {from: All}\n")
	home.awaitReady("broker/main")
	guest.vhost = home.vhost
	s := &stage{tenant: guest, t: t, app: guest.application()}
	return s.removalScene(fmt.Sprintf("{name: main, namespace: %s}", home.namespace))
}

// lonelyRemovalScene has an operator of its own.
func lonelyRemovalScene(t *testing.T, series localenv.Series) *removalScene {
	w := newTenantAlone(t, localenv.Broker(t, series))
	w.startHere()
	return (&stage{tenant: w, t: t, app: w.application()}).removalScene("{name: main}")
}

// queueOf is where a message comes to lie: a work queue, or what catches what no queue gets.
func queueOf(name string) string {
	if resourceOf(name) == "topic/"+name {
		return name + ".unroutable"
	}
	return name
}

func (s *removalScene) sendToAll() {
	for _, name := range removedAll {
		s.publish("", queueOf(name), amqptest.Message(name))
	}
}

func (s *removalScene) removeWithMessages() {
	s.sendToAll()
	s.removeAll()
}

func (s *removalScene) takeMessages() {
	amqptest.Take(s.t, s.app, subWhenEmpty, 1)
	amqptest.Take(s.t, s.app, queueOf(topicDelete), 1)
}

func (s *removalScene) removeWhileHeld() {
	s.sendToAll()
	for _, name := range removedAll {
		// A connection each: some end with their queue.
		amqptest.Consume(s.t, s.application(), queueOf(name), amqptest.InTurn(amqptest.Hang)).Await(s.t, 1)
	}
	s.removeAll()
}

// removeStuck pauses first: else Warren would repair the way.
func (s *removalScene) removeStuck() {
	for _, name := range removedSubs {
		s.rejectedWithoutAWay(s.t, name, 1)
		s.before[name] = objectsOf(s.onBroker(), name)
		s.remove(resourceOf(name))
	}
	for _, name := range []string{subWhenEmpty, subDelete} {
		s.pause(name, false)
	}
}

func (s *removalScene) abandon() {
	s.mustKubectl("annotate", "rsub/"+subWhenEmpty, "-n", s.namespace, v1alpha1.AbandonAnnotation+"=true")
}

func (s *removalScene) removeWithParked() {
	for _, name := range removedSubs {
		s.publish(name+".park", "order.placed", amqptest.Message("parked"))
		s.remove(resourceOf(name))
	}
}

// removeBound binds by hand what Warren would wait for.
func (s *removalScene) removeBound() {
	s.mustDo(s.t, func(c *amqp.Channel) error {
		return c.ExchangeDeclare("foreign", amqp.ExchangeFanout, true, false, false, false, nil)
	})
	s.queue(s.t, "hears")
	for _, name := range removedSubs {
		s.bind(s.t, name, "foreign", "")
	}
	for _, name := range removedTopics {
		s.bind(s.t, "hears", name, "#")
	}
	all := s.onBroker()
	for _, name := range removedAll {
		s.before[name] = objectsOf(all, name)
	}
	s.removeAll()
}

func (s *removalScene) removeWhileDown() {
	if err := s.vhost.Broker.Kill(); err != nil {
		s.t.Fatal(err)
	}
	s.silent = true
	s.await("broker/main", expected{v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonBrokerUnreachable, ""})
	s.removeAll()
}

func (s *removalScene) bringBack() {
	if err := s.vhost.Broker.Restart(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}
	s.silent = false
}

func (s *removalScene) removeWithoutBroker() {
	s.mustKubectl("delete", "broker/main", "-n", s.namespace)
	s.removeAll()
}

func (s *removalScene) removeWithoutSecret() {
	s.mustKubectl("delete", "secret/main", "-n", s.namespace)
	s.await("broker/main", expected{v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonSecretNotFound, ""})
	s.removeAll()
}

// removeNamespace lets one subscription wait, until it is let go after 30 s.
func (s *removalScene) removeNamespace() {
	s.publish(subWhenEmpty+".park", "order.placed", amqptest.Message("parked"))
	s.mustKubectl("delete", "namespace", s.namespace, "--wait=false")
	amqptest.Eventually(s.t, 2*within, func() error {
		err := s.api.Get().AbsPath("api/v1/namespaces", s.namespace).Do(s.t.Context()).Error()
		if apierrors.IsNotFound(err) {
			return nil
		}
		return fmt.Errorf("namespace %s is still there (error: %w)", s.namespace, err)
	})
}

// removeHalfWay kills the operator when it has begun, and holds it back where it would be done at once.
func (s *removalScene) removeHalfWay() {
	s.sendToAll()
	s.pause(subDelete, true)
	s.removeAll()
	for name, what := range map[string]string{subWhenEmpty: "has 1 ready", topicDelete: "has 1 ready", subDelete: "annotation"} {
		s.await(resourceOf(name), expected{v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonTerminating, what})
	}
	if err := s.process.Kill(); err != nil {
		s.t.Fatal(err)
	}
}

func (s *removalScene) goOn() {
	s.takeMessages()
	s.pause(subDelete, false)
	s.startHere()
}
