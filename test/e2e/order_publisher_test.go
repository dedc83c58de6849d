package e2e

import (
	"context"
	"fmt"
	"testing"

	amqp "github.com/rabbitmq/amqp091-go"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/warren-mq/warren/hack/localenv"
	"github.com/warren-mq/warren/test/amqptest"
)

// sent is how many messages a publisher sends.
const sent = 1000

// orderedTopic requires both work queues.
const orderedTopic = `
apiVersion: warren.dev/v1alpha1
kind: Topic
metadata: {name: orders}
spec: {brokerRef: {name: main}, requiredSubscriptions: [billing, shipping]}
---`

func hearsOrders(name string) string {
	return subscriptionWith(name, `{topicRef: {name: orders}, routingKeys: ["order.*"]}`)
}

// publisher is what would run in a pod: it begins when the pod's gate goes,
// and sends mandatory messages that must be confirmed.
type publisher struct {
	// refusals is how often nobody took its first message.
	refusals int
	err      error
}

// startPublisher watches for the first pod of an application without a gate.
func (w *tenant) startPublisher(app string) <-chan publisher {
	w.t.Helper()
	clients, err := kubernetes.NewForConfig(w.plane.Config)
	if err != nil {
		w.t.Fatal(err)
	}
	pods, err := clients.CoreV1().Pods(w.namespace).Watch(w.t.Context(), metav1.ListOptions{LabelSelector: "app=" + app})
	if err != nil {
		w.t.Fatal(err)
	}
	connection := w.application()
	done := make(chan publisher, 1)
	go func() {
		defer pods.Stop()
		for event := range pods.ResultChan() {
			if p, ok := event.Object.(*corev1.Pod); ok && len(p.Spec.SchedulingGates) == 0 {
				done <- publish(w.t.Context(), connection)
				return
			}
		}
		done <- publisher{err: fmt.Errorf("no pod of %s lost its gate", app)}
	}()
	return done
}

// publish sends one message until somebody takes it, as an application does
// that starts before its exchange exists, and then the others.
func publish(ctx context.Context, connection *amqp.Connection) (p publisher) {
	messages := amqptest.Messages("order", sent)
	for ctx.Err() == nil {
		if p.err = amqptest.Send(ctx, connection, "orders", "order.placed", messages[0]); p.err == nil {
			p.err = amqptest.Send(ctx, connection, "orders", "order.placed", messages[1:]...)
			return p
		}
		p.refusals++
	}
	return p
}

// A publisher that is applied first, and starts when its gate goes, is heard
// by everybody from its first message on.
func TestAGatedPublisherIsHeardByAll(t *testing.T) {
	t.Parallel()
	localenv.ForEachBroker(t, func(t *testing.T, b *localenv.RabbitMQ) {
		t.Parallel()
		w := newOrderTenant(t, b)
		done := w.startPublisher("web-shop")
		w.apply(deployment("web-shop", 2, forTopics("orders")))
		w.stayWaiting("web-shop", 2)
		w.apply(orderedTopic)
		w.apply(hearsOrders("billing"))
		w.awaitReady("rsub/billing")
		w.stayWaiting("web-shop", 2)
		w.apply(hearsOrders("shipping"))
		w.awaitPods("web-shop", 2, hasStarted)

		if p := <-done; p.err != nil || p.refusals > 0 {
			t.Fatalf("the publisher was refused %d times: %v", p.refusals, p.err)
		}
		app := w.application()
		amqptest.AwaitReady(t, app, "billing", sent)
		amqptest.AwaitReady(t, app, "shipping", sent)
	})
}

// The same without the gate: every message is confirmed, and one of the two
// never hears of them.
func TestAPublisherWithoutAGateIsNotHeardByAll(t *testing.T) {
	t.Parallel()
	w := newOrderTenant(t, localenv.Broker(t, localenv.Series43))
	done := w.startPublisher("web-shop")
	w.apply(deployment("web-shop", 1, ungated))
	w.awaitPods("web-shop", 1, hasStarted)
	w.apply(orderedTopic)
	w.apply(hearsOrders("billing"))
	if p := <-done; p.err != nil {
		t.Fatalf("the publisher got no confirms: %v", p.err)
	}
	w.apply(hearsOrders("shipping"))
	w.awaitReady("topic/orders")
	app := w.application()
	amqptest.AwaitReady(t, app, "billing", sent)
	heard, err := amqptest.Ready(app, "shipping")
	if err != nil || heard == sent {
		t.Errorf("shipping has %d of %d confirmed messages, %v: want some lost, else the gate is not needed", heard, sent, err)
	}
}
