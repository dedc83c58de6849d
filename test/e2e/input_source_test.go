package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/warren-mq/warren/api/v1alpha1"
)

const topicsOfAllTypes = `
apiVersion: warren.dev/v1alpha1
kind: Topic
metadata: {name: by-key}
spec: {brokerRef: {name: main}}
---
apiVersion: warren.dev/v1alpha1
kind: Topic
metadata: {name: direct}
spec: {brokerRef: {name: main}, type: direct}
---
apiVersion: warren.dev/v1alpha1
kind: Topic
metadata: {name: fanout}
spec: {brokerRef: {name: main}, type: fanout}
---
apiVersion: warren.dev/v1alpha1
kind: Topic
metadata: {name: by-header}
spec: {brokerRef: {name: main}, type: headers}
---`

// subscriptionWith is a subscription with one source, in YAML's flow style.
func subscriptionWith(name, source string) string {
	return fmt.Sprintf(`
apiVersion: warren.dev/v1alpha1
kind: ReliableSubscription
metadata: {name: %s}
spec:
  brokerRef: {name: main}
  sources: [%s]
  workQueue: {name: %[1]s}
---`, name, source)
}

// Keys or headers that an exchange's type ignores, and their lack where it
// lets nothing through, are refused before anything is declared: RabbitMQ would take either
// without a word.
func TestASourceThatDoesNotFitItsExchange(t *testing.T) {
	t.Parallel()
	cases := []struct{ name, source, message string }{
		{"keys-on-fanout", `{topicRef: {name: fanout}, routingKeys: [a, "b.*"]}`,
			`spec.sources[0]: exchange "fanout" is of type fanout, which ignores routing keys, and routingKeys has "a", "b.*": leave routingKeys out, or use a topic exchange`},
		{"headers-on-fanout", `{topicRef: {name: fanout}, headers: {tenant: acme}}`,
			`spec.sources[0]: exchange "fanout" is of type fanout, which ignores headers: leave headers out, or use a headers exchange`},
		{"no-keys-on-topic", `{topicRef: {name: by-key}}`,
			`spec.sources[0]: exchange "by-key" is of type topic, which routes by key, and there are no routingKeys: give at least one`},
		{"headers-on-topic", `{topicRef: {name: by-key}, headers: {tenant: acme}}`,
			`spec.sources[0]: exchange "by-key" is of type topic, which ignores headers: give routingKeys in place of headers, or use a headers exchange`},
		{"no-keys-on-direct", `{topicRef: {name: direct}}`,
			`spec.sources[0]: exchange "direct" is of type direct, which routes by key, and there are no routingKeys: give at least one`},
		{"keys-on-headers", `{topicRef: {name: by-header}, routingKeys: [a]}`,
			`spec.sources[0]: exchange "by-header" is of type headers, which ignores routing keys, and routingKeys has "a": give headers in place of routingKeys, or use a topic exchange`},
		{"no-headers-on-headers", `{topicRef: {name: by-header}}`,
			`spec.sources[0]: exchange "by-header" is of type headers, which routes by headers, and there are none: give headers`},
		{"keys-on-a-raw-fanout", `{exchange: theirs, routingKeys: [a]}`,
			`spec.sources[0]: exchange "theirs" is of type fanout, which ignores routing keys`},
	}
	forEachBroker(t, func(t *testing.T, w *tenant) {
		w.declareExchange("theirs", amqp.ExchangeFanout)
		manifests := topicsOfAllTypes
		for _, c := range cases {
			manifests += subscriptionWith(c.name, c.source)
		}
		w.apply(manifests)
		for _, c := range cases {
			t.Run(c.name, func(t *testing.T) {
				w := w.in(t)
				w.await("rsub/"+c.name, blocked(metav1.ConditionFalse, v1alpha1.ReasonInvalidSource, c.message, stalled,
					expected{v1alpha1.ConditionInSync, metav1.ConditionUnknown, v1alpha1.ReasonInvalidSource, "nothing was compared"})...)
				if strings.Contains(c.source, "topicRef") { // the raw exchange may have come after the first reading
					w.assertNotThere(`queue "` + c.name + `"`)
				}
			})
		}
		w.apply(subscriptionWith("keys-on-fanout", `{topicRef: {name: fanout}}`))
		w.awaitReady("rsub/keys-on-fanout")
	})
}

// An exchange that somebody else owns and has not declared yet is awaited:
// all else is there, and the queue is bound within two sync periods. Field case E5.
func TestARawExchangeThatDoesNotExistYet(t *testing.T) {
	t.Parallel()
	forEachBroker(t, func(t *testing.T, w *tenant) {
		w.apply(subscriptionWith("billing", `{exchange: theirs, routingKeys: ["order.*"]}`))
		w.await("rsub/billing", blocked(metav1.ConditionFalse, v1alpha1.ReasonTopicNotDeclared,
			`exchange "theirs" does not exist on the broker yet: everything else is declared, and the queue is bound as soon as it is there`, helpsItself,
			expected{v1alpha1.ConditionInSync, metav1.ConditionFalse, v1alpha1.ReasonTopicNotDeclared, "not everything is declared and bound"})...)
		w.assertThere(`queue "billing"`, `queue "billing.parking"`, `exchange "billing.dead"`, `exchange "billing.retry"`, `queue "billing.wait.3.5m"`)

		w.declareExchange("theirs", amqp.ExchangeTopic)
		came := time.Now()
		w.awaitThere(`binding of queue "billing" to exchange "theirs" with key "order.*"`)
		w.took("the binding", came, 2*time.Second)
		w.awaitReady("rsub/billing")
	})
}

// An exchange of another type under a Topic's name is left as it is, and the
// Topic names both types.
func TestAnExchangeOfAnotherTypeUnderATopic(t *testing.T) {
	t.Parallel()
	forEachBroker(t, func(t *testing.T, w *tenant) {
		w.declareExchange("orders", amqp.ExchangeDirect)
		w.apply(topicOn("orders", "main"))
		const message = `type of exchange "orders" is direct, wanted topic: an exchange cannot be changed: have its publishers stop, delete exchange "orders", and Warren declares it anew with its bindings; or give the resource another name`
		w.await("topic/orders",
			expected{v1alpha1.ConditionDeclared, metav1.ConditionFalse, v1alpha1.ReasonExchangeMismatch, message},
			expected{v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonExchangeMismatch, message})

		w.onChannel(deleteExchange("orders"))
		w.awaitReady("topic/orders")
	})
}
