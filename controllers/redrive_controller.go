package controllers

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/warren-mq/warren/api/v1alpha1"
)

const (
	// progressEvery is how often the progress of a move is written. What a
	// Warren that is killed has not written is found out by what is still parked.
	progressEvery = 2 * time.Second
	// interruptedPause is how long a move that was cut off waits until it goes on.
	interruptedPause = 3 * time.Second
)

// RedriveReconciler brings parked messages back. Messages are moved beside
// its workers, by runs; it starts, stops and judges them, and is the only one
// that writes a Redrive's status.
type RedriveReconciler struct {
	reconciler
	// Live reads Redrives by GET: a cache that is late must not make one run twice.
	Live client.Reader
	// Metrics, if set, gets what there is to tell of Redrives.
	Metrics prometheus.Registerer

	runs  *redriveRuns
	looks *inspections
}

// +kubebuilder:rbac:groups=warren.dev,resources=redrives,verbs=get;list;watch;delete
// +kubebuilder:rbac:groups=warren.dev,resources=redrives/status,verbs=patch

// Reconcile takes the next step of one Redrive.
func (r *RedriveReconciler) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	var rd v1alpha1.Redrive
	err := r.Client.Get(ctx, req.NamespacedName, &rd)
	if err == nil && !finished(&rd) {
		err = r.Live.Get(ctx, req.NamespacedName, &rd)
	}
	if err != nil {
		if client.IgnoreNotFound(err) == nil {
			r.runs.abandon(req.NamespacedName)
		}
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	run := r.runs.of(req.NamespacedName)
	if run != nil && run.uid != rd.UID || !rd.DeletionTimestamp.IsZero() {
		// Of a namesake that is gone, or about to go.
		r.runs.abandon(req.NamespacedName)
		return reconcile.Result{RequeueAfter: time.Second}, nil
	}
	switch {
	case finished(&rd):
		r.runs.abandon(req.NamespacedName)
		return r.expire(ctx, &rd)
	case run != nil && run.hasEnded():
		return r.conclude(ctx, &rd, run)
	case run != nil:
		return r.supervise(ctx, &rd, run)
	}
	return r.proceed(ctx, &rd)
}

func finished(rd *v1alpha1.Redrive) bool {
	set := newConditionSet(0, rd.Status.Conditions)
	return set.isTrue(v1alpha1.ConditionComplete) || set.isTrue(v1alpha1.ConditionFailed)
}

// expire deletes what is finished for long enough.
func (r *RedriveReconciler) expire(ctx context.Context, rd *v1alpha1.Redrive) (reconcile.Result, error) {
	ttl := rd.Spec.TTLSecondsAfterFinished
	if ttl == nil || rd.Status.CompletionTime == nil {
		return reconcile.Result{}, nil
	}
	if wait := time.Until(rd.Status.CompletionTime.Add(time.Duration(*ttl) * time.Second)); wait > 0 {
		return reconcile.Result{RequeueAfter: wait}, nil
	}
	err := r.Client.Delete(ctx, rd, client.Preconditions{UID: ptr.To(rd.UID)})
	return reconcile.Result{}, client.IgnoreNotFound(err)
}

// supervise tells how far a run is, and stops it where it must not go on.
func (r *RedriveReconciler) supervise(ctx context.Context, rd *v1alpha1.Redrive, run *redriveRun) (reconcile.Result, error) {
	site, wait, err := r.site(ctx, rd)
	if err != nil {
		return reconcile.Result{}, err
	}
	if site != nil && wait == nil {
		wait, err = r.rival(ctx, rd)
	}
	if err != nil {
		return reconcile.Result{}, err
	}
	next := r.nextStatus(rd)
	next.count(run)
	switch {
	case wait != nil || deadlineLeft(rd) <= 0:
		run.stop()
		next.progress(problem(v1alpha1.ReasonStopping, "what is under way is awaited, then it stops"))
		next.suspended(rd)
	case run.counts().Blocked != "":
		next.progress(blockedByAlarm(run.counts().Blocked))
	default:
		next.moving(rd)
	}
	if run.mayReport(next.differsInCountsOnly(rd)) {
		err = r.write(ctx, rd, next)
	}
	return reconcile.Result{RequeueAfter: min(progressEvery, max(deadlineLeft(rd), time.Second))}, err
}

// proceed is for a Redrive of which nothing is under way.
func (r *RedriveReconciler) proceed(ctx context.Context, rd *v1alpha1.Redrive) (reconcile.Result, error) {
	if deadlineLeft(rd) <= 0 {
		return r.finish(ctx, rd, r.nextStatus(rd), overdue(rd))
	}
	site, wait, err := r.site(ctx, rd)
	if err != nil || (site == nil && wait == nil) {
		// The broker has not been read yet; its reading calls again.
		return reconcile.Result{}, err
	}
	if wait == nil {
		wait = site.alarm(rd)
	}
	if wait == nil {
		if wait, err = r.rival(ctx, rd); err != nil {
			return reconcile.Result{}, err
		}
	}
	if wait != nil {
		return r.wait(ctx, rd, wait)
	}
	return r.begin(ctx, rd, site)
}

// wait says what a Redrive waits for. Whatever ends it calls again.
func (r *RedriveReconciler) wait(ctx context.Context, rd *v1alpha1.Redrive, p *Problem) (reconcile.Result, error) {
	next := r.nextStatus(rd)
	next.progress(p)
	next.suspended(rd)
	result := reconcile.Result{}
	if left := deadlineLeft(rd); left < forever {
		result.RequeueAfter = left
	}
	return result, r.write(ctx, rd, next)
}

// forever is a deadline that is not set.
const forever = time.Duration(1<<63 - 1)

func deadlineLeft(rd *v1alpha1.Redrive) time.Duration {
	if rd.Spec.Deadline == nil || rd.Status.StartTime == nil {
		return forever
	}
	d, err := rd.Spec.Deadline.Value()
	if err != nil {
		return forever
	}
	return time.Until(rd.Status.StartTime.Add(d))
}

func overdue(rd *v1alpha1.Redrive) *Problem {
	return problem(v1alpha1.ReasonDeadlineExceeded, "it has taken longer than spec.deadline (%s): what has not moved is still parked; create another Redrive for it", *rd.Spec.Deadline)
}
