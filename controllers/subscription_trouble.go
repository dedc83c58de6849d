package controllers

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/warren-mq/warren/api/v1alpha1"
	"github.com/warren-mq/warren/internal/topology"
)

// setDeadLetteringBlocked: dead letters that have not left a queue for a
// whole sync period. After a restart of Warren, what was told before holds
// until a reading shows that they are gone.
func setDeadLetteringBlocked(set *conditionSet, a *assessment) {
	const kind = v1alpha1.ConditionDeadLetteringBlocked
	if !known(set, kind, a, "") {
		return
	}
	seen := a.snapshot()
	before := set.isTrue(kind)
	// Counters are renewed every few seconds only: what is on its way at one of
	// those moments would be seen again and again with a shorter period.
	period := max(a.view.SyncPeriod, 2*statisticsInterval)
	var stuck []topology.SeenQueue
	for _, q := range queuesOf(a.topology, seen) {
		since := q.Trouble.DeadLetteringSince
		if !since.IsZero() && (before || seen.TakenAt.Sub(since) >= period) {
			stuck = append(stuck, q)
		}
	}
	if len(stuck) > 0 {
		reason, message := whyStuck(a, stuck)
		set.set(kind, metav1.ConditionTrue, reason, message)
		return
	}
	for _, q := range queuesOf(a.topology, seen) {
		if q.DeadLettering == nil {
			set.set(kind, metav1.ConditionUnknown, v1alpha1.ReasonCountersUnknown, fmt.Sprintf("the broker does not tell how many dead letters of queue %q wait", q.Name))
			return
		}
	}
	set.set(kind, metav1.ConditionFalse, v1alpha1.ReasonFlowing, "no dead letter waits to leave a queue")
}

// whyStuck: what stands still in the parking queue holds up nothing else, so
// that it is told only where it is all there is.
func whyStuck(a *assessment, stuck []topology.SeenQueue) (reason, message string) {
	names := a.topology.Names
	if len(stuck) == 1 && stuck[0].Name == names.Parking {
		return v1alpha1.ReasonNoRoute, fmt.Sprintf("%s cannot leave queue %q, which keeps what expires in it or exceeds a delivery limit: %s",
			count(*stuck[0].DeadLettering, "dead letter"), names.Parking, freeHeld(names))
	}
	var queues []string
	eased := true
	for _, q := range stuck {
		queues = append(queues, fmt.Sprintf("%s cannot leave queue %q", count(*q.DeadLettering, "dead letter"), q.Name))
		eased = eased && q.Trouble.DeadLetteringEased
	}
	what := list(queues) + ", and retries stand still behind them"
	switch {
	case len(a.result.Unproved) > 0 || len(a.result.Missing) > 0:
		return v1alpha1.ReasonNoRoute, what + ": their way is broken (" + list(append(objectNames(a.result.Missing), a.result.Unproved...)) + ")"
	case eased:
		return v1alpha1.ReasonDraining, what + ": they have begun to move; RabbitMQ tries again every 3 minutes"
	case refusing(a) != "":
		return v1alpha1.ReasonTargetRefuses, what + fmt.Sprintf(": queue %q refuses them; lift its length limit", refusing(a))
	}
	return v1alpha1.ReasonDraining, what + ": every route is there, RabbitMQ tries again within 3 minutes" + freeJam(names, stuck)
}

// freeJam says how to get at retries that came round without a rejection.
// RabbitMQ has moved a dead letter when every queue that it is routed to has
// confirmed it, the one included to which it is not sent for the cycle. So
// that queue has to be unbound meanwhile, and Warren must not bind it again.
func freeJam(names topology.Names, stuck []topology.SeenQueue) string {
	for _, q := range stuck {
		if names.IsWait(q.Name) {
			return fmt.Sprintf(". If they stay, they came round without a rejection: set annotation %s to \"true\", bind queue %q to exchange %q in place of %q until they have parked, then bind back and take the annotation away",
				v1alpha1.PausedAnnotation, names.Parking, q.Argument("x-dead-letter-exchange"), names.Work)
		}
	}
	return ""
}

// freeHeld says how to get at parked messages that died in the parking
// queue: they have come round, too.
func freeHeld(names topology.Names) string {
	return fmt.Sprintf("set annotation %s to \"true\", bind another quorum queue to exchange %q in place of %q until RabbitMQ has moved them there (within 3 minutes), then bind back and take the annotation away",
		v1alpha1.PausedAnnotation, names.Park(), names.Parking)
}

// refusing names a queue with a length limit, which refuses dead letters when it is full.
func refusing(a *assessment) string {
	for _, q := range queuesOf(a.topology, a.snapshot()) {
		for _, limit := range []string{"x-max-length", "x-max-length-bytes"} {
			if q.Argument(limit) != nil {
				return q.Name
			}
		}
	}
	return ""
}

// setSpinning: the work queue holds messages, redelivers again and again over
// two sync periods, and nothing is acknowledged.
func setSpinning(set *conditionSet, a *assessment) {
	const kind = v1alpha1.ConditionSpinning
	if !known(set, kind, a, "") {
		return
	}
	w, there := a.snapshot().Queues[a.topology.Names.Work]
	switch {
	case !there || w.Messages == nil:
		set.set(kind, metav1.ConditionUnknown, v1alpha1.ReasonCountersUnknown, fmt.Sprintf("the broker does not tell the counters of queue %q", a.topology.Names.Work))
	case spins(a, w):
		set.set(kind, metav1.ConditionTrue, v1alpha1.ReasonNoProgress, fmt.Sprintf(
			"queue %q redelivers and nothing is acknowledged: a consumer that requeues by basic.nack or hangs is not ended by any limit; have it reject (requeue=false) what it cannot do, and give it a deadline", w.Name))
	case *w.Messages == 0:
		set.set(kind, metav1.ConditionFalse, v1alpha1.ReasonIdle, fmt.Sprintf("queue %q is empty", w.Name))
	default:
		set.set(kind, metav1.ConditionFalse, v1alpha1.ReasonProgressing, fmt.Sprintf("queue %q does not redeliver without end", w.Name))
	}
}

// spins looks at redeliveries that nothing else explains. What leaves for a
// wait queue or the parking queue makes progress too: rejections end, by the
// ladder or the delivery limit. What comes back from there is a redelivery.
func spins(a *assessment, work topology.SeenQueue) bool {
	since := work.Trouble.SpinningSince
	if since.IsZero() {
		return false
	}
	for _, q := range queuesOf(a.topology, a.snapshot()) {
		if q.Name != work.Name && q.Trouble.ChangedAt.After(since) {
			since = q.Trouble.ChangedAt
		}
	}
	// Counters are renewed every few seconds only: a shorter period proves nothing.
	period := max(a.view.SyncPeriod, statisticsInterval)
	return work.Trouble.RedeliveredAt.Sub(since) >= 2*period
}
