package e2e

import (
	"context"
	"encoding/json"
	"errors"
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

// collections of the kinds that tests look at, by short name.
var collections = map[string]string{
	"rsub":      "apis/warren.dev/v1alpha1/namespaces/%s/reliablesubscriptions",
	"topic":     "apis/warren.dev/v1alpha1/namespaces/%s/topics",
	"broker":    "apis/warren.dev/v1alpha1/namespaces/%s/brokers",
	"redrive":   "apis/warren.dev/v1alpha1/namespaces/%s/redrives",
	"secret":    "api/v1/namespaces/%s/secrets",
	"configmap": "api/v1/namespaces/%s/configmaps",
	"event":     "apis/events.k8s.io/v1/namespaces/%s/events",
	"pod":       "api/v1/namespaces/%s/pods",
	"lease":     "apis/coordination.k8s.io/v1/namespaces/%s/leases",
}

// path of a kind's resources in the tenant's namespace.
func (w *tenant) path(kind string) string { return fmt.Sprintf(collections[kind], w.namespace) }

// read decodes a resource ("rsub/billing").
func (w *tenant) read(resource string, into any) error {
	kind, name, _ := strings.Cut(resource, "/")
	content, err := w.api.Get().AbsPath(w.path(kind), name).DoRaw(w.t.Context())
	if err != nil {
		return fmt.Errorf("get %s: %w", resource, err)
	}
	return json.Unmarshal(content, into)
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

// await polls a resource ("rsub/billing") until it has conditions, all of them at once.
func (w *tenant) await(resource string, want ...expected) {
	w.t.Helper()
	w.awaitWithin(within, resource, want...)
}

func (w *tenant) awaitWithin(long time.Duration, resource string, want ...expected) {
	w.t.Helper()
	amqptest.Eventually(w.t, long, func() error {
		var o object
		if err := w.read(resource, &o); err != nil {
			return err
		}
		var errs []error
		for _, e := range want {
			errs = append(errs, e.check(o))
		}
		return errors.Join(errs...)
	})
}

// awaitReady waits until a resource is Ready.
func (w *tenant) awaitReady(resource string) {
	w.t.Helper()
	w.await(resource, expected{Type: v1alpha1.ConditionReady, Status: metav1.ConditionTrue})
}

// stalled and helpsItself say what condition Stalled must be.
const (
	stalled     = metav1.ConditionTrue
	helpsItself = metav1.ConditionFalse
)

// blocked are the conditions of a subscription that is not established: Ready
// says what Established says, and Stalled whether time can help.
func blocked(status metav1.ConditionStatus, reason, message string, stall metav1.ConditionStatus, inSync expected) []expected {
	stallReason := v1alpha1.ReasonHelpsItself
	if stall == stalled {
		stallReason = reason
	}
	return []expected{
		{v1alpha1.ConditionReady, status, reason, message},
		{v1alpha1.ConditionEstablished, status, reason, message},
		{v1alpha1.ConditionStalled, stall, stallReason, ""},
		inSync,
	}
}
