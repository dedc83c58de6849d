package e2e

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/warren-mq/warren/api/v1alpha1"
	"github.com/warren-mq/warren/hack/localenv"
	"github.com/warren-mq/warren/test/amqptest"
)

// What nobody is bound to is caught with spec.unroutable, and UnroutableBacklog tells.
func TestUnroutableMessagesAreCaughtAndTold(t *testing.T) {
	t.Parallel()
	forEachBroker(t, func(t *testing.T, w *tenant) {
		w.apply(`
apiVersion: warren.dev/v1alpha1
kind: Topic
metadata: {name: orders}
spec: {brokerRef: {name: main}, unroutable: {backlogThreshold: 2}}
---` + topicOn("plain", "main") + subscriptionWith("billing", `{topicRef: {name: orders}, routingKeys: [order.placed]}`))
		w.awaitReady("rsub/billing")
		is := func(status metav1.ConditionStatus, reason, message string) {
			t.Helper()
			w.await("topic/orders", expected{v1alpha1.ConditionUnroutableBacklog, status, reason, message})
			w.awaitReady("topic/orders") // it stays open
		}
		is(metav1.ConditionFalse, v1alpha1.ReasonEmpty, `queue "orders.unroutable" is empty`)
		app := w.application()
		amqptest.Publish(t, app, "orders", "order.placed", amqptest.Message("heard"))
		amqptest.Publish(t, app, "orders", "order.plcaed", amqptest.Message("typo"))
		is(metav1.ConditionFalse, v1alpha1.ReasonBelowThreshold, `queue "orders.unroutable" holds 1 message (threshold 2)`)
		amqptest.Publish(t, app, "orders", "order.plcaed", amqptest.Message("typo"))
		is(metav1.ConditionTrue, v1alpha1.ReasonBacklogReached,
			`queue "orders.unroutable" holds 2 messages with no other queue to go to (threshold 2): look at the routing keys, and bind who must hear them`)
		w.awaitEvent("topic/orders", v1alpha1.ConditionUnroutableBacklog, "holds 2 messages with no other queue to go to")

		caught := amqptest.Take(t, app, "orders.unroutable", 2)[0]
		if got, want := caught.MessageId+" "+caught.RoutingKey, "typo order.plcaed"; got != want {
			t.Errorf("caught %q, want %q", got, want)
		}
		amqptest.AwaitReady(t, app, "billing", 1)
		is(metav1.ConditionFalse, v1alpha1.ReasonEmpty, "")
		w.await("topic/plain", expected{v1alpha1.ConditionUnroutableBacklog, metav1.ConditionFalse, v1alpha1.ReasonNotConfigured,
			"spec.unroutable is not set: RabbitMQ drops what is published with a key that nobody is bound to"})
	})
}

// A Topic is closed until every subscription that it requires and every one
// that names it is established; it names who is missing, and can be forced open.
func TestATopicWaitsForItsSubscriptions(t *testing.T) {
	t.Parallel()
	w := newTenant(t, localenv.Broker(t, localenv.Series43))
	w.apply(`
apiVersion: warren.dev/v1alpha1
kind: Topic
metadata: {name: orders}
spec: {brokerRef: {name: main}, requiredSubscriptions: [billing, audit]}
---` + topicOn("quiet", "main"))
	is := func(status metav1.ConditionStatus, reason, message string, total, established int64) {
		t.Helper()
		w.await("topic/orders", expected{v1alpha1.ConditionReady, status, reason, message},
			expected{Type: v1alpha1.ConditionDeclared, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonDeclared, Message: `topic exchange "orders" is there`})
		if diff := cmp.Diff(&v1alpha1.TopicSubscriptions{Total: total, Established: established}, w.topic("orders").Status.Subscriptions); diff != "" {
			t.Errorf("status.subscriptions (-want +got):\n%s", diff)
		}
	}
	named := func(name, reason string) string { return fmt.Sprintf("%s/%s (%s)", w.namespace, name, reason) }
	closed := func(total, established int64, message string) {
		t.Helper()
		is(metav1.ConditionFalse, v1alpha1.ReasonSubscriptionsNotReady,
			fmt.Sprintf("%d of %d subscriptions are not established: %s", total-established, total, message), total, established)
	}
	hears := func(name string) string {
		return subscriptionWith(name, `{topicRef: {name: orders}, routingKeys: ["#"]}`)
	}

	closed(2, 0, named("audit", "NotFound")+", "+named("billing", "NotFound"))
	w.apply(hears("billing"))
	closed(2, 1, named("audit", "NotFound"))
	if diff := cmp.Diff([]v1alpha1.SubscriptionState{{Namespace: w.namespace, Name: "audit", Reason: "NotFound"}}, w.topic("orders").Status.NotEstablished); diff != "" {
		t.Errorf("status.notEstablished (-want +got):\n%s", diff)
	}

	w.mustKubectl("annotate", "topic/orders", "-n", w.namespace, v1alpha1.ForceOpenAnnotation+"=true")
	is(metav1.ConditionTrue, v1alpha1.ReasonForcedOpen,
		"open because of the annotation warren.dev/force-open, although 1 of 2 subscriptions are not established: "+named("audit", "NotFound"), 2, 1)
	w.awaitEvent("topic/orders", "ForcedOpen", "open because of the annotation warren.dev/force-open")
	w.mustKubectl("annotate", "topic/orders", "-n", w.namespace, v1alpha1.ForceOpenAnnotation+"-")
	closed(2, 1, named("audit", "NotFound"))

	w.apply(hears("audit"))
	is(metav1.ConditionTrue, v1alpha1.ReasonOpen, "open for publishing: 2 subscriptions established, none missing", 2, 2)
	w.apply(subscriptionWith("uninvited", `{topicRef: {name: orders}, headers: {a: b}}`))
	closed(3, 2, named("uninvited", v1alpha1.ReasonInvalidSource))
	w.mustKubectl("patch", "rsub/uninvited", "-n", w.namespace, "--type=merge", `-p={"spec":{"gating":"Ignored"}}`)
	is(metav1.ConditionTrue, v1alpha1.ReasonOpen, "open for publishing: 2 subscriptions established, none missing", 2, 2)

	w.await("topic/quiet", expected{v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonNoSubscriptions,
		"open for publishing: no subscription names this topic, and none is required: list requiredSubscriptions for the topic to wait for somebody"})
}

// Subscriptions of other namespaces count where the Topic lets them in, and
// nowhere else: nobody can hold another team's topic closed.
func TestATopicCountsWhomItAllows(t *testing.T) {
	t.Parallel()
	broker := localenv.Broker(t, localenv.Series43)
	owner, guest := newTenant(t, broker), newTenant(t, broker)
	owner.mustKubectl("patch", "broker/main", "-n", owner.namespace, "--type=merge", `-p={"spec":{"allowedNamespaces":{"from":"All"}}}`)
	owner.apply(topicOn("orders", "main"))
	guest.apply(subscriptionTo("billing", owner.namespace+"/main", owner.namespace+"/orders"))

	notAllowed := fmt.Sprintf("Topic %s/orders does not exist or does not allow namespace %q: its owner can allow it in spec.allowedNamespaces", owner.namespace, guest.namespace)
	guest.await("rsub/billing", expected{v1alpha1.ConditionEstablished, metav1.ConditionFalse, v1alpha1.ReasonNotAllowed, notAllowed})
	owner.await("topic/orders", expected{v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonNoSubscriptions, ""})
	owner.assertSubscriptions("orders", 0)

	owner.mustKubectl("patch", "topic/orders", "-n", owner.namespace, "--type=merge",
		`-p={"spec":{"allowedNamespaces":{"from":"Selector","selector":{"matchLabels":{"guest":"yes"}}}}}`)
	guest.stays(threeSyncs, func() error {
		return expected{v1alpha1.ConditionEstablished, metav1.ConditionFalse, v1alpha1.ReasonNotAllowed, notAllowed}.check(guest.object("rsub/billing"))
	})
	owner.assertSubscriptions("orders", 0)
	guest.mustKubectl("label", "namespace", guest.namespace, "guest=yes")
	guest.awaitReady("rsub/billing")
	owner.await("topic/orders", expected{v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonOpen, ""})
	owner.assertSubscriptions("orders", 1)
}

func (w *tenant) topic(name string) *v1alpha1.Topic {
	w.t.Helper()
	var topic v1alpha1.Topic
	if err := w.read("topic/"+name, &topic); err != nil {
		w.t.Fatal(err)
	}
	return &topic
}

func (w *tenant) object(resource string) object {
	w.t.Helper()
	var o object
	if err := w.read(resource, &o); err != nil {
		w.t.Fatal(err)
	}
	return o
}

func (w *tenant) assertSubscriptions(topic string, want int64) {
	w.t.Helper()
	if got := w.topic(topic).Status.Subscriptions; got.Total != want || got.Established != want {
		w.t.Errorf("status.subscriptions of %s is %+v, want %d of %[3]d", topic, *got, want)
	}
}
