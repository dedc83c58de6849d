package e2e

import (
	"fmt"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/warren-mq/warren/api/v1alpha1"
	"github.com/warren-mq/warren/internal/topology"
)

// What the broker refuses is told in its own words and as final, and tried
// again once a sync period at most; it works when the broker has changed its mind. Field case C4.
func TestC4WhatTheBrokerRefusesIsFinal(t *testing.T) {
	t.Parallel()
	forEachBroker(t, func(t *testing.T, w *tenant) {
		w.limitQueues(0)
		w.apply(subscriptionManifest("billing", `workQueue: {name: billing}, retry: {immediate: {}}`))
		message := fmt.Sprintf(`declare queue "billing.parking": RabbitMQ has it otherwise, or it cannot be like this: PRECONDITION_FAILED - cannot declare queue 'billing.parking': queue limit in vhost '%s' (0) is reached`, w.vhost.Name)
		w.awaitExactly("rsub/billing",
			expected{v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonRefusedByBroker, message},
			expected{v1alpha1.ConditionEstablished, metav1.ConditionFalse, v1alpha1.ReasonRefusedByBroker, message},
			expected{v1alpha1.ConditionStalled, metav1.ConditionTrue, v1alpha1.ReasonRefusedByBroker, message})
		w.awaitEvent("rsub/billing", v1alpha1.ReasonRefusedByBroker, message)

		begun, tried := time.Now(), len(w.logLines("acting on the broker"))
		w.staysUntouchedFor(fiveSyncs, w.onBroker())
		most := int(time.Since(begun)/time.Second) + 1
		if again := len(w.logLines("acting on the broker")) - tried; again > most {
			t.Errorf("it was tried %d times more in %s, want once a sync period of 1 s at most", again, time.Since(begun))
		}

		w.limitQueues(-1)
		w.awaitReady("rsub/billing")
	})
}

// A declare that succeeds proves nothing: RabbitMQ compares neither the mark
// nor any argument that it does not know, and an import of definitions takes
// what it then does not apply. What was read back counts. Field case C2.
func TestC2ADeclareThatSucceedsProvesNothing(t *testing.T) {
	t.Parallel()
	forEachBroker(t, func(t *testing.T, w *tenant) {
		theirs := wantedArguments("billing", amqp.Table{topology.OwnerArgument: "another-cluster/shop/billing"})
		w.declareQueue("billing", theirs)
		w.declareQueue("billing", asWarrenDeclares) // taken by RabbitMQ, and changes nothing
		before := w.onBroker()
		w.apply(claim("billing", "main", "billing", ", adoptionPolicy: Adopt"))
		const message = `queue "billing" belongs to a resource of the cluster with id "another-cluster" (which Broker.spec.acceptedOwners can name, to take over what it left): choose another name, or delete the other resource; nothing was changed`
		w.awaitExactly("rsub/billing",
			expected{v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonConflict, message},
			expected{v1alpha1.ConditionInSync, metav1.ConditionUnknown, v1alpha1.ReasonConflict, "nothing was compared"})
		w.staysUntouched(before)

		w.declareQueue("shipping", wantedArguments("shipping", amqp.Table{"x-delivery-limit": 3}))
		w.importDefinitions(map[string]any{"queues": []any{map[string]any{
			"name": "shipping", "durable": true, "auto_delete": false, "arguments": wantedArguments("shipping", nil)}}})
		w.apply(claim("shipping", "main", "shipping", ", adoptionPolicy: Adopt"))
		w.awaitExactly("rsub/shipping", expected{v1alpha1.ConditionInSync, metav1.ConditionFalse, immutable,
			`tolerable: x-delivery-limit of queue "shipping" is 3, wanted 20; status.drift says what to do`})
		w.awaitReady("rsub/shipping")
	})
}
