package controllers

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/warren-mq/warren/api/v1alpha1"
	"github.com/warren-mq/warren/controllers/binding"
	"github.com/warren-mq/warren/internal/broker"
)

// +kubebuilder:rbac:groups="",resources=configmaps,verbs=get;list;watch;create;patch

// offered is a resource of which applications are told.
type offered struct {
	object   client.Object
	generate bool
	// What its status says.
	connection *v1alpha1.ConnectionStatus
	binding    *v1alpha1.BindingStatus
	conditions []metav1.Condition
	// offer is what applications are told of a vhost that is reached there.
	offer func(broker.Endpoint) binding.Offer
}

// hasUser tells whether there is, or may be soon, a user to be removed.
func (o offered) hasUser() bool { return o.generate || o.binding != nil }

// offering is what came of telling applications.
type offering struct {
	connection *v1alpha1.ConnectionStatus
	binding    *v1alpha1.BindingStatus
	// blocked: the ConfigMap cannot be written.
	blocked *Problem
	// lacking: the credentials are not as the spec wants them.
	lacking *Problem
	// kept: nothing was tried; what was told last still holds.
	kept bool
	// recheck is when to look again, 0 for the next change.
	recheck time.Duration
}

// tell writes ConfigMap, Secret and user. Credentials are given for what is
// established alone: whose an object is, and whether it may be adopted, was judged for that.
func (r *reconciler) tell(ctx context.Context, a *assessment, o offered) (offering, error) {
	out := offering{connection: o.connection, binding: o.binding}
	if a.problem != nil || a.paused() {
		out.kept = true
		if o.generate && o.binding == nil {
			out.lacking = notYet(a)
		}
		return out, nil
	}
	offer := o.offer(a.view.Endpoint)
	var err error
	if out.blocked, err = objectTrouble(r.store.KeepConnection(ctx, offer), "ConfigMaps", o.object, "config/core"); err != nil {
		return out, err
	}
	if out.blocked == nil {
		out.connection = &v1alpha1.ConnectionStatus{ConfigMapName: offer.Name}
	}
	switch {
	case o.generate:
		err = r.keepCredentials(ctx, a.view, o, offer, &out)
	case o.hasUser():
		out.lacking, err = r.revoke(ctx, a.view, offer)
		if out.lacking == nil && err == nil {
			// Nothing is left to clean up: the finalizer goes next.
			out.binding, out.recheck = nil, time.Second
		}
	}
	if out.blocked != nil || out.lacking != nil {
		out.recheck = a.view.SyncPeriod
	}
	return out, err
}

func notYet(a *assessment) *Problem {
	if a.problem != nil {
		return &Problem{Status: a.problem.Status, Reason: a.problem.Reason, Message: "no credentials are generated for what is not established: " + a.problem.Message}
	}
	return problem(v1alpha1.ReasonPaused, "annotation %s keeps Warren from writing to the broker", v1alpha1.PausedAnnotation)
}

// objectTrouble turns what people must mend into a problem.
func objectTrouble(err error, what string, of client.Object, grantedBy string) (*Problem, error) {
	var taken *binding.TakenError
	switch {
	case err == nil:
		return nil, nil
	case errors.As(err, &taken):
		return problem(v1alpha1.ReasonNameTaken, "%s", taken), nil
	case apierrors.IsForbidden(err):
		return problem(v1alpha1.ReasonForbidden, "Warren may not read and write %s in namespace %q: apply %s, or grant its service account the rights that are in it", what, of.GetNamespace(), grantedBy), nil
	}
	return nil, err
}

// fill puts an offering into a status.
func (o offering) fill(of offered, connection **v1alpha1.ConnectionStatus, made **v1alpha1.BindingStatus, conditions *[]metav1.Condition) {
	*connection, *made = o.connection, o.binding
	set := newConditionSet(of.object.GetGeneration(), *conditions)
	switch {
	case o.blocked != nil:
		set.set(v1alpha1.ConditionConnectionBlocked, metav1.ConditionTrue, o.blocked.Reason, o.blocked.Message)
	case !o.kept:
		meta.RemoveStatusCondition(&set.conditions, v1alpha1.ConditionConnectionBlocked)
	}
	switch {
	case o.lacking != nil:
		set.setProblem(v1alpha1.ConditionCredentialsReady, o.lacking)
	case o.binding == nil:
		meta.RemoveStatusCondition(&set.conditions, v1alpha1.ConditionCredentialsReady)
	case !o.kept:
		set.set(v1alpha1.ConditionCredentialsReady, metav1.ConditionTrue, v1alpha1.ReasonGenerated,
			fmt.Sprintf("Secret %q has the credentials of RabbitMQ user %q", o.binding.Name, o.binding.Username))
	}
	*conditions = set.conditions
}

// connectionChanged: what others did to a ConfigMap of ours. That there is one is known.
var connectionChanged = predicate.Funcs{
	CreateFunc: func(event.CreateEvent) bool { return false },
	UpdateFunc: func(e event.UpdateEvent) bool {
		said := func(o client.Object) string { return o.GetAnnotations()[v1alpha1.RevisionAnnotation] }
		return said(e.ObjectOld) != said(e.ObjectNew) || !slices.EqualFunc(e.ObjectOld.GetOwnerReferences(), e.ObjectNew.GetOwnerReferences(),
			func(a, b metav1.OwnerReference) bool { return a.UID == b.UID })
	},
}
