package controllers

import (
	"context"

	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/warren-mq/warren/api/v1alpha1"
)

// redriveWorkers need not be many: they move no messages.
const redriveWorkers = 8

// SetupWithManager registers the reconciler and its runs.
func (r *RedriveReconciler) SetupWithManager(mgr ctrl.Manager) error {
	r.runs = newRedriveRuns()
	if err := mgr.Add(r.runs); err != nil {
		return err
	}
	if r.Metrics != nil {
		if err := r.Metrics.Register(&redriveCollector{client: r.Client, runs: r.runs}); err != nil {
			return err
		}
	}
	r.looks.redriving = func(key types.NamespacedName) bool { return r.runs.at(key) != nil }
	return ctrl.NewControllerManagedBy(mgr).
		For(&v1alpha1.Redrive{}, builder.WithPredicates(specOrAnnotations)).
		Watches(&v1alpha1.Redrive{}, handler.EnqueueRequestsFromMapFunc(func(ctx context.Context, o client.Object) []reconcile.Request {
			return r.ofSubscription(ctx, subscriptionKey(o.(*v1alpha1.Redrive)))
		}), builder.WithPredicates(makesRoom)).
		Watches(&v1alpha1.ReliableSubscription{}, handler.EnqueueRequestsFromMapFunc(func(ctx context.Context, o client.Object) []reconcile.Request {
			return r.ofSubscription(ctx, client.ObjectKeyFromObject(o))
		}), builder.WithPredicates(establishedChanged)).
		WatchesRawSource(source.TypedChannel(r.Brokers.subscribe(), eachKey(r.onBroker))).
		WatchesRawSource(source.TypedChannel(r.runs.ended, eachKey(itself))).
		WatchesRawSource(source.TypedChannel(r.runs.left, eachKey(r.ofSubscription))).
		WithOptions(controller.Options{MaxConcurrentReconciles: redriveWorkers}).
		Complete(r)
}

// makesRoom: a Redrive wants its turn no more, so that the next one may go on.
var makesRoom = predicate.Funcs{
	CreateFunc: func(event.CreateEvent) bool { return false },
	UpdateFunc: func(e event.UpdateEvent) bool {
		return wantsTurn(e.ObjectOld.(*v1alpha1.Redrive)) && !wantsTurn(e.ObjectNew.(*v1alpha1.Redrive))
	},
	GenericFunc: func(event.GenericEvent) bool { return false },
}

var establishedChanged = predicate.Or(predicate.GenerationChangedPredicate{}, predicate.Funcs{
	UpdateFunc: func(e event.UpdateEvent) bool {
		was, is := e.ObjectOld.(*v1alpha1.ReliableSubscription), e.ObjectNew.(*v1alpha1.ReliableSubscription)
		return (notEstablished(was) == nil) != (notEstablished(is) == nil) || subscriptionReason(was) != subscriptionReason(is)
	},
})

// ofSubscription lists the Redrives of a subscription that are not finished.
func (r *RedriveReconciler) ofSubscription(ctx context.Context, key types.NamespacedName) []reconcile.Request {
	return r.unfinished(ctx, func(rd *v1alpha1.Redrive) bool { return subscriptionKey(rd) == key }, client.InNamespace(key.Namespace))
}

// onBroker lists those whose subscription is on a broker.
func (r *RedriveReconciler) onBroker(ctx context.Context, key types.NamespacedName) []reconcile.Request {
	return r.unfinished(ctx, func(rd *v1alpha1.Redrive) bool {
		var sub v1alpha1.ReliableSubscription
		err := r.Client.Get(ctx, subscriptionKey(rd), &sub)
		return err == nil && brokerKey(sub.Namespace, sub.Spec.BrokerRef) == key
	})
}

func (r *RedriveReconciler) unfinished(ctx context.Context, which func(*v1alpha1.Redrive) bool, options ...client.ListOption) []reconcile.Request {
	var all v1alpha1.RedriveList
	if err := r.Client.List(ctx, &all, append(options, readOnly)...); err != nil {
		log.FromContext(ctx).Error(err, "cannot list the Redrives that a change concerns")
		return nil
	}
	var reqs []reconcile.Request
	for i := range all.Items {
		if rd := &all.Items[i]; !finished(rd) && which(rd) {
			reqs = append(reqs, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(rd)})
		}
	}
	return reqs
}
