package controllers

import (
	"context"
	"errors"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/warren-mq/warren/api/v1alpha1"
	"github.com/warren-mq/warren/internal/topology"
)

// SubscriptionReconciler makes ReliableSubscriptions work and says how they do.
type SubscriptionReconciler struct {
	reconciler
	backlogs backlogs
	looks    *inspections
}

// +kubebuilder:rbac:groups=warren.dev,resources=reliablesubscriptions;topics,verbs=list;watch;patch
// +kubebuilder:rbac:groups=warren.dev,resources=reliablesubscriptions/status,verbs=patch
// +kubebuilder:rbac:groups="",resources=namespaces,verbs=get;list;watch

// Reconcile observes, compares, acts, and writes one status.
func (r *SubscriptionReconciler) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	var sub v1alpha1.ReliableSubscription
	r.settled.forget(req.NamespacedName)
	if err := r.Client.Get(ctx, req.NamespacedName, &sub); err != nil {
		r.forget(req.NamespacedName)
		r.backlogs.forget(req.NamespacedName)
		r.looks.forget(req.NamespacedName)
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if !sub.DeletionTimestamp.IsZero() {
		return r.remove(ctx, r.removable(&sub))
	}
	if err := r.keepFinalizer(ctx, &sub, r.removable(&sub).needsFinalizer()); err != nil {
		return reconcile.Result{}, err
	}
	a, err := r.assess(ctx, &sub)
	if err != nil || a == nil {
		return reconcile.Result{}, err
	}
	actor := actor{brokers: r.Brokers, attempts: r.attempts}
	on := brokerKey(sub.Namespace, sub.Spec.BrokerRef)
	may, err := r.mayAct(ctx, actor, a)
	if err != nil {
		return reconcile.Result{}, err
	}
	if may {
		r.proofs.doubt(req.NamespacedName)
		err := actor.act(ctx, req.NamespacedName, on, a)
		if err == nil {
			if r.attempts.wasProved(req.NamespacedName, sub.Generation, established(&sub)) {
				tellRecreated(r.Events, &sub, a)
			}
			tellDrained(r.Events, &sub, a.result.Plan)
		}
		if err == nil || errors.Is(err, errOutdated) {
			// What came of it is told by the next reading.
			return reconcile.Result{}, nil
		}
	}
	if a.problem == nil {
		r.attempts.prove(req.NamespacedName, sub.Generation)
	}
	result, err := r.report(ctx, &sub, a)
	if err == nil {
		r.settled.note(req.NamespacedName, a)
		r.proofs.tell(req.NamespacedName, sub.Generation, a)
	}
	return result, err
}

// assess reads and decides; it changes nothing. Nil means that there is
// nothing to say yet: the broker has not been read since Warren started, or
// not since something was written to it.
func (r *SubscriptionReconciler) assess(ctx context.Context, sub *v1alpha1.ReliableSubscription) (*assessment, error) {
	find := r.lookup()
	view, p, err := find.view(ctx, sub.Namespace, sub.Spec.BrokerRef)
	if err != nil || (view == nil && p == nil) {
		return nil, err
	}
	a := &assessment{of: sub, clusterID: r.ClusterID, view: view, problem: p}
	if p != nil {
		return a, nil
	}
	seen := a.snapshot()
	if r.attempts.notIn(client.ObjectKeyFromObject(sub), seen) {
		return nil, nil
	}
	sources, waiting, err := find.sources(ctx, sub, view)
	if err != nil {
		return nil, err
	}
	a.problem = waiting
	names := topology.NamesOf(sub.Namespace, sub.Name, &sub.Spec)
	compiled, err := topology.Compile(topology.Subscription{
		Namespace: sub.Namespace, Name: sub.Name, Spec: &sub.Spec,
		Owner:   ownerMark(r.ClusterID, sub),
		Sources: sources,
		Broker:  seen.Broker,
		Ladder:  topology.LadderOf(names, seen),
	})
	if err != nil {
		a.problem = refused(err)
		return a, nil
	}
	if p := misnamed(view.Broker, sub.Namespace, compiled); p != nil {
		a.problem = p
		return a, nil
	}
	claims, err := r.claims(ctx, sub, view, sub.Spec.AdoptionPolicy)
	if err != nil {
		return nil, err
	}
	a.compare(compiled, claims)
	rival, err := r.contested(ctx, sub, a)
	if err != nil {
		return nil, err
	}
	if rival != nil {
		a.problem, a.result.Plan = rival, nil
		return a, nil
	}
	a.problem = firstOf(blockers, a)
	return a, nil
}

// subscriptionWorkers is how many subscriptions are worked on at once: as
// many as a session has channels.
const subscriptionWorkers = 16

// SetupWithManager registers the reconciler.
func (r *SubscriptionReconciler) SetupWithManager(mgr ctrl.Manager) error {
	if err := mgr.Add(r.looks); err != nil {
		return err
	}
	newList := func() client.ObjectList { return &v1alpha1.ReliableSubscriptionList{} }
	return r.controllerOf(mgr, &v1alpha1.ReliableSubscription{}, newList).
		Watches(&v1alpha1.Topic{}, handler.EnqueueRequestsFromMapFunc(r.hearing), builder.WithPredicates(specOrAnnotations)).
		WatchesRawSource(source.TypedChannel(r.looks.ended, eachKey(itself))).
		WithOptions(controller.Options{MaxConcurrentReconciles: subscriptionWorkers}).
		Complete(r)
}

// hearing are the subscriptions whose sources a Topic may be: those that name
// it, and those that name its exchanges.
func (r *SubscriptionReconciler) hearing(ctx context.Context, o client.Object) []reconcile.Request {
	compiled := compilable(o.(*v1alpha1.Topic))
	reqs := requests(ctx, r.Client, &v1alpha1.ReliableSubscriptionList{}, topicIndex, client.ObjectKeyFromObject(o))
	for _, exchange := range []string{compiled.ExchangeName(), compiled.UnroutableQueue()} {
		reqs = append(reqs, listed(ctx, r.Client, &v1alpha1.ReliableSubscriptionList{}, client.MatchingFields{sourceIndex: exchange})...)
	}
	return reqs
}
