package e2e

import (
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/warren-mq/warren/api/v1alpha1"
	"github.com/warren-mq/warren/hack/localenv"
	"github.com/warren-mq/warren/test/amqptest"
)

// What is granted by labels is judged again when they change, and by whatever
// name a subscription hears a Topic. A grant that is withdrawn unbinds; one that is given back binds.
func TestAGrantIsWithdrawnAndGivenBack(t *testing.T) {
	t.Parallel()
	b := localenv.Broker(t, localenv.Series43)
	owner, guest := newTenant(t, b), newTenant(t, b)
	owner.mustKubectl("patch", "broker/main", "-n", owner.namespace, "--type=merge",
		`-p={"spec":{"allowedNamespaces":{"from":"Selector","selector":{"matchLabels":{"guest":"yes"}}}}}`)
	owner.apply(topicOn("orders", "main"))
	owner.allow("topic/orders", "All")
	owner.awaitReady("topic/orders")
	guest.label("guest=yes")
	on := owner.namespace + "/main"
	guest.apply(subscriptionTo("by-ref", on, owner.namespace+"/orders") + fmt.Sprintf(`
apiVersion: warren.dev/v1alpha1
kind: ReliableSubscription
metadata: {name: by-name}
spec: {brokerRef: %s, sources: [{exchange: orders, routingKeys: ["#"]}]}
---`, reference(on)))
	both := []string{"rsub/by-ref", "rsub/by-name"}
	guest.awaitSettled(both...)

	isNotAllowed := expected{v1alpha1.ConditionEstablished, metav1.ConditionFalse, v1alpha1.ReasonNotAllowed, ""}
	bindings := []string{
		fmt.Sprintf(`binding of queue %q to exchange "orders" with key "#"`, guest.namespace+".by-ref"),
		fmt.Sprintf(`binding of queue %q to exchange "orders" with key "#"`, guest.namespace+".by-name"),
	}
	for _, grant := range []struct {
		name           string
		withdraw, give func()
		unbinds        bool
	}{
		{"a namespace's label", func() { guest.label("guest-") }, func() { guest.label("guest=yes") }, false},
		{"the Topic's allowedNamespaces", func() { owner.allow("topic/orders", "Same") }, func() { owner.allow("topic/orders", "All") }, true},
		{"the Broker's allowedNamespaces", func() { owner.allow("broker/main", "Same") }, func() { owner.allow("broker/main", "All") }, false},
	} {
		t.Log(grant.name)
		grant.withdraw()
		for _, resource := range both {
			guest.await(resource, isNotAllowed)
		}
		if grant.unbinds {
			owner.awaitNoneOf(bindings...)
		}
		grant.give()
		guest.awaitSettled(both...)
		owner.assertThere(bindings...)
	}
}

// awaitNoneOf waits until the broker has none of these.
func (w *tenant) awaitNoneOf(names ...string) {
	w.t.Helper()
	amqptest.Eventually(w.t, within, func() error {
		objects, err := w.tryOnBroker()
		for _, name := range names {
			if _, there := objects[name]; err == nil && there {
				err = fmt.Errorf("the broker still has %s", name)
			}
		}
		return err
	})
}

// label changes a label of the tenant's namespace: "key=value", or "key-".
func (w *tenant) label(change string) {
	w.t.Helper()
	w.mustKubectl("label", "namespace", w.namespace, change)
}

// With spec.naming a namespace can give no name but its own, be it the first
// to ask; the Broker says how well its tenants are kept apart.
func TestNamingKeepsTenantsApart(t *testing.T) {
	t.Parallel()
	b := localenv.Broker(t, localenv.Series43)
	owner, guest := newTenant(t, b), newTenant(t, b)
	isolated := func(status metav1.ConditionStatus, reason, message string) {
		t.Helper()
		owner.await("broker/main", expected{v1alpha1.ConditionNamesIsolated, status, reason, message})
	}
	isolated(metav1.ConditionTrue, v1alpha1.ReasonOwnNamespaceOnly, "only the Broker's own namespace may use it")
	owner.allow("broker/main", "All")
	isolated(metav1.ConditionFalse, v1alpha1.ReasonNoNaming, `spec.allowedNamespaces is All and there is no spec.naming: a namespace can name a queue or exchange as another one would, and whoever is first has it; set spec.naming`)
	owner.name(`{namespace}.*`)
	isolated(metav1.ConditionFalse, v1alpha1.ReasonNamingOverlaps, `lets two namespaces have one name: "aa" fits namespace "a" and another one`)
	owner.name(`{namespace}\..+`)
	isolated(metav1.ConditionTrue, v1alpha1.ReasonNamingEnforced, "no name fits two namespaces")
	guest.apply(owner.brokerManifest("side", "1s"))
	onVhost := fmt.Sprintf(" is on the same vhost (%q of RabbitMQ cluster", owner.vhost.Name)
	isolated(metav1.ConditionFalse, v1alpha1.ReasonSharedVhost, "a Broker of another namespace"+onVhost)
	guest.allow("broker/side", "All")
	isolated(metav1.ConditionFalse, v1alpha1.ReasonSharedVhost, fmt.Sprintf(`Broker "%s/side"%s`, guest.namespace, onVhost))
	guest.nameOn("side", `{namespace}\..+`)
	isolated(metav1.ConditionTrue, v1alpha1.ReasonNamingEnforced, "no name fits two namespaces")

	on := reference(owner.namespace + "/main")
	squat := owner.namespace + ".billing"
	guest.apply(fmt.Sprintf(`
apiVersion: warren.dev/v1alpha1
kind: ReliableSubscription
metadata: {name: squatter}
spec: {brokerRef: %[1]s, workQueue: {name: %[2]s}}
---
apiVersion: warren.dev/v1alpha1
kind: ReliableSubscription
metadata: {name: parker}
spec: {brokerRef: %[1]s, parkingQueue: {name: %[2]s}}
---
apiVersion: warren.dev/v1alpha1
kind: Topic
metadata: {name: orders}
spec: {brokerRef: %[1]s}
---
apiVersion: warren.dev/v1alpha1
kind: Topic
metadata: {name: catcher}
spec: {brokerRef: %[1]s, exchange: %[3]s.catcher, unroutable: {queue: %[2]s}}
---`, on, squat, guest.namespace))
	doesNotFit := func(object, fields string) string {
		return fmt.Sprintf(`%s does not fit the Broker's spec.naming, '{namespace}\..+', with %q for {namespace}: give it a name that does (%s)`, object, guest.namespace, fields)
	}
	const ofSub, ofTopic = "spec.workQueue.name, spec.parkingQueue.name", "spec.exchange, spec.unroutable.queue"
	for resource, message := range map[string]string{
		"rsub/squatter": doesNotFit(fmt.Sprintf("queue %q", squat), ofSub),
		"rsub/parker":   doesNotFit(fmt.Sprintf("queue %q", squat), ofSub),
		"topic/orders":  doesNotFit(`exchange "orders"`, ofTopic),
		"topic/catcher": doesNotFit(fmt.Sprintf("exchange %q", squat), ofTopic),
	} {
		guest.await(resource, expected{v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonNotAllowed, message})
	}
	owner.apply(subscriptionManifest("billing", `retry: {immediate: {}}`))
	owner.awaitReady("rsub/billing")
	guest.apply(fmt.Sprintf("\napiVersion: warren.dev/v1alpha1\nkind: ReliableSubscription\nmetadata: {name: by-default}\nspec: {brokerRef: %s}\n", on))
	guest.awaitReady("rsub/by-default")
}

// name sets the Broker's spec.naming.
func (w *tenant) name(pattern string) {
	w.t.Helper()
	w.nameOn("main", pattern)
}

func (w *tenant) nameOn(broker, pattern string) {
	w.t.Helper()
	w.mustKubectl("patch", "broker/"+broker, "-n", w.namespace, "--type=merge", fmt.Sprintf(`-p={"spec":{"naming":%q}}`, pattern))
}
