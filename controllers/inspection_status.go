package controllers

import (
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/warren-mq/warren/api/v1alpha1"
)

func inspects(sub *v1alpha1.ReliableSubscription) bool {
	return sub.Spec.ParkingQueue != nil && sub.Spec.ParkingQueue.Inspect
}

// inspect adds to a status why messages are parked, as far as it is known, and
// begins a look where the count has changed since the last one. It says when
// to come again for that.
func (r *SubscriptionReconciler) inspect(sub *v1alpha1.ReliableSubscription, a *assessment, status *v1alpha1.ReliableSubscriptionStatus) time.Duration {
	p := status.ParkingQueue
	if !inspects(sub) || a.topology == nil || p == nil {
		r.looks.forget(client.ObjectKeyFromObject(sub))
		return 0
	}
	if old := sub.Status.ParkingQueue; old != nil && old.Name == p.Name {
		p.Reasons = old.Reasons
	}
	if found := r.looks.latest(sub, p.Name); found != nil {
		p.Reasons = found
	}
	parking, there := a.snapshot().Queues[p.Name]
	switch {
	case !there || a.problem != nil || parking.Messages == nil:
		return 0
	case a.disturbed:
		return lookBusy
	case *parking.Messages == 0:
		p.Reasons = nil
		return 0
	case a.paused() || lookedAt(p.Reasons, *parking.Messages):
		return 0
	}
	return r.looks.look(sub, a, *parking.Messages)
}

// lookedAt tells whether a look was at this many messages, and is not to be tried again.
func lookedAt(r *v1alpha1.ParkingReasons, parked int64) bool {
	return r != nil && r.Messages == parked && (r.Note == "" || parked > maxHeldForSample)
}

// disturbed tells whether what was read of the parking queue may show a look
// at it. A long sync period takes all counters from the statistics, which agree
// with each other.
func (r *SubscriptionReconciler) disturbed(sub *v1alpha1.ReliableSubscription, a *assessment) bool {
	return inspects(sub) && a.snapshot() != nil && a.view.SyncPeriod < 2*statisticsInterval &&
		r.looks.disturbs(client.ObjectKeyFromObject(sub), a.snapshot())
}

// sooner of two times to come again; 0 is never.
func sooner(a, b time.Duration) time.Duration {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}
