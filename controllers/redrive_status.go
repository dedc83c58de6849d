package controllers

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/ptr"

	"github.com/warren-mq/warren/api/v1alpha1"
)

// redriveStatus is the next status of a Redrive, while it is put together.
type redriveStatus struct {
	*v1alpha1.RedriveStatus
	set *conditionSet
	// action is Discard or Move.
	action v1alpha1.RedriveAction
	// unfit is how many of the skipped cannot be published.
	unfit int64
}

func (r *RedriveReconciler) nextStatus(rd *v1alpha1.Redrive) *redriveStatus {
	status := rd.Status.DeepCopy()
	status.ObservedGeneration = rd.Generation
	return &redriveStatus{RedriveStatus: status, set: newConditionSet(rd.Generation, rd.Status.Conditions), action: rd.Spec.Action}
}

// write writes a status that says something new.
func (r *RedriveReconciler) write(ctx context.Context, rd *v1alpha1.Redrive, next *redriveStatus) error {
	next.Conditions = next.set.conditions
	if equality.Semantic.DeepEqual(next.RedriveStatus, &rd.Status) {
		return nil
	}
	return applyStatus(ctx, r.Client, rd, "Redrive", next.RedriveStatus)
}

// differsInCountsOnly: nobody has to know at once.
func (s *redriveStatus) differsInCountsOnly(rd *v1alpha1.Redrive) bool {
	return s.ObservedGeneration == rd.Status.ObservedGeneration && equality.Semantic.DeepEqual(s.set.conditions, rd.Status.Conditions)
}

// start fixes what it is bounded by.
func (s *redriveStatus) start(rd *v1alpha1.Redrive, queue string, parked int64) {
	s.StartTime = ptr.To(metav1.Now())
	s.Queue, s.ParkedAtStart, s.Total = queue, &parked, ptr.To(parked)
	if limit := rd.Spec.MaxMessages; limit != nil && rd.Spec.Filter == nil {
		s.Total = ptr.To(min(parked, *limit))
	}
	s.tally(0, 0)
	if rd.Spec.DryRun {
		s.WouldMove = ptr.To[int64](0)
	}
}

// done is how many messages were moved or discarded.
func (s *redriveStatus) done() int64 { return ptr.Deref(s.Moved, 0) + ptr.Deref(s.Discarded, 0) }

// tally sets the counts, which add up to the total whatever came twice.
func (s *redriveStatus) tally(done, skipped int64) {
	done = min(done, *s.Total)
	skipped = min(skipped, *s.Total-done)
	s.Moved, s.Discarded = ptr.To(done), ptr.To[int64](0)
	if s.action == v1alpha1.RedriveDiscard {
		s.Moved, s.Discarded = s.Discarded, s.Moved
	}
	s.Skipped, s.Remaining = ptr.To(skipped), ptr.To(*s.Total-done-skipped)
}

// count takes over what a run has done so far.
func (s *redriveStatus) count(run *redriveRun) {
	c := run.counts()
	s.unfit = c.Unfit
	s.tally(run.before+c.Moved+c.Dropped, c.Kept-c.Matched)
	if s.WouldMove != nil {
		s.WouldMove = ptr.To(c.Matched)
	}
}

// recount is for one that was cut off: what is parked no more was moved,
// whatever had been written last.
func (s *redriveStatus) recount(rd *v1alpha1.Redrive, ready int64) {
	s.tally(max(*rd.Status.ParkedAtStart-ready, s.done()), 0)
}

// nothingToDo: nothing is parked, or a dry run need not look.
func (s *redriveStatus) nothingToDo(rd *v1alpha1.Redrive) bool {
	if rd.Spec.DryRun && rd.Spec.Filter == nil {
		s.WouldMove = ptr.To(*s.Total)
		return true
	}
	return *s.Total == 0
}

// complete: when all has been looked at after it was cut off, what is there no more was moved.
func (s *redriveStatus) complete(rd *v1alpha1.Redrive, run *redriveRun) {
	s.InDoubt = false
	if run.doubtful && rd.Spec.Filter == nil && rd.Spec.MaxMessages == nil {
		s.tally(*s.Total, 0)
	}
}

// progress says why nothing moves.
func (s *redriveStatus) progress(p *Problem) {
	s.set.set(v1alpha1.ConditionProgressing, metav1.ConditionFalse, p.Reason, p.Message)
}

func (s *redriveStatus) moving(rd *v1alpha1.Redrive) {
	reason, message := v1alpha1.ReasonMoving, fmt.Sprintf("messages go from queue %q back to the work queue", s.Queue)
	switch {
	case rd.Spec.DryRun:
		reason, message = v1alpha1.ReasonCounting, fmt.Sprintf("a dry run looks at the messages of queue %q", s.Queue)
	case s.action == v1alpha1.RedriveDiscard:
		reason, message = v1alpha1.ReasonDiscarding, fmt.Sprintf("messages of queue %q are acknowledged away", s.Queue)
	}
	s.set.set(v1alpha1.ConditionProgressing, metav1.ConditionTrue, reason, message)
}

// suspended is there once it has been suspended, as with a Job.
func (s *redriveStatus) suspended(rd *v1alpha1.Redrive) {
	const kind = v1alpha1.ConditionSuspended
	switch {
	case rd.Spec.Suspend:
		s.set.set(kind, metav1.ConditionTrue, v1alpha1.ReasonSuspended, "spec.suspend is true")
	case s.set.isTrue(kind):
		s.set.set(kind, metav1.ConditionFalse, v1alpha1.ReasonResumed, "spec.suspend is false again")
	}
}

// outcome sets the conditions of what is finished.
func (s *redriveStatus) outcome(rd *v1alpha1.Redrive, failure *Problem) {
	s.suspended(rd)
	if failure != nil {
		s.progress(failure)
		s.set.set(v1alpha1.ConditionFailed, metav1.ConditionTrue, failure.Reason, failure.Message)
		return
	}
	done := problem(v1alpha1.ReasonCompleted, "%s", s.sentence(rd))
	s.progress(done)
	s.set.set(v1alpha1.ConditionComplete, metav1.ConditionTrue, done.Reason, done.Message)
}

// sentence sums up what is complete.
func (s *redriveStatus) sentence(rd *v1alpha1.Redrive) string {
	what := fmt.Sprintf("moved %s from queue %q", count(*s.Moved, "message"), s.Queue)
	switch {
	case *s.ParkedAtStart == 0:
		return fmt.Sprintf("queue %q was empty", s.Queue)
	case rd.Spec.DryRun:
		return fmt.Sprintf("a dry run: of %s in queue %q it would %s %d", count(*s.Total, "message"), s.Queue, verbs[s.action], *s.WouldMove)
	case s.action == v1alpha1.RedriveDiscard:
		what = fmt.Sprintf("discarded %s of queue %q", count(*s.Discarded, "message"), s.Queue)
	}
	if *s.Skipped > 0 {
		what += fmt.Sprintf("; %d were looked at and stay", *s.Skipped)
	}
	if s.unfit > 0 {
		what += fmt.Sprintf(" (%d of them since their headers do not fit into a frame of the broker's)", s.unfit)
	}
	if *s.Remaining > 0 {
		what += fmt.Sprintf("; %d that were parked at its start were not looked at, or were there no more", *s.Remaining)
	}
	return what
}

var verbs = map[v1alpha1.RedriveAction]string{v1alpha1.RedriveMove: "move", v1alpha1.RedriveDiscard: "discard"}

// redriveEvents tell how a Redrive has ended.
func redriveEvents(r events.EventRecorder, rd *v1alpha1.Redrive, status *v1alpha1.RedriveStatus) {
	set := newConditionSet(0, status.Conditions)
	if n := ptr.Deref(status.Discarded, 0); n > 0 {
		emit(r, rd, corev1.EventTypeWarning, eventDiscarded, "Discard", fmt.Sprintf("%s of queue %q were acknowledged away for good", count(n, "message"), status.Queue))
	}
	if c := set.get(v1alpha1.ConditionFailed); c.Status == metav1.ConditionTrue {
		emit(r, rd, corev1.EventTypeWarning, eventFailed, string(rd.Spec.Action), c.Reason+": "+c.Message)
		return
	}
	emit(r, rd, corev1.EventTypeNormal, eventCompleted, string(rd.Spec.Action), set.get(v1alpha1.ConditionComplete).Message)
}
