package controllers

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/warren-mq/warren/api/v1alpha1"
)

// namespacePatience is how long a namespace that terminates waits for a
// resource in it. It must not hang for a broker.
const namespacePatience = 30 * time.Second

// letGo is why a resource is let go, as an Event tells it.
type letGo struct {
	reason, note string
	// elsewhere: no Event can be written in the namespace any more.
	elsewhere bool
}

// lettingGo finds a reason to let a resource go whatever is on the broker. The
// result is when to look again, where there is none yet.
func (r *reconciler) lettingGo(ctx context.Context, o removable) (*letGo, reconcile.Result, error) {
	switch {
	case o.retain && o.revoke == nil:
		return &letGo{}, reconcile.Result{}, nil
	case o.holds(v1alpha1.AbandonAnnotation):
		return &letGo{reason: eventReleased, note: "annotation " + v1alpha1.AbandonAnnotation + " lets it go: what is left on the broker stays there"}, reconcile.Result{}, nil
	}
	terminating, err := r.terminatingFor(ctx, o.GetNamespace())
	switch {
	case err != nil || terminating == 0:
		return nil, reconcile.Result{}, err
	case terminating < namespacePatience:
		return nil, reconcile.Result{RequeueAfter: recheckNamespace}, nil
	}
	return &letGo{reason: eventReleased, elsewhere: true, note: fmt.Sprintf(
		"%s %s was let go after its namespace had been terminating for %s: what is left of it on the broker stays there", kindOf(o.Object), o.key(), namespacePatience)}, reconcile.Result{}, nil
}

// terminatingFor is 0 for a namespace that is not being deleted.
func (r *reconciler) terminatingFor(ctx context.Context, name string) (time.Duration, error) {
	ns := &metav1.PartialObjectMetadata{}
	ns.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Namespace"))
	err := r.Namespaces.Get(ctx, client.ObjectKey{Name: name}, ns)
	switch {
	case apierrors.IsNotFound(err) || apierrors.IsForbidden(err):
		// With Roles alone it cannot be told; the annotation still helps.
		return 0, nil
	case err != nil:
		return 0, err
	case ns.DeletionTimestamp.IsZero():
		return 0, nil
	}
	return max(time.Since(ns.DeletionTimestamp.Time), 1), nil
}

// mayAct tells whether a plan may be executed. For a namespace that is being
// deleted nothing is: its resources go in any order, and a subscription that
// outlives its Topic for a moment must not lose its source under Retain.
func (r *reconciler) mayAct(ctx context.Context, do actor, a *assessment) (bool, error) {
	key := client.ObjectKeyFromObject(a.of)
	if !do.mayAct(key, a) {
		return false, nil
	}
	leaving, err := r.terminatingFor(ctx, key.Namespace)
	return leaving == 0 && err == nil, err
}

// release takes the finalizer away, and tells why.
func (r *reconciler) release(ctx context.Context, o removable, why *letGo) error {
	if err := r.keepFinalizer(ctx, o.Object, false); err != nil {
		return err
	}
	switch {
	case why.reason == "":
	case !why.elsewhere:
		emit(r.Events, o.Object, corev1.EventTypeNormal, why.reason, "Delete", why.note)
	case o.on().Namespace != o.GetNamespace():
		var b v1alpha1.Broker
		if err := r.Client.Get(ctx, o.on(), &b); err != nil {
			return client.IgnoreNotFound(err)
		}
		emitOn(r.Events, &b, o.key().String(), corev1.EventTypeWarning, why.reason, "Delete", why.note)
	}
	return nil
}

func kindOf(o client.Object) string {
	if _, ok := o.(*v1alpha1.Topic); ok {
		return "Topic"
	}
	return "ReliableSubscription"
}
