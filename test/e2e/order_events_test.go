package e2e

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/warren-mq/warren/hack/localenv"
)

// A pod that can never go is told what to mend.
func TestAPodIsToldWhatItsAnnotationsLack(t *testing.T) {
	t.Parallel()
	w := newOrderTenant(t, localenv.Broker(t, localenv.Series43))
	for i, c := range []struct {
		waits waitsFor
		note  string
	}{
		{forNothing, "the pod has the scheduling gate warren.dev/topology and does not say what it waits for: add the annotation warren.dev/await-topics (or warren.dev/await-subscriptions), names with commas between; in a Deployment it belongs to spec.template.metadata.annotations"},
		{waitsFor(`{warren.dev/await-topics: "orders", warren.dev/await-subscription: "nix"}`), "annotation warren.dev/await-subscription is not known: correct it to warren.dev/await-topics or warren.dev/await-subscriptions"},
		{forTopics(" , "), "does not say what it waits for"},
		{forTopics("a/b/c"), `annotation warren.dev/await-topics: "a/b/c" is neither NAME nor NAMESPACE/NAME`},
		{forTopics("Orders"), `"Orders" is neither NAME nor NAMESPACE/NAME`},
		{forSubscriptions("elsewhere/billing"), "annotation warren.dev/await-subscriptions names elsewhere/billing, and a pod can await subscriptions of its own namespace only: await the Topic that they hear"},
		{forTopics("n" + manyNames(64)), "the pod awaits 65 topics and subscriptions, and 64 is the most"},
	} {
		name := fmt.Sprintf("unclear-%d", i)
		w.apply(pod(name, c.waits))
		w.awaitEvent("pod/"+name, "TopologyUnclear", c.note)
	}
	w.mustKubectl("annotate", "pod/unclear-0", "-n", w.namespace, "warren.dev/await-subscriptions=nobody")
	w.awaitEvent("pod/unclear-0", "WaitingForTopology",
		`waits for ReliableSubscription nobody (NotFound: does not exist in namespace "`+w.namespace+`": create it, or correct the annotation)`)
}

func manyNames(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, ",n%d", i)
	}
	return b.String()
}

// What a pod waits for is told once, and again when it changes; what is odd
// about a topic that is open, when the pod goes.
func TestAPodIsToldWhatItWaitsFor(t *testing.T) {
	t.Parallel()
	w := newOrderTenant(t, localenv.Broker(t, localenv.Series43))
	w.apply(pod("web-shop", forTopics("orders, invoices")))
	w.awaitEvent("pod/web-shop", "WaitingForTopology",
		`waits for Topic orders (TopicNotDeclared: Topic "orders" does not exist in namespace "`+w.namespace+`": create it, or correct the reference), Topic invoices (TopicNotDeclared`)
	w.apply(orderedTopic + topicOn("invoices", "main"))
	w.awaitEvent("pod/web-shop", "WaitingForTopology",
		fmt.Sprintf("waits for Topic orders (SubscriptionsNotEstablished: 2 of 2 subscriptions are not established: %s/billing (NotFound), %[1]s/shipping (NotFound))", w.namespace))
	w.apply(hearsOrders("billing"))
	w.awaitEvent("pod/web-shop", "WaitingForTopology",
		fmt.Sprintf("waits for Topic orders (SubscriptionsNotEstablished: 1 of 2 subscriptions are not established: %s/shipping (NotFound))", w.namespace))
	w.awaitPods("web-shop", 1, isWaiting)

	w.mustKubectl("annotate", "topic/orders", "-n", w.namespace, "warren.dev/force-open=true")
	w.awaitPods("web-shop", 1, hasStarted)
	w.awaitEvent("pod/web-shop", "TopologyReady", "scheduled from now on, since what it awaits is ready: Topic orders, Topic invoices; "+
		"Topic orders: open only because of its annotation warren.dev/force-open; "+
		"Topic invoices: open for publishing: no subscription names this topic, and none is required: list requiredSubscriptions for the topic to wait for somebody")
	seen := map[string]bool{}
	for _, note := range w.eventNotes("pod/web-shop", "WaitingForTopology") {
		if seen[note] {
			t.Errorf("the pod was told twice: %s", note)
		}
		seen[note] = true
	}
}

// A topic of another namespace that does not exist and one that does not allow
// the pod's namespace read alike; of one that does, a pod is told no names.
func TestAPodAwaitsATopicOfAnotherNamespace(t *testing.T) {
	t.Parallel()
	broker := localenv.Broker(t, localenv.Series43)
	owner, guest := newOrderTenant(t, broker), newOrderTenant(t, broker)
	owner.apply(orderedTopic)
	guest.apply(pod("knows", forTopics(owner.namespace+"/orders")) + pod("guesses", forTopics(owner.namespace+"/secret")))
	for name, topic := range map[string]string{"knows": "orders", "guesses": "secret"} {
		guest.awaitEvent("pod/"+name, "WaitingForTopology", fmt.Sprintf(
			"waits for Topic %s/%s (NotAllowed: Topic %[1]s/%[2]s does not exist or does not allow namespace %[3]q: its owner can allow it in spec.allowedNamespaces)",
			owner.namespace, topic, guest.namespace))
	}
	owner.mustKubectl("patch", "topic/orders", "-n", owner.namespace, "--type=merge", `-p={"spec":{"allowedNamespaces":{"from":"All"}}}`)
	guest.awaitEvent("pod/knows", "WaitingForTopology", fmt.Sprintf(
		"waits for Topic %s/orders (SubscriptionsNotEstablished: not open for publishing; status of Topic %[1]s/orders says why)", owner.namespace))
	for _, note := range guest.eventNotes("pod/knows", "WaitingForTopology") {
		if strings.Contains(note, "billing") {
			t.Errorf("the pod's namespace is told of another namespace's subscription: %s", note)
		}
	}
	owner.apply(hearsOrders("billing") + hearsOrders("shipping"))
	guest.awaitPods("knows", 1, hasStarted)
	guest.awaitPods("guesses", 1, isWaiting)
}

// A pod that awaits several things goes when the last of them is there, and
// keeps the gates that are somebody else's.
func TestAPodAwaitsAllThatItNames(t *testing.T) {
	t.Parallel()
	w := newOrderTenant(t, localenv.Broker(t, localenv.Series43))
	both := strings.Replace(twoGates, "{warren.dev/await-topics: nowhere}", "{warren.dev/await-topics: orders, warren.dev/await-subscriptions: shipping}", 1)
	w.apply(strings.Replace(both, "labels: {", "labels: {app: two-gates, ", 1))
	w.apply(topicOn("orders", "main") + hearsOrders("billing"))
	w.awaitReady("topic/orders")
	w.awaitEvent("pod/two-gates", "WaitingForTopology", "waits for ReliableSubscription shipping (NotFound")
	w.apply(hearsOrders("shipping"))
	w.awaitPods("two-gates", 1, func(p corev1.Pod) error {
		if gates := p.Spec.SchedulingGates; len(gates) != 1 || gates[0].Name != "example.com/other" {
			return fmt.Errorf("the pod has gates %v, want the other one only", gates)
		}
		return nil
	})
	w.awaitEvent("pod/two-gates", "TopologyReady", "what it awaits is ready: Topic orders, ReliableSubscription shipping; still held by scheduling gate example.com/other")
}
