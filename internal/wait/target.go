package wait

import (
	"context"
	"fmt"
	"strings"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/warren-mq/warren/api/v1alpha1"
	"github.com/warren-mq/warren/internal/freshness"
)

// target is one thing that is waited for.
type target struct {
	kind string
	key  types.NamespacedName
	// condition that must be True.
	condition string
	// read gives what is needed of it.
	read func(context.Context, client.Reader, types.NamespacedName) (state, error)
}

// state is what a target says of itself.
type state struct {
	object     client.Object
	conditions []metav1.Condition
	broker     v1alpha1.BrokerReference
}

func topicTarget(key types.NamespacedName) target {
	return target{"Topic", key, v1alpha1.ConditionReady, func(ctx context.Context, c client.Reader, key types.NamespacedName) (state, error) {
		var t v1alpha1.Topic
		err := c.Get(ctx, key, &t)
		return state{&t, t.Status.Conditions, t.Spec.BrokerRef}, err
	}}
}

func subscriptionTarget(key types.NamespacedName) target {
	return target{"ReliableSubscription", key, v1alpha1.ConditionEstablished, func(ctx context.Context, c client.Reader, key types.NamespacedName) (state, error) {
		var sub v1alpha1.ReliableSubscription
		err := c.Get(ctx, key, &sub)
		return state{&sub, sub.Status.Conditions, sub.Spec.BrokerRef}, err
	}}
}

func (t target) String() string { return t.kind + " " + t.key.String() }

// missing is what a target lacks; nil when it is ready. Whatever it is, it may
// come: what does not exist yet, a right that is granted later, an API server
// that answers again.
func (t target) missing(ctx context.Context, c client.Reader, now time.Time) *lack {
	s, err := t.read(ctx, c, t.key)
	if err != nil {
		return unreadable(err, t.String())
	}
	if !s.object.GetDeletionTimestamp().IsZero() {
		return lacks("it is being deleted")
	}
	if !v1alpha1.Holds(s.conditions, t.condition, s.object.GetGeneration()) {
		return t.not(s)
	}
	broker := types.NamespacedName{Namespace: s.broker.Namespace, Name: s.broker.Name}
	if broker.Namespace == "" {
		broker.Namespace = t.key.Namespace
	}
	return stale(ctx, c, broker, now)
}

// not says why a condition is not True.
func (t target) not(s state) *lack {
	c := meta.FindStatusCondition(s.conditions, t.condition)
	if c == nil || c.ObservedGeneration != s.object.GetGeneration() {
		return lacks("the operator has not looked at its spec yet")
	}
	return lacks("%s is %s, %s: %s", t.condition, c.Status, c.Reason, c.Message)
}

// stale says why what was read of a Broker is not to be believed.
func stale(ctx context.Context, c client.Reader, broker types.NamespacedName, now time.Time) *lack {
	var lease coordinationv1.Lease
	key := types.NamespacedName{Namespace: broker.Namespace, Name: freshness.LeaseName(broker.Name)}
	err := c.Get(ctx, key, &lease)
	if apierrors.IsNotFound(err) {
		return lacks("its status is ready, but Broker %s was never read (there is no Lease %s): is the operator running?", broker, key)
	}
	if err != nil {
		return unreadable(err, "Lease "+key.String())
	}
	if reason := freshness.OfLease(&lease, now); reason != "" {
		return &lack{topic: "stale", text: "its status is ready and not to be believed: " + reason}
	}
	return nil
}

// lack is what a target lacks.
type lack struct {
	// topic stays the same while only a number in the text changes.
	topic, text string
}

func lacks(format string, args ...any) *lack {
	text := fmt.Sprintf(format, args...)
	return &lack{topic: text, text: text}
}

func unreadable(err error, what string) *lack {
	switch {
	case apierrors.IsNotFound(err):
		return lacks("does not exist yet")
	case apierrors.IsForbidden(err):
		return lacks("may not be read: grant get on %s to this service account, as config/samples/init-container.yaml does", what)
	}
	return lacks("cannot be read: %s", strings.TrimSpace(err.Error()))
}
