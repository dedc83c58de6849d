package controllers

import (
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/warren-mq/warren/api/v1alpha1"
)

// backlogs remember, by subscription, how many parked messages were last told
// by an Event, so that the next one is written when they have doubled and not
// at every count. After a restart the count in the status is where it begins.
type backlogs struct{ m sync.Map } // int64, by types.NamespacedName

func (b *backlogs) forget(key types.NamespacedName) { b.m.Delete(key) }

// tell writes an Event when a backlog has doubled since the last one.
func (b *backlogs) tell(r events.EventRecorder, sub *v1alpha1.ReliableSubscription, next *v1alpha1.ReliableSubscriptionStatus) {
	key := client.ObjectKeyFromObject(sub)
	now := next.ParkingQueue.Messages
	if !newConditionSet(0, next.Conditions).isTrue(v1alpha1.ConditionParkingBacklog) || now == nil {
		b.forget(key)
		return
	}
	if told, known := b.told(key, sub); known && *now < 2*told {
		return
	} else if known {
		queue := next.ParkingQueue.Name
		emitOn(r, sub, fmt.Sprintf("%s in queue %q", count(*now, "message"), queue), corev1.EventTypeWarning, eventParkingDoubled, "Observe",
			fmt.Sprintf("queue %q holds %s, twice the %d that were told last, or more", queue, count(*now, "parked message"), told))
	}
	b.m.Store(key, *now)
}

// told gives what was last told, if a backlog had begun before.
func (b *backlogs) told(key types.NamespacedName, sub *v1alpha1.ReliableSubscription) (int64, bool) {
	if v, ok := b.m.Load(key); ok {
		return v.(int64), true
	}
	was := sub.Status.ParkingQueue
	if was == nil || was.Messages == nil || !newConditionSet(0, sub.Status.Conditions).isTrue(v1alpha1.ConditionParkingBacklog) {
		return 0, false
	}
	return *was.Messages, true
}
