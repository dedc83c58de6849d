package controllers

import (
	"context"
	"fmt"
	"math"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/warren-mq/warren/api/v1alpha1"
	"github.com/warren-mq/warren/internal/broker"
)

// othersGrace is longer than RabbitMQ keeps what a lost connection holds.
const othersGrace = 60 * time.Second

// begin starts a run, the first one or a further one. What it is bounded by
// is in the status before the first message moves.
func (r *RedriveReconciler) begin(ctx context.Context, rd *v1alpha1.Redrive, s *site) (reconcile.Result, error) {
	queue, p := s.queue(rd)
	if p != nil {
		return r.finish(ctx, rd, r.nextStatus(rd), p)
	}
	release, ok := r.turn(rd)
	if !ok {
		return reconcile.Result{RequeueAfter: time.Second}, nil
	}
	defer release()
	count, err := s.view.Session.Count(ctx, queue)
	if err != nil {
		result, writeErr := r.wait(ctx, rd, fromBroker(err))
		result.RequeueAfter = interruptedPause
		return result, writeErr
	}
	next := r.nextStatus(rd)
	first := rd.Status.StartTime == nil
	switch {
	case r.heldByOthers(rd, count):
		return reconcile.Result{RequeueAfter: time.Second}, nil
	case first:
		next.start(rd, queue, count.Ready)
	case rd.Status.InDoubt:
		next.recount(rd, count.Ready)
	}
	if next.nothingToDo(rd) {
		return r.finish(ctx, rd, next, nil)
	}
	move := s.move(rd, queue, next.RedriveStatus, count.Ready)
	doubtful := rd.Status.InDoubt
	next.InDoubt = !rd.Spec.DryRun
	next.moving(rd)
	next.suspended(rd)
	if err := r.write(ctx, rd, next); err != nil {
		return reconcile.Result{}, err
	}
	if first {
		emit(r.Events, rd, corev1.EventTypeNormal, eventStarted, string(rd.Spec.Action), startedNote(rd, next.RedriveStatus, s))
	}
	r.runs.start(rd, s, move, doubtful, next.done())
	return reconcile.Result{RequeueAfter: progressEvery}, nil
}

// turn keeps other Redrives from beginning, and looks, since what a look holds
// is not ready. It is false while there is one.
func (r *RedriveReconciler) turn(rd *v1alpha1.Redrive) (release func(), ok bool) {
	subscription := subscriptionKey(rd)
	free, ok := r.runs.reserve(subscription)
	if !ok {
		return nil, false
	}
	letLook, ok := r.looks.holdOff(subscription)
	if !ok {
		free()
		return nil, false
	}
	return func() { letLook(); free() }, true
}

// heldByOthers tells whether a count is not to be believed yet: those that the
// connection of a killed Warren holds, for a look or for this Redrive, are not ready.
func (r *RedriveReconciler) heldByOthers(rd *v1alpha1.Redrive, count broker.QueueCount) bool {
	unsure := rd.Status.InDoubt || rd.Status.StartTime == nil && count.Ready == 0
	return unsure && count.Consumers > 0 && r.runs.doubtful(rd.UID) < othersGrace
}

// move says which messages are moved, as far as a status tells.
func (s *site) move(rd *v1alpha1.Redrive, queue string, status *v1alpha1.RedriveStatus, ready int64) broker.Move {
	done := ptr.Deref(status.Moved, 0) + ptr.Deref(status.Discarded, 0)
	m := broker.Move{
		Names: s.names, Queue: queue, Exchange: s.names.Redrive(), Mark: string(rd.UID),
		Judge:     judge(rd, status.StartTime.Time),
		Selective: rd.Spec.Filter != nil,
		Most:      *status.ParkedAtStart - done,
		Quota:     math.MaxInt64,
		PerSecond: ptr.Deref(rd.Spec.MessagesPerSecond, 0),
		Dry:       rd.Spec.DryRun,
	}
	if rd.Spec.Action == v1alpha1.RedriveDiscard {
		m.Exchange = ""
	}
	if rd.Status.InDoubt {
		// Some of what is counted as moved may be back. What has come since is
		// known by its mark, or by its time, and is passed over.
		m.Most = ready
	}
	if limit := rd.Spec.MaxMessages; limit != nil {
		m.Quota = *limit - done
	}
	return m
}

func startedNote(rd *v1alpha1.Redrive, status *v1alpha1.RedriveStatus, s *site) string {
	switch {
	case rd.Spec.DryRun:
		return fmt.Sprintf("a dry run: queue %q holds %s", status.Queue, count(*status.ParkedAtStart, "message"))
	case rd.Spec.Action == v1alpha1.RedriveDiscard:
		return fmt.Sprintf("discards messages of queue %q, which holds %d", status.Queue, *status.ParkedAtStart)
	}
	return fmt.Sprintf("moves messages from queue %q, which holds %d, through exchange %q to queue %q",
		status.Queue, *status.ParkedAtStart, s.names.Redrive(), s.names.Work)
}

// conclude judges what came of a run.
func (r *RedriveReconciler) conclude(ctx context.Context, rd *v1alpha1.Redrive, run *redriveRun) (reconcile.Result, error) {
	next := r.nextStatus(rd)
	next.count(run)
	verdict := run.verdict()
	switch {
	case verdict.complete:
		next.complete(rd, run)
		return r.finish(ctx, rd, next, nil)
	case verdict.failure != nil:
		next.InDoubt = false
		return r.finish(ctx, rd, next, verdict.failure)
	case verdict.interruption != nil:
		next.progress(verdict.interruption)
	default:
		next.InDoubt = false
		next.progress(problem(v1alpha1.ReasonStopping, "it has stopped"))
	}
	next.suspended(rd)
	if err := r.write(ctx, rd, next); err != nil {
		return reconcile.Result{}, err
	}
	if wantsTurn(rd) {
		r.runs.forget(run)
	} else {
		r.runs.leave(run)
	}
	if verdict.interruption != nil {
		return reconcile.Result{RequeueAfter: interruptedPause}, nil
	}
	return reconcile.Result{RequeueAfter: time.Millisecond}, nil
}

// finish ends a Redrive for good: failed for a reason, or complete.
func (r *RedriveReconciler) finish(ctx context.Context, rd *v1alpha1.Redrive, next *redriveStatus, failure *Problem) (reconcile.Result, error) {
	now := metav1.Now()
	next.CompletionTime = &now
	next.outcome(rd, failure)
	if err := r.write(ctx, rd, next); err != nil {
		return reconcile.Result{}, err
	}
	redriveEvents(r.Events, rd, next.RedriveStatus)
	r.runs.abandon(client.ObjectKeyFromObject(rd))
	if rd.Spec.TTLSecondsAfterFinished != nil {
		return reconcile.Result{RequeueAfter: time.Duration(*rd.Spec.TTLSecondsAfterFinished)*time.Second + time.Second}, nil
	}
	return reconcile.Result{}, nil
}
