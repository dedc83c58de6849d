package controllers

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/warren-mq/warren/api/v1alpha1"
	"github.com/warren-mq/warren/internal/drift"
	"github.com/warren-mq/warren/internal/topology"
)

// removable is a resource that may have something to clean up on the broker
// before it goes.
type removable struct {
	client.Object
	brokerRef v1alpha1.BrokerReference
	adoption  v1alpha1.AdoptionPolicy
	// retain: the broker is to stay as it is.
	retain bool
	// withMessages: queues go with what they hold.
	withMessages bool
	// revoke removes generated credentials; nil where there are none.
	revoke func(context.Context, *View) (*Problem, error)
	// compile gives what it may have declared, for a broker's version.
	compile func(topology.Version) (*topology.Topology, error)
	// report writes what it waits for into the status.
	report func(context.Context, *Problem) error
}

func (o removable) key() types.NamespacedName { return client.ObjectKeyFromObject(o.Object) }
func (o removable) on() types.NamespacedName  { return brokerKey(o.GetNamespace(), o.brokerRef) }

// needsFinalizer: something is to be cleaned up when it goes.
func (o removable) needsFinalizer() bool { return !o.retain || o.revoke != nil }

// holds tells whether an annotation is set to "true".
func (o removable) holds(annotation string) bool { return o.GetAnnotations()[annotation] == "true" }

// keepFinalizer lets a resource have the finalizer only as long as there is
// something to clean up: without it, nothing can keep it from going.
func (r *reconciler) keepFinalizer(ctx context.Context, o client.Object, wanted bool) error {
	if wanted == controllerutil.ContainsFinalizer(o, v1alpha1.CleanupFinalizer) {
		return nil
	}
	before := o.DeepCopyObject().(client.Object)
	if wanted {
		controllerutil.AddFinalizer(o, v1alpha1.CleanupFinalizer)
	} else {
		controllerutil.RemoveFinalizer(o, v1alpha1.CleanupFinalizer)
	}
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	return client.IgnoreNotFound(r.Client.Patch(ctx, o, patch))
}

// remove takes the next step in the removal of a resource that is being deleted.
func (r *reconciler) remove(ctx context.Context, o removable) (reconcile.Result, error) {
	if !controllerutil.ContainsFinalizer(o, v1alpha1.CleanupFinalizer) {
		return reconcile.Result{}, nil
	}
	leave, retry, err := r.lettingGo(ctx, o)
	if err != nil {
		return reconcile.Result{}, err
	}
	if leave != nil {
		return reconcile.Result{}, r.release(ctx, o, leave)
	}
	view, p, err := r.lookup().view(ctx, o.GetNamespace(), o.brokerRef)
	switch {
	case err != nil || view == nil && p == nil:
		return retry, err
	case p != nil && p.Gone:
		return reconcile.Result{}, r.release(ctx, o, &letGo{reason: eventReleased, note: "nothing was deleted from the broker: " + p.Message})
	case p != nil:
		return retry, o.report(ctx, stillThere("%s", p.Message))
	case o.holds(v1alpha1.PausedAnnotation):
		return retry, o.report(ctx, stillThere("annotation %s keeps Warren from writing to the broker", v1alpha1.PausedAnnotation))
	}
	if o.retain {
		return r.finish(ctx, o, view, retry, "its RabbitMQ user was deleted, and everything else is left on the broker")
	}
	seen := view.Observation.Snapshot
	if r.attempts.precedes(seen, o.Object) {
		r.Brokers.Kick(o.on())
		return retry, nil
	}
	if r.attempts.notIn(o.key(), seen) {
		return retry, nil
	}
	next, err := r.removal(ctx, o, view)
	if err != nil {
		return retry, err
	}
	return r.proceed(ctx, o, view, next, retry)
}

// removal plans by what the broker has.
func (r *reconciler) removal(ctx context.Context, o removable, view *View) (drift.Removal, error) {
	want, err := o.compile(view.Observation.Snapshot.Broker)
	if err != nil {
		return drift.Removal{Waiting: []string{"it cannot be told what it has declared: " + refused(err).Message}}, nil
	}
	claims, err := r.claims(ctx, o, view, o.adoption)
	if err != nil {
		return drift.Removal{}, err
	}
	return drift.PlanRemoval(want, view.Observation.Snapshot, claims, drift.Removing{
		WithMessages: o.withMessages, Adopted: o.holds(v1alpha1.DeleteAdoptedAnnotation), QuietSince: r.attempts.quietSince(o.key()),
	}), nil
}

// proceed executes a plan, tells what it waits for, or lets the resource go.
func (r *reconciler) proceed(ctx context.Context, o removable, view *View, next drift.Removal, retry reconcile.Result) (reconcile.Result, error) {
	if len(next.Plan) > 0 {
		defer r.Brokers.Kick(o.on())
		problem := r.execute(ctx, o, view.Session, next.Plan)
		r.attempts.noteRemoval(o.key(), next.Plan, problem)
		if problem == nil {
			return retry, nil
		}
		next.Waiting = append(next.Waiting, problem.Message)
	}
	if len(next.Waiting) > 0 {
		return retry, o.report(ctx, stillThere("%s", list(next.Waiting)))
	}
	return r.finish(ctx, o, view, retry, "nothing of it is left on the broker that Warren may delete")
}

// finish removes generated credentials, which whoever drains a queue has needed
// until now, and lets the resource go.
func (r *reconciler) finish(ctx context.Context, o removable, view *View, retry reconcile.Result, note string) (reconcile.Result, error) {
	if o.revoke != nil {
		p, err := o.revoke(ctx, view)
		if err != nil {
			return retry, err
		}
		if p != nil {
			retry.RequeueAfter = sooner(retry.RequeueAfter, view.SyncPeriod)
			return retry, o.report(ctx, stillThere("%s", p.Message))
		}
	}
	return reconcile.Result{}, r.release(ctx, o, &letGo{reason: eventRemoved, note: note})
}

// execute stops at the first step that the broker does not take: a queue that
// is in use after all is looked at again at the next reading.
func (r *reconciler) execute(ctx context.Context, o removable, session Session, plan drift.Plan) *Problem {
	for _, action := range plan {
		d, withMessages := action.(drift.DeleteQueue)
		if !withMessages {
			if err := executeOne(ctx, session, action); err != nil {
				return fromBroker(err)
			}
			continue
		}
		messages, err := session.DeleteQueue(ctx, d.Queue)
		if err != nil {
			return fromBroker(err)
		}
		tellDeleted(r.Events, o.Object, d.Queue, messages)
	}
	return nil
}

// stillThere is what the status of a resource says that cannot go yet.
func stillThere(format string, args ...any) *Problem {
	p := problem(v1alpha1.ReasonTerminating, format, args...)
	p.Message = "it is being deleted, and waits: " + p.Message + ". To let it go as it is, set annotation " + v1alpha1.AbandonAnnotation + ` to "true"`
	return p
}

// recheckNamespace is how often a namespace that terminates is looked at, where no reading calls.
const recheckNamespace = 5 * time.Second
