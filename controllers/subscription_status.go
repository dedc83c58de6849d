package controllers

import (
	"context"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/warren-mq/warren/api/v1alpha1"
	"github.com/warren-mq/warren/internal/drift"
	"github.com/warren-mq/warren/internal/topology"
)

// countsEvery is how often a status is written of which only counts have changed.
const countsEvery = 30 * time.Second

// report writes the status, if a reader would care about what changed:
// conditions at once, counts alone now and then.
func (r *SubscriptionReconciler) report(ctx context.Context, sub *v1alpha1.ReliableSubscription, a *assessment) (reconcile.Result, error) {
	a.disturbed = r.disturbed(sub, a)
	status := subscriptionStatus(sub, a)
	told, err := r.tell(ctx, a, r.offered(sub))
	if err != nil {
		return reconcile.Result{}, err
	}
	told.fill(r.offered(sub), &status.Connection, &status.Binding, &status.Conditions)
	again := sooner(r.inspect(sub, a, status), told.recheck)
	if equality.Semantic.DeepEqual(status, &sub.Status) {
		return reconcile.Result{RequeueAfter: again}, nil
	}
	if onlyCountsChanged(&sub.Status, status) {
		if wait := countsDue(sub.Status.ObservedTime); wait > 0 {
			return reconcile.Result{RequeueAfter: sooner(wait, again)}, nil
		}
	}
	status.ObservedTime = ptr.To(metav1.Now())
	if err := applyStatus(ctx, r.Client, sub, "ReliableSubscription", status); err != nil {
		return reconcile.Result{}, err
	}
	subscriptionEvents(r.Events, sub, status)
	r.backlogs.tell(r.Events, sub, status)
	return reconcile.Result{RequeueAfter: again}, nil
}

// countsDue is how long counts that were last written at a time must wait.
func countsDue(written *metav1.Time) time.Duration {
	if written == nil {
		return 0
	}
	return countsEvery - time.Since(written.Time)
}

// onlyCountsChanged compares without the numbers. Whether a number is known
// is not left out: a reader cares about that.
func onlyCountsChanged(old, next *v1alpha1.ReliableSubscriptionStatus) bool {
	return equality.Semantic.DeepEqual(withoutCounts(old), withoutCounts(next))
}

func withoutCounts(s *v1alpha1.ReliableSubscriptionStatus) *v1alpha1.ReliableSubscriptionStatus {
	s = s.DeepCopy()
	s.ObservedTime = nil
	counts := []**int64{}
	if q := s.WorkQueue; q != nil {
		counts = append(counts, &q.Messages, &q.Ready, &q.Unacknowledged, &q.Consumers)
	}
	if s.Retry != nil {
		counts = append(counts, &s.Retry.Messages)
	}
	if s.ParkingQueue != nil {
		counts = append(counts, &s.ParkingQueue.Messages)
		if s.ParkingQueue.Reasons != nil {
			s.ParkingQueue.Reasons = &v1alpha1.ParkingReasons{}
		}
	}
	for _, c := range counts {
		if *c != nil {
			*c = ptr.To[int64](0)
		}
	}
	dropCountedMessages(s)
	return s
}

// counted are the conditions whose messages have counts in them.
var counted = map[string]bool{
	v1alpha1.ConditionParkingBacklog:       true,
	v1alpha1.ConditionUnconsumed:           true,
	v1alpha1.ConditionDeadLetteringBlocked: true,
	v1alpha1.ConditionSpinning:             true,
}

// dropCountedMessages leaves out the messages that have counts in them, also
// where Ready repeats one, and the number of messages in a queue of a wrong type.
func dropCountedMessages(s *v1alpha1.ReliableSubscriptionStatus) {
	wrongType := false
	for i := range s.Drift {
		if s.Drift[i].Field == "x-queue-type" {
			s.Drift[i].Observed, wrongType = "", true
		}
	}
	for i := range s.Conditions {
		c := &s.Conditions[i]
		if wrongType || counted[c.Type] || c.Reason == v1alpha1.ConditionDeadLetteringBlocked {
			c.Message = ""
		}
	}
}

// subscriptionStatus is pure: what was assessed, as a status.
func subscriptionStatus(sub *v1alpha1.ReliableSubscription, a *assessment) *v1alpha1.ReliableSubscriptionStatus {
	status := &v1alpha1.ReliableSubscriptionStatus{
		ObservedGeneration: sub.Generation,
		ObservedTime:       sub.Status.ObservedTime,
	}
	names := topology.NamesOf(sub.Namespace, sub.Name, &sub.Spec)
	status.WorkQueue = &v1alpha1.WorkQueueStatus{Name: names.Work}
	status.ParkingQueue = &v1alpha1.ParkingQueueStatus{Name: names.Parking, Exchange: names.Park()}
	switch {
	case a.topology != nil:
		status.Retry = retryStatus(a.topology.Retry)
	case sub.Status.Retry != nil && a.view != nil && a.view.Problem != nil:
		// The contract does not change while the broker cannot be read.
		status.Retry = sub.Status.Retry.DeepCopy()
		status.Retry.Messages = nil
	}
	if a.result != nil && len(a.result.Trespass) == 0 {
		fillCounts(status, sub, a)
		fillDrift(status, a.result.Differences)
	}
	status.Conditions = subscriptionConditions(sub, a, status)
	return status
}

func retryStatus(r topology.Retry) *v1alpha1.RetryStatus {
	status := &v1alpha1.RetryStatus{
		Strategy:      r.Strategy,
		MaxDeliveries: ptr.To(r.MaxDeliveries),
		CountedBy:     r.CountedBy,
		TimeToParking: v1alpha1.FormatDuration(r.TimeToParking),
		Contract:      r.Contract,
	}
	if r.WorstCaseDeliveries > 0 {
		status.WorstCaseDeliveries = ptr.To(r.WorstCaseDeliveries)
	}
	return status
}

func fillCounts(status *v1alpha1.ReliableSubscriptionStatus, sub *v1alpha1.ReliableSubscription, a *assessment) {
	seen := a.snapshot()
	if w, ok := seen.Queues[a.topology.Names.Work]; ok {
		q := status.WorkQueue
		q.Messages, q.Ready, q.Unacknowledged, q.Consumers = w.Messages, w.Ready, w.Unacknowledged, w.Consumers
		q.EffectiveDeliveryLimit = w.DeliveryLimit
	}
	status.Retry.Messages = retrying(a)
	if p, ok := seen.Queues[a.topology.Names.Parking]; ok {
		p.Messages = parked(a, p)
		if old := sub.Status.ParkingQueue; a.disturbed && old != nil && old.Name == p.Name && old.Messages != nil {
			p.Messages = old.Messages
		}
		status.ParkingQueue.Messages = p.Messages
		status.ParkingQueue.Since = parkedSince(sub, p)
	}
}

// parked counts what is parked, in the parking queue and in those that an
// earlier spec named: renaming one must not make what it holds disappear.
func parked(a *assessment, parking topology.SeenQueue) *int64 {
	return messagesIn(append(earlierParking(a), parking))
}

// earlierParking are queues of this subscription that no spec names any more
// and that are no wait queues, by name.
func earlierParking(a *assessment) []topology.SeenQueue {
	return slices.DeleteFunc(slices.Clone(a.result.Earlier), func(q topology.SeenQueue) bool {
		return a.topology.Names.IsWait(q.Name)
	})
}

// messagesIn adds up.
func messagesIn(queues []topology.SeenQueue) *int64 {
	return sumOf(queues, func(q topology.SeenQueue) *int64 { return q.Messages })
}

// sumOf adds up a count. One that is unknown makes the sum unknown.
func sumOf(queues []topology.SeenQueue, count func(topology.SeenQueue) *int64) *int64 {
	var sum int64
	for _, q := range queues {
		n := count(q)
		if n == nil {
			return nil
		}
		sum += *n
	}
	return &sum
}

// parkedSince keeps the time that was once told, which a restart does not know.
func parkedSince(sub *v1alpha1.ReliableSubscription, parking topology.SeenQueue) *metav1.Time {
	switch old := sub.Status.ParkingQueue; {
	case parking.Messages == nil || *parking.Messages == 0:
		return nil
	case old != nil && old.Since != nil && old.Name == parking.Name:
		return old.Since
	case parking.Trouble.NonemptySince.IsZero():
		return nil
	}
	return ptr.To(metav1.NewTime(parking.Trouble.NonemptySince.Truncate(time.Second)))
}

// retrying counts what waits for its next delivery: in wait queues, those of
// an earlier ladder included, and in the work queue's own delayed retry.
func retrying(a *assessment) *int64 {
	waits := slices.DeleteFunc(append(queuesOf(a.topology, a.snapshot()), a.result.Earlier...), func(q topology.SeenQueue) bool {
		return !a.topology.Names.IsWait(q.Name)
	})
	sum := messagesIn(waits)
	if w, ok := a.snapshot().Queues[a.topology.Names.Work]; ok && w.Delayed != nil && sum != nil {
		*sum += *w.Delayed
	}
	return sum
}

// maxDriftEntries is what status.drift may hold.
const maxDriftEntries = 50

func fillDrift(status *v1alpha1.ReliableSubscriptionStatus, differences []drift.Difference) {
	counts := map[v1alpha1.Impact]int{}
	for _, d := range differences {
		counts[d.Impact]++
		if len(status.Drift) < maxDriftEntries {
			status.Drift = append(status.Drift, d.DriftEntry)
		}
	}
	unsafe, tolerable := counts[v1alpha1.ImpactUnsafe], counts[v1alpha1.ImpactTolerable]
	switch {
	case unsafe > 0 && tolerable > 0:
		status.DriftSummary = fmt.Sprintf("%d unsafe, %d tolerable", unsafe, tolerable)
	case unsafe > 0:
		status.DriftSummary = fmt.Sprintf("%d unsafe", unsafe)
	case tolerable > 0:
		status.DriftSummary = fmt.Sprintf("%d tolerable", tolerable)
	}
}
