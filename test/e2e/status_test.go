package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/warren-mq/warren/api/v1alpha1"
	"github.com/warren-mq/warren/test/amqptest"
)

// within is how long a status may take, on a machine that is busy.
const within = 60 * time.Second

func cleanupContext() context.Context { return context.Background() }

// object is what all of Warren's kinds have.
type object struct {
	Metadata metav1.ObjectMeta `json:"metadata"`
	Status   struct {
		ObservedGeneration int64              `json:"observedGeneration"`
		Conditions         []metav1.Condition `json:"conditions"`
	} `json:"status"`
}

// read decodes a resource, as kubectl gets it.
func (w *tenant) read(resource string, into any) error {
	out, err := w.kubectl.run(w.t.Context(), "", "get", "-n", w.namespace, resource, "-o", "json")
	if err != nil {
		return fmt.Errorf("get %s: %w\n%s", resource, err, out)
	}
	return json.Unmarshal([]byte(out), into)
}

// subscription reads a ReliableSubscription.
func (w *tenant) subscription(name string) *v1alpha1.ReliableSubscription {
	w.t.Helper()
	var sub v1alpha1.ReliableSubscription
	if err := w.read("rsub/"+name, &sub); err != nil {
		w.t.Fatal(err)
	}
	return &sub
}

// expected is a condition that a test waits for; a part left empty may be anything.
type expected struct {
	Type    string
	Status  metav1.ConditionStatus
	Reason  string
	Message string // a part of it
}

func (e expected) check(o object) error {
	if o.Status.ObservedGeneration != o.Metadata.Generation {
		return fmt.Errorf("status is of generation %d, the spec is %d", o.Status.ObservedGeneration, o.Metadata.Generation)
	}
	c := meta.FindStatusCondition(o.Status.Conditions, e.Type)
	if c == nil {
		return fmt.Errorf("no condition %s yet", e.Type)
	}
	if c.Status != e.Status || (e.Reason != "" && c.Reason != e.Reason) || !strings.Contains(c.Message, e.Message) {
		return fmt.Errorf("condition %s is %s, %s: %s\nwant %s, %s: %s", e.Type, c.Status, c.Reason, c.Message, e.Status, e.Reason, e.Message)
	}
	return nil
}

// await polls a resource ("rsub/billing") until it has a condition.
func (w *tenant) await(resource string, want expected) {
	w.t.Helper()
	amqptest.Eventually(w.t, within, func() error {
		var o object
		if err := w.read(resource, &o); err != nil {
			return err
		}
		return want.check(o)
	})
}

// awaitReady waits until a resource is Ready.
func (w *tenant) awaitReady(resource string) {
	w.t.Helper()
	w.await(resource, expected{Type: v1alpha1.ConditionReady, Status: metav1.ConditionTrue})
}
