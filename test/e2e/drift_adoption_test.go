package e2e

import (
	"fmt"
	"strings"
	"testing"

	amqp "github.com/rabbitmq/amqp091-go"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/warren-mq/warren/api/v1alpha1"
	"github.com/warren-mq/warren/test/amqptest"
)

// unsafeAdoption is a work queue that somebody declared, and that is to be adopted.
type unsafeAdoption struct {
	// fieldCase, in small letters, is the work queue's name, too.
	fieldCase string
	reason    string
	only43    bool
	retry     string
	// arguments of the work queue, and those of the parking queue if it is there.
	arguments, parking amqp.Table
	// policy on the work queue.
	policy   map[string]any
	messages int
	// because is the reason of condition InSync.
	because string
	drift   func(on43 bool) []v1alpha1.DriftEntry
}

// name of the work queue and the subscription.
func (a unsafeAdoption) name() string {
	if a.policy != nil && a.because == override {
		return strings.ToLower(a.fieldCase) + "-by-a-policy"
	}
	return strings.ToLower(a.fieldCase)
}

// by names the policy, where it is at fault.
func (a unsafeAdoption) by() string {
	if a.because != override {
		return ""
	}
	return fmt.Sprintf("overridden by policy %q (priority 7); ", "on-"+a.name())
}

// A queue of somebody else that would cost messages as it is stays untouched
// and unbound although its adoption is asked for. What differs is told in
// full, with values, what it means, and what to do. Field cases A1, A5, A6,
// B3, B7, C1, C3, D4.
func TestUnsafeToAdopt(t *testing.T) {
	t.Parallel()
	forEachBroker(t, func(t *testing.T, w *tenant) {
		var here []unsafeAdoption
		manifests := ""
		for _, a := range unsafeAdoptions {
			if a.only43 && !w.on43() {
				continue
			}
			here = append(here, a)
			a.declare(w)
			manifests += a.manifest()
		}
		w.apply(topicOn("orders", "main"))
		w.awaitReady("topic/orders")
		before := w.onBroker()
		w.apply(manifests)
		for _, a := range here {
			t.Run(a.fieldCase+" "+a.reason, func(t *testing.T) { a.check(w.in(t)) })
		}
		w.staysUntouched(before)
		for _, a := range here {
			amqptest.AwaitReady(t, w.application(), a.name(), a.messages)
		}
	})
}

// declare is what somebody did before Warren came.
func (a unsafeAdoption) declare(w *tenant) {
	w.declareQueue(a.name(), a.arguments)
	if a.parking != nil {
		w.declareQueue(a.name()+".parking", a.parking)
	}
	if a.policy != nil {
		w.putPolicy("on-"+a.name(), "^"+a.name()+"$", 7, a.policy)
	}
	amqptest.Publish(w.t, w.application(), "", a.name(), amqptest.Messages("theirs", a.messages)...)
	w.awaitCounted(a.name(), a.messages)
}

func (a unsafeAdoption) manifest() string {
	retry := a.retry
	if retry == "" {
		retry = "immediate: {}"
	}
	return subscriptionManifest(a.name(), fmt.Sprintf(
		`sources: [{topicRef: {name: orders}, routingKeys: ["#"]}], workQueue: {name: %s}, retry: {%s}, adoptionPolicy: Adopt`, a.name(), retry))
}

func (a unsafeAdoption) check(w *tenant) {
	resource, entries := "rsub/"+a.name(), a.drift(w.on43())
	w.awaitDrift(a.name(), entries...)
	differs, more := describe(entries)
	message := "what is on the broker would cost messages as it is, and stays unbound: " + differs
	w.awaitExactly(resource,
		expected{v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonUnsafeToAdopt, message},
		expected{v1alpha1.ConditionEstablished, metav1.ConditionFalse, v1alpha1.ReasonUnsafeToAdopt, message},
		expected{v1alpha1.ConditionStalled, metav1.ConditionTrue, v1alpha1.ReasonUnsafeToAdopt, message},
		expected{v1alpha1.ConditionInSync, metav1.ConditionFalse, a.because, a.by() + "unsafe: " + differs + more + "; status.drift says what to do"})
	w.awaitEvent(resource, v1alpha1.ReasonUnsafeToAdopt, message)
}

// describe says of the unsafe entries what conditions say, and how many tolerable ones there are.
func describe(entries []v1alpha1.DriftEntry) (differs, more string) {
	var parts []string
	others := 0
	for _, e := range entries {
		if e.Impact == tolerable {
			others++
			continue
		}
		parts = append(parts, fmt.Sprintf("%s of %s is %s, wanted %s", e.Field, e.Object, e.Observed, e.Desired))
	}
	if others > 0 {
		more = fmt.Sprintf("; and %d tolerable", others)
	}
	return strings.Join(parts, ", "), more
}
