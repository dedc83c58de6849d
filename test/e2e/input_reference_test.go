package e2e

import (
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/warren-mq/warren/api/v1alpha1"
	"github.com/warren-mq/warren/hack/localenv"
	"github.com/warren-mq/warren/test/amqptest"
)

// subscriptionTo is a subscription to a Topic on a Broker; both may be "namespace/name".
func subscriptionTo(name, broker, topic string) string {
	return fmt.Sprintf(`
apiVersion: warren.dev/v1alpha1
kind: ReliableSubscription
metadata: {name: %s}
spec:
  brokerRef: %s
  sources: [{topicRef: %s, routingKeys: ["#"]}]
---`, name, reference(broker), reference(topic))
}

func topicOn(name, broker string) string {
	return fmt.Sprintf(`
apiVersion: warren.dev/v1alpha1
kind: Topic
metadata: {name: %s}
spec: {brokerRef: %s}
---`, name, reference(broker))
}

func reference(to string) string {
	if namespace, name, foreign := strings.Cut(to, "/"); foreign {
		return fmt.Sprintf("{namespace: %s, name: %s}", namespace, name)
	}
	return fmt.Sprintf("{name: %s}", to)
}

// A Broker that does not exist is awaited: the subscription says so, and
// becomes Ready when it comes.
func TestABrokerThatDoesNotExistYet(t *testing.T) {
	t.Parallel()
	w := newTenant(t, localenv.Broker(t, localenv.Series43))
	w.apply(topicOn("orders", "later") + subscriptionTo("billing", "later", "orders"))
	message := fmt.Sprintf(`Broker "later" does not exist in namespace %q: create it, or correct the reference`, w.namespace)
	w.await("topic/orders", expected{v1alpha1.ConditionDeclared, metav1.ConditionFalse, v1alpha1.ReasonBrokerNotFound, message})
	w.await("rsub/billing", blocked(metav1.ConditionFalse, v1alpha1.ReasonBrokerNotFound, message, helpsItself,
		expected{v1alpha1.ConditionInSync, metav1.ConditionUnknown, v1alpha1.ReasonBrokerNotFound, "nothing was compared"})...)

	w.apply(w.brokerManifest("later", "1s"))
	w.awaitReady("topic/orders")
	w.awaitReady("rsub/billing")
}

// A Topic that does not exist is awaited: everything but the binding is
// there, and the binding comes with the Topic. Field case E5.
func TestATopicThatDoesNotExistYet(t *testing.T) {
	t.Parallel()
	forEachBroker(t, func(t *testing.T, w *tenant) {
		w.apply(subscriptionTo("billing", "main", "later"))
		message := fmt.Sprintf(`Topic "later" does not exist in namespace %q: create it, or correct the reference`, w.namespace)
		w.await("rsub/billing", blocked(metav1.ConditionFalse, v1alpha1.ReasonTopicNotDeclared, message, helpsItself,
			expected{v1alpha1.ConditionInSync, metav1.ConditionFalse, v1alpha1.ReasonTopicNotDeclared, "not everything is declared and bound"})...)
		queue := w.namespace + ".billing"
		w.assertThere(`queue "`+queue+`"`, `queue "`+queue+`.parking"`, `exchange "`+queue+`.dead"`)

		w.apply(topicOn("later", "main"))
		w.awaitReady("rsub/billing")
		w.assertThere(fmt.Sprintf(`binding of queue %q to exchange "later" with key "#"`, queue))
	})
}

// What another namespace does not allow reads exactly like what does not
// exist there: nobody can find out names that way.
func TestWhatIsNotAllowedReadsLikeWhatDoesNotExist(t *testing.T) {
	t.Parallel()
	broker := localenv.Broker(t, localenv.Series43)
	owner, guest := newTenant(t, broker), newTenant(t, broker)
	owner.apply(topicOn("secret", "main"))
	owner.awaitReady("topic/secret")
	guest.apply(subscriptionTo("broker-there", owner.namespace+"/main", "orders") +
		subscriptionTo("broker-missing", owner.namespace+"/nope", "orders") +
		subscriptionTo("topic-there", "main", owner.namespace+"/secret") +
		subscriptionTo("topic-missing", "main", owner.namespace+"/nope") +
		topicOn("on-broker-there", owner.namespace+"/main") +
		topicOn("on-broker-missing", owner.namespace+"/nope"))

	said := func(kind, name string) string {
		return fmt.Sprintf("%s %s/%s does not exist or does not allow namespace %q: its owner can allow it in spec.allowedNamespaces",
			kind, owner.namespace, name, guest.namespace)
	}
	for _, c := range []struct{ name, message string }{
		{"broker-there", said("Broker", "main")},
		{"broker-missing", said("Broker", "nope")},
	} {
		guest.await("rsub/"+c.name, blocked(metav1.ConditionFalse, v1alpha1.ReasonNotAllowed, c.message, stalled,
			expected{v1alpha1.ConditionInSync, metav1.ConditionUnknown, v1alpha1.ReasonNotAllowed, "nothing was compared"})...)
		guest.await("topic/on-"+c.name, expected{v1alpha1.ConditionDeclared, metav1.ConditionFalse, v1alpha1.ReasonNotAllowed, c.message})
	}
	for _, c := range []struct{ name, message string }{
		{"topic-there", said("Topic", "secret")},
		{"topic-missing", said("Topic", "nope")},
	} {
		guest.await("rsub/"+c.name, blocked(metav1.ConditionFalse, v1alpha1.ReasonNotAllowed, c.message, stalled,
			expected{v1alpha1.ConditionInSync, metav1.ConditionFalse, v1alpha1.ReasonNotAllowed, "not everything is declared and bound"})...)
	}
	for _, pair := range [][2]string{{"broker-there", "broker-missing"}, {"topic-there", "topic-missing"}} {
		// Eventually: the counters of new queues come in one after the other.
		amqptest.Eventually(t, within, func() error {
			there, missing := guest.conditionsText(pair[0]), guest.conditionsText(pair[1])
			for _, name := range []string{"main", "secret", "nope"} {
				there, missing = strings.ReplaceAll(there, "/"+name, "/NAME"), strings.ReplaceAll(missing, "/"+name, "/NAME")
			}
			if there != missing {
				return fmt.Errorf("%s and %s can be told apart:\n%s\n%s", pair[0], pair[1], there, missing)
			}
			return nil
		})
	}
}

// conditionsText is all that a subscription's conditions say, its own name left out.
func (w *tenant) conditionsText(name string) string {
	var lines []string
	for _, c := range w.subscription(name).Status.Conditions {
		lines = append(lines, strings.ReplaceAll(fmt.Sprintln(c.Type, c.Status, c.Reason, c.Message), name, "SUBSCRIPTION"))
	}
	return strings.Join(lines, "")
}

// A Topic on another Broker cannot be a source, even where both stand for the same vhost.
func TestATopicOnAnotherBroker(t *testing.T) {
	t.Parallel()
	w := newTenant(t, localenv.Broker(t, localenv.Series43))
	w.apply(w.brokerManifest("other", "1s") + "---" + topicOn("orders", "other") + subscriptionTo("billing", "main", "orders"))
	message := fmt.Sprintf("Topic %[1]s/orders is on Broker %[1]s/other and this subscription on Broker %[1]s/main: a queue can only be bound to an exchange of its own vhost", w.namespace)
	w.await("rsub/billing", blocked(metav1.ConditionFalse, v1alpha1.ReasonBrokerMismatch, message, stalled,
		expected{v1alpha1.ConditionInSync, metav1.ConditionFalse, v1alpha1.ReasonBrokerMismatch, "not everything is declared and bound"})...)
}

// A work queue's name that comes from the namespace and the resource's name
// can be too long only when both are known: it is refused in the status, with
// the numbers, and one byte less works.
func TestADefaultedNameThatIsTooLong(t *testing.T) {
	t.Parallel()
	w := newTenant(t, localenv.Broker(t, localenv.Series43))
	long := strings.Repeat("a", 231-len(w.namespace)-1)
	fits := long[1:]
	w.apply(topicOn("orders", "main") + subscriptionTo(long, "main", "orders") + subscriptionTo(fits, "main", "orders"))

	queue := w.namespace + "." + long
	message := fmt.Sprintf("work queue name %q has 231 bytes, and the longest name derived from it (%q) 245; RabbitMQ allows 255, so set spec.workQueue.name to at most 230 bytes",
		queue, queue+".retry.first.b")
	w.await("rsub/"+long, blocked(metav1.ConditionFalse, v1alpha1.ReasonInvalidSpec, message, stalled,
		expected{v1alpha1.ConditionInSync, metav1.ConditionUnknown, v1alpha1.ReasonInvalidSpec, "nothing was compared"})...)
	w.awaitReady("rsub/" + fits)
	w.assertNotThere(`queue "` + queue + `"`)
}
