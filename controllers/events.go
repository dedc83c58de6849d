package controllers

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"

	"github.com/warren-mq/warren/api/v1alpha1"
)

// Event reasons. An Event says that something happened; what is, the status says.
const (
	eventEstablished    = "Established"
	eventRecreated      = "Recreated"
	eventDrained        = "WaitQueueRemoved"
	eventParkingBacklog = "ParkingBacklog"
	eventParkingCleared = "ParkingCleared"
	eventOpened         = "TopicOpened"
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
// time, and when a backlog begins and clears.
func subscriptionEvents(r events.EventRecorder, sub *v1alpha1.ReliableSubscription, next *v1alpha1.ReliableSubscriptionStatus) {
	old, now := newConditionSet(0, sub.Status.Conditions), newConditionSet(0, next.Conditions)
	began := func(kind string) bool { return now.isTrue(kind) && !old.isTrue(kind) }
	if began(v1alpha1.ConditionEstablished) {
		emit(r, sub, corev1.EventTypeNormal, eventEstablished, "Declare", now.get(v1alpha1.ConditionEstablished).Message)
	}
	if began(v1alpha1.ConditionParkingBacklog) {
		emit(r, sub, corev1.EventTypeWarning, eventParkingBacklog, "Observe", now.get(v1alpha1.ConditionParkingBacklog).Message)
	}
	if old.isTrue(v1alpha1.ConditionParkingBacklog) && now.get(v1alpha1.ConditionParkingBacklog).Status == metav1.ConditionFalse {
		emit(r, sub, corev1.EventTypeNormal, eventParkingCleared, "Observe", now.get(v1alpha1.ConditionParkingBacklog).Message)
	}
}
