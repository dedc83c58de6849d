package controllers

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/warren-mq/warren/api/v1alpha1"
	"github.com/warren-mq/warren/internal/freshness"
)

// Readiness says whether a topic is open for publishing, or a subscription
// established, as a fact of now: beside what the condition says, this process
// must have read it back from the broker within two sync periods.
type Readiness struct {
	lookup        lookup
	topics        *proofs
	subscriptions *proofs
}

// Verdict is what is known of something that somebody waits for.
type Verdict struct {
	// Waiting is why it is not ready; nil when it is.
	Waiting *Problem
	// Remark is what there is to know although it is ready, or "".
	Remark string
}

func waiting(p *Problem) Verdict { return Verdict{Waiting: p} }

// Topic judges a topic for somebody in a namespace. Of a topic of another
// namespace no more is told than its reason.
func (r *Readiness) Topic(ctx context.Context, namespace string, key types.NamespacedName) (Verdict, error) {
	t, p, err := r.lookup.topic(ctx, namespace, v1alpha1.TopicReference{Namespace: key.Namespace, Name: key.Name})
	if err != nil || p != nil {
		return waiting(p), err
	}
	v, err := r.judgeTopic(ctx, t)
	if v.Waiting != nil && key.Namespace != namespace {
		v.Waiting = unknown(v.Waiting.Reason, "not open for publishing; status of Topic %s says why", key)
	}
	return v, err
}

func (r *Readiness) judgeTopic(ctx context.Context, t *v1alpha1.Topic) (Verdict, error) {
	key, on := client.ObjectKeyFromObject(t), brokerKey(t.Namespace, t.Spec.BrokerRef)
	if p := promised(t, t.Status.Conditions, v1alpha1.ConditionReady); p != nil {
		return waiting(p), nil
	}
	if p := r.seen(r.topics, key, t.Generation, on); p != nil {
		return waiting(p), nil
	}
	ready := newConditionSet(0, t.Status.Conditions).get(v1alpha1.ConditionReady)
	if ready.Reason == v1alpha1.ReasonForcedOpen {
		return Verdict{Remark: "open only because of its annotation " + v1alpha1.ForceOpenAnnotation}, nil
	}
	// Asked anew, since the condition may not know yet of who came just now.
	members, err := r.lookup.members(ctx, t)
	if err != nil {
		return Verdict{}, err
	}
	who := newAudience(members, r.unheard)
	switch {
	case len(who.missing) > 0:
		return waiting(problem(v1alpha1.ReasonSubscriptionsNotReady, "%s", who.sentence())), nil
	case who.total == 0:
		return Verdict{Remark: ready.Message}, nil
	}
	return Verdict{}, nil
}

// unheard is "" for a subscription that was seen to hear its topics.
func (r *Readiness) unheard(sub *v1alpha1.ReliableSubscription) string {
	if reason := notEstablishedReason(sub); reason != "" {
		return reason
	}
	if p := r.judgeSubscription(sub); p != nil {
		return p.Reason
	}
	return ""
}

// Subscription judges a subscription.
func (r *Readiness) Subscription(ctx context.Context, key types.NamespacedName) (Verdict, error) {
	var sub v1alpha1.ReliableSubscription
	switch err := r.lookup.client.Get(ctx, key, &sub); {
	case apierrors.IsNotFound(err):
		return waiting(problem(reasonNotFound, "does not exist in namespace %q: create it, or correct the annotation", key.Namespace)), nil
	case err != nil:
		return Verdict{}, err
	}
	return waiting(r.judgeSubscription(&sub)), nil
}

func (r *Readiness) judgeSubscription(sub *v1alpha1.ReliableSubscription) *Problem {
	if p := promised(sub, sub.Status.Conditions, v1alpha1.ConditionEstablished); p != nil {
		return p
	}
	return r.seen(r.subscriptions, client.ObjectKeyFromObject(sub), sub.Generation, brokerKey(sub.Namespace, sub.Spec.BrokerRef))
}

// promised checks what the status says.
func promised(o client.Object, conditions []metav1.Condition, kind string) *Problem {
	if !o.GetDeletionTimestamp().IsZero() {
		return problem(v1alpha1.ReasonTerminating, "it is being deleted")
	}
	if v1alpha1.Holds(conditions, kind, o.GetGeneration()) {
		return nil
	}
	c := newConditionSet(0, conditions).get(kind)
	if c.Reason == "" || c.ObservedGeneration != o.GetGeneration() {
		return unknown(v1alpha1.ReasonDeclaring, "its spec was not yet looked at")
	}
	return &Problem{Status: c.Status, Reason: c.Reason, Message: c.Message}
}

// seen checks that a reading of the broker shows it, and that the reading is
// not too old.
func (r *Readiness) seen(p *proofs, key types.NamespacedName, generation int64, on types.NamespacedName) *Problem {
	view, ok := r.lookup.brokers.Get(on)
	if !ok {
		return unknown(v1alpha1.ReasonStale, "Broker %s has not been read since the operator started", on)
	}
	if view.Problem != nil {
		return aboutBroker(on, view.Problem)
	}
	known, _ := p.get(key)
	limit := freshness.Limit(view.SyncPeriod)
	if known.generation != generation || !freshness.Fresh(known.at, time.Now(), limit) {
		return unknown(v1alpha1.ReasonStale, "it was not read back from Broker %s within the last %s", on, limit)
	}
	return nil
}

// Proved gives channels that get the key of each topic, and of each
// subscription, that was seen to be there and was not before. It is called
// before the manager starts.
func (r *Readiness) Proved() (topics, subscriptions <-chan event.TypedGenericEvent[types.NamespacedName]) {
	return r.topics.subscribe(), r.subscriptions.subscribe()
}

// TopicsOf are the topics whose verdict a subscription changes.
func (r *Readiness) TopicsOf(ctx context.Context, sub *v1alpha1.ReliableSubscription) []types.NamespacedName {
	var keys []types.NamespacedName
	for _, req := range r.lookup.topicsOf(ctx, sub) {
		keys = append(keys, req.NamespacedName)
	}
	return keys
}
