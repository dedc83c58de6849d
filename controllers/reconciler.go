package controllers

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/warren-mq/warren/api/v1alpha1"
	"github.com/warren-mq/warren/controllers/binding"
)

// reconciler is what the reconcilers of topics and subscriptions share: both
// declare something on a broker that is read for them.
type reconciler struct {
	Client client.Client
	// Namespaces reads the labels of namespaces.
	Namespaces client.Reader
	Brokers    *Brokers
	Events     events.EventRecorder
	// ClusterID is the first part of the owner's mark.
	ClusterID string

	watchNamespaces bool
	attempts        *attempts
	settled         *settled
	// proofs of the kind that is reconciled.
	proofs *proofs
	// store and checks are for what applications are told.
	store  binding.Store
	checks *checks
}

func (r *reconciler) lookup() lookup {
	return lookup{client: r.Client, namespaces: r.Namespaces, brokers: r.Brokers, clusterID: r.ClusterID}
}

// forget is for a resource that is gone.
func (r *reconciler) forget(key types.NamespacedName) {
	r.attempts.forget(key)
	r.proofs.forget(key)
	r.checks.forget(key)
}

// controllerOf watches a kind, and what all kinds depend on: the Broker that
// they refer to, its readings, and the labels of namespaces. newList makes an
// empty list of the kind.
func (r *reconciler) controllerOf(mgr ctrl.Manager, kind client.Object, newList func() client.ObjectList) *builder.Builder {
	ofBroker := func(ctx context.Context, key types.NamespacedName) []reconcile.Request {
		return requests(ctx, r.Client, newList(), brokerIndex, key)
	}
	ofReading := func(ctx context.Context, key types.NamespacedName) []reconcile.Request {
		return r.settled.without(r.Brokers, key, ofBroker(ctx, key), r.proofs)
	}
	b := ctrl.NewControllerManagedBy(mgr).
		For(kind, builder.WithPredicates(specOrAnnotations, r.hears())).
		Watches(&v1alpha1.Broker{}, handler.EnqueueRequestsFromMapFunc(func(ctx context.Context, o client.Object) []reconcile.Request {
			return ofBroker(ctx, client.ObjectKeyFromObject(o))
		}), builder.WithPredicates(specOrAnnotations)).
		Owns(&corev1.ConfigMap{}, builder.OnlyMetadata, builder.WithPredicates(connectionChanged)).
		WatchesRawSource(source.TypedChannel(r.Brokers.subscribe(), eachKey(ofReading)))
	if r.watchNamespaces {
		b = b.WatchesMetadata(&corev1.Namespace{}, handler.EnqueueRequestsFromMapFunc(func(ctx context.Context, ns client.Object) []reconcile.Request {
			return inNamespace(ctx, r.Client, newList(), ns.GetName())
		}), builder.WithPredicates(predicate.LabelChangedPredicate{}))
	}
	return b
}

// hears notes a new spec when it is heard of, and lets everything through.
func (r *reconciler) hears() predicate.Predicate {
	return predicate.NewPredicateFuncs(func(o client.Object) bool {
		r.attempts.meet(o)
		return true
	})
}

// specOrAnnotations: changes that a user makes. Statuses are Warren's own.
var specOrAnnotations = predicate.Or(predicate.GenerationChangedPredicate{}, predicate.AnnotationChangedPredicate{})
