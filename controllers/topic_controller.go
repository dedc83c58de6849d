package controllers

import (
	"context"
	"errors"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/warren-mq/warren/api/v1alpha1"
	"github.com/warren-mq/warren/internal/topology"
)

// topicWorkers is how many topics are worked on at once.
const topicWorkers = 4

// TopicReconciler declares a topic's exchange and says whether everybody who
// must hear it is bound.
type TopicReconciler struct {
	reconciler
}

// +kubebuilder:rbac:groups=warren.dev,resources=topics/status,verbs=patch

// Reconcile observes, compares, acts, and writes one status.
func (r *TopicReconciler) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	var t v1alpha1.Topic
	r.settled.forget(req.NamespacedName)
	if err := r.Client.Get(ctx, req.NamespacedName, &t); err != nil {
		r.forget(req.NamespacedName)
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if !t.DeletionTimestamp.IsZero() {
		return r.remove(ctx, r.removable(&t))
	}
	if err := r.keepFinalizer(ctx, &t, r.removable(&t).needsFinalizer()); err != nil {
		return reconcile.Result{}, err
	}
	a, err := r.assess(ctx, &t)
	if err != nil || a == nil {
		return reconcile.Result{}, err
	}
	actor := actor{brokers: r.Brokers, attempts: r.attempts}
	on := brokerKey(t.Namespace, t.Spec.BrokerRef)
	may, err := r.mayAct(ctx, actor, a)
	if err != nil {
		return reconcile.Result{}, err
	}
	if may {
		r.proofs.doubt(req.NamespacedName)
		err := actor.act(ctx, req.NamespacedName, on, a)
		if err == nil {
			declared := newConditionSet(0, t.Status.Conditions).get(v1alpha1.ConditionDeclared)
			if r.attempts.wasProved(req.NamespacedName, t.Generation, declared) {
				tellRecreated(r.Events, &t, a)
			}
		}
		if err == nil || errors.Is(err, errOutdated) {
			return reconcile.Result{}, nil
		}
	}
	if a.problem == nil {
		r.attempts.prove(req.NamespacedName, t.Generation)
	}
	audience, err := r.lookup().audience(ctx, &t)
	if err != nil {
		return reconcile.Result{}, err
	}
	result, err := r.report(ctx, &t, a, audience)
	if err == nil {
		r.settled.note(req.NamespacedName, a)
		r.proofs.tell(req.NamespacedName, t.Generation, a)
	}
	return result, err
}

func (r *TopicReconciler) assess(ctx context.Context, t *v1alpha1.Topic) (*assessment, error) {
	view, p, err := r.lookup().view(ctx, t.Namespace, t.Spec.BrokerRef)
	if err != nil || (view == nil && p == nil) {
		return nil, err
	}
	a := &assessment{of: t, clusterID: r.ClusterID, view: view, problem: p}
	if p != nil {
		return a, nil
	}
	seen := a.snapshot()
	if r.attempts.notIn(client.ObjectKeyFromObject(t), seen) {
		return nil, nil
	}
	compiled, err := topology.CompileTopic(topology.Topic{Name: t.Name, Spec: &t.Spec, Owner: ownerMark(r.ClusterID, t)})
	if err != nil {
		a.problem = refused(err)
		return a, nil
	}
	if p := misnamed(view.Broker, t.Namespace, compiled); p != nil {
		a.problem = p
		return a, nil
	}
	claims, err := r.claims(ctx, t, view, topicAdoption(t))
	if err != nil {
		return nil, err
	}
	a.compare(compiled, claims)
	a.problem = firstOf(topicBlockers, a)
	return a, nil
}

// topicAdoption is the policy with its default.
func topicAdoption(t *v1alpha1.Topic) v1alpha1.AdoptionPolicy {
	if t.Spec.AdoptionPolicy == "" {
		return v1alpha1.AdoptionPolicyAdopt
	}
	return t.Spec.AdoptionPolicy
}

// topicBlockers are the reasons why a topic's exchange is not declared.
var topicBlockers = []func(*assessment) *Problem{trespassing, exchangeMismatch, queueUnavailable, stillMissing}

// exchangeMismatch: what is there, be it somebody's or an earlier Topic's of
// the same name, cannot become what the spec says. A Topic has no
// status.drift, so the remedy is told here.
func exchangeMismatch(a *assessment) *Problem {
	for _, d := range a.result.Differences {
		if d.Unsafe() {
			return problem(v1alpha1.ReasonExchangeMismatch, "%s: %s", describe(d), d.Remedy)
		}
	}
	return nil
}

func (r *TopicReconciler) report(ctx context.Context, t *v1alpha1.Topic, a *assessment, audience audience) (reconcile.Result, error) {
	status := topicStatus(t, a, audience)
	told, err := r.tell(ctx, a, r.offered(t))
	if err != nil {
		return reconcile.Result{}, err
	}
	told.fill(r.offered(t), &status.Connection, &status.Binding, &status.Conditions)
	again := reconcile.Result{RequeueAfter: told.recheck}
	if equality.Semantic.DeepEqual(status, &t.Status) {
		return again, nil
	}
	if equality.Semantic.DeepEqual(withoutTopicCounts(status), withoutTopicCounts(&t.Status)) {
		if wait := countsDue(t.Status.ObservedTime); wait > 0 {
			return reconcile.Result{RequeueAfter: sooner(wait, told.recheck)}, nil
		}
	}
	status.ObservedTime = ptr.To(metav1.Now())
	if err := applyStatus(ctx, r.Client, t, "Topic", status); err != nil {
		return reconcile.Result{}, err
	}
	topicEvents(r.Events, t, status)
	return again, nil
}

// SetupWithManager registers the reconciler.
func (r *TopicReconciler) SetupWithManager(mgr ctrl.Manager) error {
	return r.controllerOf(mgr, &v1alpha1.Topic{}, func() client.ObjectList { return &v1alpha1.TopicList{} }).
		Watches(&v1alpha1.ReliableSubscription{}, enqueueAfter(audienceDelay, r.ofSubscription), builder.WithPredicates(audienceChanged)).
		WithOptions(controller.Options{MaxConcurrentReconciles: topicWorkers}).
		Complete(r)
}

// audienceDelay gathers the subscriptions of a burst: each of them has its
// topics counted anew.
const audienceDelay = 500 * time.Millisecond

// audienceChanged: what a topic counts of a subscription.
var audienceChanged = predicate.Funcs{
	UpdateFunc: func(e event.UpdateEvent) bool {
		before, after := e.ObjectOld.(*v1alpha1.ReliableSubscription), e.ObjectNew.(*v1alpha1.ReliableSubscription)
		// Also where the reason stays and speaks of a newer spec.
		return before.Generation != after.Generation || subscriptionReason(before) != subscriptionReason(after) ||
			isEstablished(before) != isEstablished(after) ||
			before.DeletionTimestamp.IsZero() != after.DeletionTimestamp.IsZero()
	},
}

// subscriptionReason is the reason of a subscription's Established condition.
func subscriptionReason(sub *v1alpha1.ReliableSubscription) string { return established(sub).Reason }

func established(sub *v1alpha1.ReliableSubscription) metav1.Condition {
	return newConditionSet(0, sub.Status.Conditions).get(v1alpha1.ConditionEstablished)
}

func isEstablished(sub *v1alpha1.ReliableSubscription) bool {
	return v1alpha1.Holds(sub.Status.Conditions, v1alpha1.ConditionEstablished, sub.Generation)
}
