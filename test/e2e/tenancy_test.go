package e2e

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	amqp "github.com/rabbitmq/amqp091-go"
	corev1 "k8s.io/api/core/v1"

	"github.com/warren-mq/warren/api/v1alpha1"
	"github.com/warren-mq/warren/hack/localenv"
	"github.com/warren-mq/warren/internal/topology"
	"github.com/warren-mq/warren/test/amqptest"
)

// attempt is a try of a guest to take what is another namespace's by a field.
type attempt struct {
	kind, field, spec string
	// answer is the reason that it is refused with.
	answer string
}

// onShared begins the spec of what a guest makes on the Broker that he may use.
const onShared = "brokerRef: {namespace: OWNER, name: main}, "

// Kinds of attempts on the shared Broker: by subscriptions and by Topics.
func bySub(field, spec, answer string) attempt {
	return attempt{"ReliableSubscription", field, onShared + "retry: {immediate: {}}, " + spec, answer}
}

func byTopic(field, spec, answer string) attempt {
	return attempt{"Topic", field, onShared + spec, answer}
}

// by the guest's own Broker on the same vhost.
func byOwnBroker(field, spec, answer string) attempt {
	return attempt{"ReliableSubscription", field, "brokerRef: {name: own}, retry: {immediate: {}}, " + spec, answer}
}

const (
	notAllowed = v1alpha1.ReasonNotAllowed
	conflict   = v1alpha1.ReasonConflict
	notHis     = v1alpha1.ReasonNotOwned
)

var attempts = []attempt{
	{"ReliableSubscription", "brokerRef", "brokerRef: {namespace: OWNER, name: closed}", notAllowed},
	{"Topic", "brokerRef", "brokerRef: {namespace: OWNER, name: closed}", notAllowed},

	bySub("sources.topicRef", `sources: [{topicRef: {namespace: OWNER, name: orders}, routingKeys: ["#"]}]`, notAllowed),
	bySub("sources.exchange", `sources: [{exchange: orders, routingKeys: ["#"]}]`, notAllowed),
	bySub("sources.exchange", `sources: [{exchange: orders.unroutable}]`, notAllowed),
	bySub("sources.exchange", `sources: [{exchange: legacy, routingKeys: ["#"]}]`, notAllowed),
	bySub("sources.exchange", `sources: [{exchange: billing.park}]`, notAllowed),
	bySub("sources.exchange", `sources: [{exchange: billing.redrive}]`, notAllowed),
	bySub("sources.exchange", `sources: [{exchange: billing.return.1}]`, notAllowed),
	bySub("sources.exchange", `sources: [{exchange: billing.dead, headers: {a: b}, match: Any}]`, notAllowed),
	byOwnBroker("sources.exchange", `sources: [{exchange: orders, routingKeys: ["#"]}]`, notAllowed),
	byOwnBroker("sources.exchange", `sources: [{exchange: billing.redrive}]`, notAllowed),

	bySub("workQueue.name", `workQueue: {name: billing}`, conflict),
	bySub("workQueue.name", `workQueue: {name: billing}, settings: Policy`, conflict),
	bySub("workQueue.name", `workQueue: {name: billing}, adoptionPolicy: Adopt, deletionPolicy: Delete`, conflict),
	bySub("workQueue.name", `workQueue: {name: billing.parking}`, conflict),
	bySub("workQueue.name", `workQueue: {name: billing.wait.1.5s}`, conflict),
	bySub("workQueue.name", `workQueue: {name: orders.unroutable}`, conflict),
	bySub("workQueue.name", `workQueue: {name: audit}`, conflict), // audit.dead is a Topic's exchange
	bySub("workQueue.name", `workQueue: {name: theirs}`, notHis),
	byOwnBroker("acceptedOwners", `workQueue: {name: billing}, adoptionPolicy: Adopt`, conflict),
	bySub("parkingQueue.name", `parkingQueue: {name: billing}`, conflict),
	bySub("parkingQueue.name", `parkingQueue: {name: billing.parking}`, conflict),
	bySub("parkingQueue.name", `parkingQueue: {name: theirs}, adoptionPolicy: Adopt`, notHis),
	bySub("adoptionPolicy", `workQueue: {name: theirs}, adoptionPolicy: Adopt`, notHis),
	bySub("deletionPolicy", `workQueue: {name: theirs}, adoptionPolicy: Adopt, deletionPolicy: Delete`, notHis),

	byTopic("exchange", `exchange: orders`, conflict),
	byTopic("exchange", `exchange: billing.dead, type: headers`, conflict),
	byTopic("exchange", `exchange: billing.park, type: fanout`, conflict),
	byTopic("exchange", `exchange: legacy`, notHis),
	byTopic("exchange", `exchange: legacy, deletionPolicy: Delete`, notHis),
	byTopic("unroutable.queue", `unroutable: {queue: billing}`, conflict),
	byTopic("unroutable.queue", `unroutable: {queue: orders.unroutable}`, conflict),
	byTopic("unroutable.queue", `unroutable: {queue: theirs}, adoptionPolicy: Adopt`, notHis),
	byTopic("requiredSubscriptions", `exchange: GUEST.one, requiredSubscriptions: [OWNER/billing]`, v1alpha1.ReasonSubscriptionsNotReady),
	byTopic("requiredSubscriptions", `exchange: GUEST.two, requiredSubscriptions: [billing]`, v1alpha1.ReasonSubscriptionsNotReady),

	{"Redrive", "subscriptionRef", "subscriptionRef: {name: billing}", v1alpha1.ReasonSubscriptionNotFound},
	{"Redrive", "from", "subscriptionRef: {name: guest}, from: billing.parking", notHis},
	{"Redrive", "from", "subscriptionRef: {name: guest}, from: billing, action: Discard", notHis},
	{"Redrive", "from", "subscriptionRef: {name: guest}, from: theirs", notHis},

	{"Broker", "credentialsSecretRef", "amqp: {url: AMQP}, management: {url: HTTP}, credentialsSecretRef: {name: OWNER}", v1alpha1.ReasonSecretNotFound},
	{"Broker", "tls.caSecretRef", "amqp: {url: AMQP}, management: {url: HTTP}, credentialsSecretRef: {name: own}, tls: {caSecretRef: {name: OWNER}}", v1alpha1.ReasonSecretNotFound},
}

// Nobody gets at what is another namespace's by whatever a field holds. Each
// attempt is told why it is in vain, and nothing on the broker changes.
func TestTenantCannotTakeWhatIsAnothers(t *testing.T) {
	t.Parallel()
	owner, guest := sharedVhost(t)
	before := owner.onBroker()

	fill := strings.NewReplacer("OWNER", owner.namespace, "GUEST", guest.namespace, "AMQP", owner.vhost.Broker.AMQPURL(), "HTTP", owner.vhost.Broker.ManagementURL())
	var manifests strings.Builder
	for i, a := range attempts {
		fmt.Fprintf(&manifests, "\napiVersion: warren.dev/v1alpha1\nkind: %s\nmetadata: {name: attempt-%d, annotations: {%s: \"true\"}}\nspec: {%s}\n---",
			a.kind, i, v1alpha1.DeleteAdoptedAnnotation, fill.Replace(a.spec))
	}
	guest.apply(manifests.String())
	short := map[string]string{"ReliableSubscription": "rsub", "Topic": "topic", "Redrive": "redrive", "Broker": "broker"}
	table := []string{"field | attempt | answer"}
	for i, a := range attempts {
		resource := fmt.Sprintf("%s/attempt-%d", short[a.kind], i)
		answer := guest.awaitReason(resource, a)
		if strings.Contains(answer, owner.namespace+"/billing") && !strings.Contains(a.spec, "OWNER/billing") {
			t.Errorf("%s of %s: the answer names another namespace's resource: %s", a.field, a.kind, answer)
		}
		table = append(table, fmt.Sprintf("%s.%s | %s | %s", a.kind, a.field, a.spec, answer))
	}
	t.Log(strings.Join(table, "\n"))
	guest.mustKubectl("delete", "topic,rsub", "-n", guest.namespace, "--field-selector=metadata.name!=guest", "--wait=false")
	owner.stays(threeSyncs, func() error { return owner.untaken(before, guest.namespace) })
	owner.await("topic/orders", expected{v1alpha1.ConditionReady, "True", v1alpha1.ReasonNoSubscriptions, ""})
}

// sharedVhost is a Broker that a guest may use, with what its owner has on it,
// and the guest, who has an established subscription there and a Broker of his own besides.
func sharedVhost(t *testing.T) (owner, guest *tenant) {
	t.Helper()
	b := localenv.Broker(t, localenv.Series43)
	owner, guest = newTenant(t, b), newTenant(t, b)
	owner.declareExchange("legacy", amqp.ExchangeTopic)
	owner.declareQueue("theirs", amqp.Table{"x-queue-type": "quorum"})
	owner.allow("broker/main", "All")
	owner.apply(owner.brokerManifest("closed", "1s") + "---" + topicOn("legacy", "main") + subscriptionManifest("billing", `workQueue: {name: billing}`) + `
---
apiVersion: warren.dev/v1alpha1
kind: Topic
metadata: {name: orders}
spec: {brokerRef: {name: main}, unroutable: {}}
---` + strings.Replace(topicOn("audit", "main"), "spec: {", "spec: {exchange: audit.dead, ", 1))
	owner.awaitSettled("topic/orders", "topic/legacy", "topic/audit", "rsub/billing")

	own := *guest
	own.vhost = owner.vhost
	guest.apply(own.brokerManifest("own", "1s") + fmt.Sprintf("  acceptedOwners: [%q]\n---", guest.clusterID()) +
		strings.Replace(subscriptionManifest("guest", `retry: {immediate: {}}`), "{name: main}", reference(owner.namespace+"/main"), 1))
	guest.awaitSettled("broker/own", "rsub/guest")
	return owner, guest
}

// untaken: all that was there is there as it was, and what is new is the
// guest's and bound to nothing but what is his.
func (w *tenant) untaken(before map[string]topology.Arguments, guest string) error {
	now, err := w.tryOnBroker()
	if err != nil {
		return err
	}
	for object, arguments := range before {
		if diff := cmp.Diff(arguments, now[object]); diff != "" {
			return fmt.Errorf("%s was changed (-before +after):\n%s", object, diff)
		}
	}
	for object := range now {
		_, there := before[object]
		_, source, binding := strings.Cut(object, " to exchange ")
		if !there && (!strings.Contains(object, guest) || binding && !strings.Contains(source, guest)) {
			return fmt.Errorf("there is now %s", object)
		}
	}
	return nil
}

// allow sets whose resources may use something: "All", or "Same".
func (w *tenant) allow(resource, from string) {
	w.t.Helper()
	w.mustKubectl("patch", resource, "-n", w.namespace, "--type=merge", fmt.Sprintf(`-p={"spec":{"allowedNamespaces":{"from":%q,"selector":null}}}`, from))
}

// clusterID is the id that the operator gives itself by default.
func (w *tenant) clusterID() string {
	w.t.Helper()
	content, err := w.api.Get().AbsPath("api/v1/namespaces/kube-system").DoRaw(w.t.Context())
	w.must(err)
	var ns corev1.Namespace
	w.must(json.Unmarshal(content, &ns))
	return string(ns.UID)
}

// awaitReason waits until a condition says the reason that an attempt is
// refused with, and gives what it says. An attempt that is Ready has succeeded.
func (w *tenant) awaitReason(resource string, a attempt) (answer string) {
	w.t.Helper()
	amqptest.Eventually(w.t, within, func() error {
		var o object
		if err := w.read(resource, &o); err != nil {
			return err
		}
		for _, c := range o.Status.Conditions {
			if c.Type == v1alpha1.ConditionReady && c.Status == "True" {
				w.t.Errorf("%s %q is not refused: %s", a.field, a.spec, c.Message)
				return nil
			}
			if slices.Contains([]string{v1alpha1.ConditionReady, v1alpha1.ConditionProgressing, v1alpha1.ConditionFailed}, c.Type) && c.Reason == a.answer {
				answer = c.Reason + ": " + c.Message
				return nil
			}
		}
		return fmt.Errorf("%s, %s %q, says %v, want reason %s", resource, a.field, a.spec, o.Status.Conditions, a.answer)
	})
	return answer
}

// References to Secrets and subscriptions take no namespace at all.
func TestTenantCannotNameAnotherNamespace(t *testing.T) {
	t.Parallel()
	w := newTenant(t, localenv.Broker(t, localenv.Series43))
	for field, manifest := range map[string]string{
		"spec.subscriptionRef.namespace":      strings.Replace(redriveManifest("r", ""), "{name: billing}", "{name: billing, namespace: other}", 1),
		"spec.credentialsSecretRef.namespace": strings.Replace(w.brokerManifest("b", "1s"), "credentialsSecretRef: {", "credentialsSecretRef: {namespace: other, ", 1),
		"spec.tls.caSecretRef.namespace":      w.brokerManifest("b", "1s") + "  tls: {caSecretRef: {name: ca, namespace: other}}\n",
		"spec.tls.clientCertificateSecretRef.namespace": w.brokerManifest("b", "1s") +
			"  tls: {clientCertificateSecretRef: {name: ca, namespace: other}}\n",
	} {
		if out, err := w.tryApply(manifest); err == nil || !strings.Contains(out, fmt.Sprintf("unknown field %q", field)) {
			t.Errorf("the API server says %q (%v), want it to refuse %s", out, err, field)
		}
	}
}
