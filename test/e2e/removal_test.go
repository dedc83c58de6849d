package e2e

import (
	"fmt"
	"strings"
	"testing"

	amqp "github.com/rabbitmq/amqp091-go"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/warren-mq/warren/api/v1alpha1"
	"github.com/warren-mq/warren/hack/localenv"
	"github.com/warren-mq/warren/test/amqptest"
)

// heard is a subscription to topic orders with two wait queues.
func heard(policy v1alpha1.DeletionPolicy) string {
	return topicOn("orders", "main") + subscriptionManifest("billing", fmt.Sprintf(
		`sources: [{topicRef: {name: orders}, routingKeys: ["#"]}], workQueue: {name: billing}, retry: {backoff: {delays: [1h, 2h]}}, deletionPolicy: %s`, policy))
}

// remove asks for a resource's deletion and does not wait for it.
func (w *tenant) remove(resource string) {
	w.t.Helper()
	w.mustKubectl("delete", resource, "-n", w.namespace, "--wait=false")
}

// left are the objects on the broker whose names begin so.
func (w *tenant) left(prefix string) []string {
	w.t.Helper()
	var names []string
	for name := range w.onBroker() {
		if strings.Contains(name, `"`+prefix) {
			names = append(names, name)
		}
	}
	return names
}

func (w *tenant) assertNothingLeft(prefix string) {
	w.t.Helper()
	if names := w.left(prefix); len(names) > 0 {
		w.t.Errorf("still on the broker: %v", names)
	}
}

func stillHas(what string) expected {
	return expected{v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonTerminating, "it is being deleted, and waits: " + what}
}

// DeleteWhenEmpty takes the sources away first, and then each queue when it is
// known to be empty; meanwhile the status says what it waits for.
func TestDeleteWhenEmpty(t *testing.T) {
	onStages(t, func(t *testing.T, s *stage) {
		s.establish(heard(v1alpha1.DeletionDeleteWhenEmpty), "billing")
		s.publish("orders", "order.placed", amqptest.Message("ready"), amqptest.Message("rejected"))
		s.publish("billing.park", "order.placed", amqptest.Message("parked"))
		s.mustDo(t, func(c *amqp.Channel) error { // one of the two waits for an hour
			if _, _, err := c.Get("billing", true); err != nil {
				return err
			}
			d, _, err := c.Get("billing", false)
			if err != nil {
				return err
			}
			return d.Reject(false)
		})
		amqptest.AwaitReady(t, s.app, "billing.wait.1.1h", 1)

		s.remove("rsub/billing")
		s.await("rsub/billing", stillHas(`queue "billing.wait.1.1h" has 1 ready`))
		s.assertNotThere(`binding of queue "billing" to exchange "orders" with key "#"`)
		amqptest.Take(t, s.app, "billing.wait.1.1h", 1)
		s.await("rsub/billing", stillHas(`queue "billing.parking" has 1 ready`))
		s.assertNotThere(`queue "billing"`, `queue "billing.wait.1.1h"`)
		s.assertThere(`queue "billing.parking"`, `exchange "billing.park"`)
		amqptest.Take(t, s.app, "billing.parking", 1)
		s.awaitGone("rsub/billing")
		s.assertNothingLeft("billing")
		s.awaitEvent("rsub/billing", "Removed", "nothing of it is left on the broker that Warren may delete")
	})
}

// Delete does not wait, and Events tell how many messages went.
func TestDeleteWithMessages(t *testing.T) {
	onStages(t, func(t *testing.T, s *stage) {
		s.establish(heard(v1alpha1.DeletionDelete), "billing")
		s.publish("orders", "order.placed", amqptest.Messages("m", 3)...)
		s.publish("billing.park", "order.placed", amqptest.Message("parked"))
		s.remove("rsub/billing")
		s.awaitGone("rsub/billing")
		s.assertNothingLeft("billing")
		s.assertThere(`exchange "orders"`)
		s.awaitEvent("rsub/billing", "QueueDeleted", `queue "billing" was deleted, and 3 messages with it`)
		s.awaitEvent("rsub/billing", "QueueDeleted", `queue "billing.parking" was deleted, and 1 message with it`)
	})
}

// Retain, the default, leaves the broker as it is, and nothing keeps the resource.
func TestDeletionRetains(t *testing.T) {
	onStages(t, func(t *testing.T, s *stage) {
		s.establish(heard(v1alpha1.DeletionRetain), "billing")
		if finalizers := s.subscription("billing").Finalizers; len(finalizers) > 0 {
			t.Errorf("it has finalizers %v, and nothing to clean up", finalizers)
		}
		before := len(s.left("billing"))
		s.remove("rsub/billing")
		s.awaitGone("rsub/billing")
		s.stays(threeSyncs, func() error {
			if now := len(s.left("billing")); now != before {
				return fmt.Errorf("%d objects are on the broker, want the %d that there were", now, before)
			}
			return nil
		})
	})
}

// What is deleted never hangs for a broker that is gone, and a person can always let it go.
func TestDeletionNeverHangs(t *testing.T) {
	t.Parallel()
	const manifest = `workQueue: {name: billing}, retry: {immediate: {}}, deletionPolicy: DeleteWhenEmpty`
	for name, tc := range map[string]struct {
		gone func(s *stage)
		note string
	}{
		"the Broker is gone": {func(s *stage) { s.mustKubectl("delete", "broker/main", "-n", s.namespace) },
			`nothing was deleted from the broker: Broker "main" does not exist`},
		"its Secret is gone": {func(s *stage) {
			s.mustKubectl("delete", "secret/main", "-n", s.namespace)
			s.await("broker/main", expected{v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonSecretNotFound, ""})
		}, `nothing was deleted from the broker: Broker`},
		"it is to be abandoned": {func(s *stage) {
			s.publish("billing.park", "order.placed", amqptest.Message("parked"))
			s.mustKubectl("annotate", "rsub/billing", "-n", s.namespace, v1alpha1.AbandonAnnotation+"=true")
		}, "annotation warren.dev/abandon lets it go: what is left on the broker stays there"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, localenv.Series43)
			s.establish(subscriptionManifest("billing", manifest), "billing")
			tc.gone(s)
			s.remove("rsub/billing")
			s.awaitGone("rsub/billing")
			s.awaitEvent("rsub/billing", "Released", tc.note)
			if len(s.left("billing")) == 0 {
				t.Error("the broker has nothing left of it, want all")
			}
		})
	}
}

// A policy that is changed to Retain in time keeps everything, paused as it is.
func TestDeletionOfAPausedSubscription(t *testing.T) {
	t.Parallel()
	s := newStage(t, localenv.Series43)
	s.establish(heard(v1alpha1.DeletionDelete), "billing")
	before := s.onBroker()
	s.pause("billing", true)
	s.remove("rsub/billing")
	s.await("rsub/billing", stillHas("annotation warren.dev/paused keeps Warren from writing to the broker"))
	s.staysUntouched(before)
	s.mustKubectl("patch", "rsub/billing", "-n", s.namespace, "--type=merge", "-p", `{"spec": {"deletionPolicy": "Retain"}}`)
	s.awaitGone("rsub/billing")
	s.staysUntouched(before)
}

// What was adopted is somebody's and stays, unless it is said that it is to go too.
func TestDeletionLeavesWhatWasAdopted(t *testing.T) {
	t.Parallel()
	for annotation, stays := range map[string]bool{"false": true, "true": false} {
		t.Run("delete-adopted "+annotation, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, localenv.Series43)
			s.declareQueue("billing", asWarrenDeclares)
			s.establish(subscriptionManifest("billing", `workQueue: {name: billing}, retry: {immediate: {}}, adoptionPolicy: Adopt, deletionPolicy: Delete`), "billing")
			s.mustKubectl("annotate", "rsub/billing", "-n", s.namespace, v1alpha1.DeleteAdoptedAnnotation+"="+annotation)
			s.remove("rsub/billing")
			s.awaitGone("rsub/billing")
			there, err := s.exists("billing")
			if err != nil || there != stays {
				t.Errorf("the adopted queue is there: %t, want %t (error: %v)", there, stays, err)
			}
			s.assertNotThere(`queue "billing.parking"`)
		})
	}
}

// A Topic's exchange goes when nothing is bound to it, and its unroutable
// queue when that is empty.
func TestDeletionOfATopic(t *testing.T) {
	onStages(t, func(t *testing.T, s *stage) {
		s.apply(`
apiVersion: warren.dev/v1alpha1
kind: Topic
metadata: {name: orders}
spec: {brokerRef: {name: main}, unroutable: {}, deletionPolicy: Delete}
`)
		s.awaitReady("topic/orders")
		s.publish("orders", "nobody.hears", amqptest.Message("unroutable"))
		s.queue(t, "hears")
		s.bind(t, "hears", "orders", "#")
		s.remove("topic/orders")
		s.await("topic/orders", stillHas(`exchange "orders" has 1 bindings, and goes when nothing is bound to it`))
		s.unbind(t, "hears", "orders", "#")
		s.await("topic/orders", stillHas(`queue "orders.unroutable" has 1 ready`))
		s.assertNotThere(`exchange "orders"`)
		amqptest.Take(t, s.app, "orders.unroutable", 1)
		s.awaitGone("topic/orders")
		s.assertNothingLeft("orders")
	})
}

// A namespace with everything in it goes within a minute, whatever is still in
// the queues, and the Broker of another namespace tells what was left.
func TestDeletionOfANamespace(t *testing.T) {
	t.Parallel()
	b := localenv.Broker(t, localenv.Series43)
	home := newOrderTenant(t, b)
	home.apply(home.brokerManifest("main", "1s") + "  allowedNamespaces: {from: All}\n")
	home.awaitReady("broker/main")
	for name, own := range map[string]bool{"with its own Broker": true, "on a Broker of another namespace": false} {
		t.Run(name, func(t *testing.T) {
			w := newOrderTenant(t, b)
			manifest, vhost := heard(v1alpha1.DeletionDeleteWhenEmpty), w.vhost
			if !own {
				manifest = strings.ReplaceAll(manifest, "brokerRef: {name: main}", fmt.Sprintf("brokerRef: {name: main, namespace: %s}", home.namespace))
				vhost = home.vhost
			}
			w.apply(manifest)
			w.awaitReady("rsub/billing")
			amqptest.Publish(t, vhost.Dial(t, vhost.App), "billing.park", "order.placed", amqptest.Message("parked"))
			w.mustKubectl("delete", "namespace", w.namespace, "--wait=false")
			amqptest.Eventually(t, 2*within, func() error {
				err := w.api.Get().AbsPath("api/v1/namespaces", w.namespace).Do(t.Context()).Error()
				if apierrors.IsNotFound(err) {
					return nil
				}
				return fmt.Errorf("namespace %s is still there (error: %w)", w.namespace, err)
			})
			if !own {
				home.awaitEvent("broker/main", "Released", fmt.Sprintf("ReliableSubscription %s/billing was let go after its namespace had been terminating for 30s", w.namespace))
			}
		})
	}
}
