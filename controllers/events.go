package controllers

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"

	"github.com/warren-mq/warren/api/v1alpha1"
	"github.com/warren-mq/warren/internal/drift"
)

// Event reasons. An Event says that something happened; what is, the status says.
const (
	eventEstablished    = "Established"
	eventRecreated      = "Recreated"
	eventRestored       = "Restored"
	eventDrained        = "WaitQueueRemoved"
	eventDeleted        = "QueueDeleted"
	eventRemoved        = "Removed"
	eventReleased       = "Released"
	eventParkingBacklog = "ParkingBacklog"
	eventParkingDoubled = "ParkingBacklogDoubled"
	eventParkingCleared = "ParkingCleared"
	eventOpened         = "TopicOpened"
	eventStarted        = "Started"
	eventCompleted      = "Completed"
	eventFailed         = "Failed"
	eventDiscarded      = "Discarded"
	eventForcedOpen     = "ForcedOpen"
)

func emit(r events.EventRecorder, about runtime.Object, kind, reason, action, note string) {
	r.Eventf(about, nil, kind, reason, action, "%s", clip(note))
}

// emitOn is for what was done to an object of the broker. Events that differ
// in their notes alone count as one that repeats, and only the first note is
// kept, as long as no status is written in between: the object tells them apart.
func emitOn(r events.EventRecorder, about runtime.Object, object, kind, reason, action, note string) {
	related := &corev1.ObjectReference{Kind: "RabbitMQ", Name: object}
	r.Eventf(about, related, kind, reason, action, "%s", clip(note))
}

// brokerEvents tells when a broker is lost, found, or its alarm changes.
func brokerEvents(r events.EventRecorder, b *v1alpha1.Broker, next *v1alpha1.BrokerStatus) {
	old, now := newConditionSet(0, b.Status.Conditions), newConditionSet(0, next.Conditions)
	for _, kind := range []string{v1alpha1.ConditionReady, v1alpha1.ConditionResourceAlarm} {
		was, is := old.get(kind), now.get(kind)
		if was.Reason == is.Reason || is.Status == metav1.ConditionUnknown || was.Reason == "" && is.Reason == v1alpha1.ReasonNoAlarm {
			continue
		}
		bad := (is.Status == metav1.ConditionTrue) == (kind == v1alpha1.ConditionResourceAlarm)
		severity := corev1.EventTypeNormal
		if bad {
			severity = corev1.EventTypeWarning
		}
		emit(r, b, severity, is.Reason, "Observe", is.Message)
	}
}

// subscriptionEvents tells when a subscription is established for the first
// time, when something begins that only people can end, and when a backlog or
// a jam begins and clears.
func subscriptionEvents(r events.EventRecorder, sub *v1alpha1.ReliableSubscription, next *v1alpha1.ReliableSubscriptionStatus) {
	old, now := newConditionSet(0, sub.Status.Conditions), newConditionSet(0, next.Conditions)
	tell := func(severity, reason, action, kind string) {
		emit(r, sub, severity, reason, action, now.get(kind).Message)
	}
	began := func(kind string) bool { return now.isTrue(kind) && !old.isTrue(kind) }
	ended := func(kind string) bool {
		return old.isTrue(kind) && now.get(kind).Status == metav1.ConditionFalse
	}
	if began(v1alpha1.ConditionEstablished) {
		tell(corev1.EventTypeNormal, eventEstablished, "Declare", v1alpha1.ConditionEstablished)
	}
	if kind := troubled(now); kind != "" && now.get(kind).Reason != old.get(kind).Reason {
		tell(corev1.EventTypeWarning, now.get(kind).Reason, "Observe", kind)
	}
	if began(v1alpha1.ConditionInSync) && drifts[old.get(v1alpha1.ConditionInSync).Reason] {
		tell(corev1.EventTypeNormal, v1alpha1.ReasonAsDeclared, "Observe", v1alpha1.ConditionInSync)
	}
	for kind, reasons := range map[string]struct{ began, ended string }{
		v1alpha1.ConditionParkingBacklog:       {eventParkingBacklog, eventParkingCleared},
		v1alpha1.ConditionDeadLetteringBlocked: {v1alpha1.ConditionDeadLetteringBlocked, v1alpha1.ReasonFlowing},
	} {
		if began(kind) {
			tell(corev1.EventTypeWarning, reasons.began, "Observe", kind)
		}
		if ended(kind) {
			tell(corev1.EventTypeNormal, reasons.ended, "Observe", kind)
		}
	}
}

// troubled names the condition that says what people have to do, or none.
func troubled(set *conditionSet) string {
	switch {
	case set.isTrue(v1alpha1.ConditionStalled):
		return v1alpha1.ConditionStalled
	case drifts[set.get(v1alpha1.ConditionInSync).Reason]:
		return v1alpha1.ConditionInSync
	}
	return ""
}

// drifts are the reasons of a broker that differs from the spec in what no
// declare can mend.
var drifts = map[string]bool{
	string(drift.CauseImmutable): true,
	string(drift.CausePolicy):    true,
	string(drift.CauseBinding):   true,
}

// topicEvents tells when a topic opens for publishing, when it does so only
// because somebody has forced it, and when messages begin to reach no queue.
func topicEvents(r events.EventRecorder, t *v1alpha1.Topic, next *v1alpha1.TopicStatus) {
	lost := newConditionSet(0, next.Conditions).get(v1alpha1.ConditionUnroutableBacklog)
	if lost.Status == metav1.ConditionTrue && !newConditionSet(0, t.Status.Conditions).isTrue(lost.Type) {
		emit(r, t, corev1.EventTypeWarning, lost.Type, "Observe", lost.Message)
	}
	was := newConditionSet(0, t.Status.Conditions).get(v1alpha1.ConditionReady)
	is := newConditionSet(0, next.Conditions).get(v1alpha1.ConditionReady)
	switch {
	case is.Status != metav1.ConditionTrue:
	case is.Reason == v1alpha1.ReasonForcedOpen && was.Reason != is.Reason:
		emit(r, t, corev1.EventTypeWarning, eventForcedOpen, "Open", is.Message)
	case is.Reason != v1alpha1.ReasonForcedOpen && was.Status != metav1.ConditionTrue:
		emit(r, t, corev1.EventTypeNormal, eventOpened, "Open", is.Message)
	}
}
