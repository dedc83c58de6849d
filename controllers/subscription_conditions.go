package controllers

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/warren-mq/warren/api/v1alpha1"
	"github.com/warren-mq/warren/internal/drift"
	"github.com/warren-mq/warren/internal/topology"
)

// subscriptionConditions derives every condition from the assessment, and
// Ready from the others.
func subscriptionConditions(sub *v1alpha1.ReliableSubscription, a *assessment, status *v1alpha1.ReliableSubscriptionStatus) []metav1.Condition {
	set := newConditionSet(sub.Generation, sub.Status.Conditions)
	setEstablished(set, a)
	setInSync(set, a)
	setParkingBacklog(set, sub, a, status)
	setUnconsumed(set, sub, a, status)
	setDeadLetteringBlocked(set, a)
	setSpinning(set, a)
	setStalled(set, a)
	setReady(set, status)
	return set.conditions
}

func setEstablished(set *conditionSet, a *assessment) {
	if a.problem != nil {
		set.setProblem(v1alpha1.ConditionEstablished, a.problem)
		return
	}
	set.set(v1alpha1.ConditionEstablished, metav1.ConditionTrue, v1alpha1.ReasonAllRoutesProved,
		fmt.Sprintf("%d objects are there and %d routes were proved over the bindings read back", len(a.topology.Objects), len(a.topology.Routes)))
}

func setInSync(set *conditionSet, a *assessment) {
	switch {
	case a.result == nil || len(a.result.Trespass) > 0:
		set.set(v1alpha1.ConditionInSync, metav1.ConditionUnknown, a.problem.Reason, "nothing was compared")
	case len(a.result.Differences) == 0 && a.problem != nil && len(a.result.Unavailable) == 0:
		set.set(v1alpha1.ConditionInSync, metav1.ConditionFalse, a.problem.Reason, "not everything is declared and bound as the spec says: see condition Established")
	case len(a.result.Differences) == 0:
		set.set(v1alpha1.ConditionInSync, metav1.ConditionTrue, v1alpha1.ReasonAsDeclared, "the broker has what the spec says")
	default:
		set.set(v1alpha1.ConditionInSync, metav1.ConditionFalse, string(a.result.Differences[0].Cause), differencesSentence(a.result))
	}
}

// differencesSentence names the unsafe differences, or where there are none the tolerable ones.
// Which policies are behind it comes first: the list may be long, and is cut.
func differencesSentence(r *drift.Result) string {
	var unsafe, tolerable []string
	by := ""
	if len(r.Overriding) > 0 {
		by = "overridden by " + list(r.Overriding) + "; "
	}
	for _, d := range r.Differences {
		if d.Unsafe() {
			unsafe = append(unsafe, describe(d))
		} else {
			tolerable = append(tolerable, describe(d))
		}
	}
	const where = "; status.drift says what to do"
	switch {
	case len(unsafe) == 0:
		return by + "tolerable: " + list(tolerable) + where
	case len(tolerable) == 0:
		return by + "unsafe: " + list(unsafe) + where
	}
	return by + "unsafe: " + list(unsafe) + "; and " + fmt.Sprint(len(tolerable)) + " tolerable" + where
}

// known tells whether a condition that rests on counters can be judged, and
// sets it Unknown if not.
func known(set *conditionSet, kind string, a *assessment, queue string, counters ...*int64) bool {
	if a.result == nil || len(a.result.Trespass) > 0 {
		set.set(kind, metav1.ConditionUnknown, a.problem.Reason, "the broker's counters were not read")
		return false
	}
	for _, c := range counters {
		if c == nil {
			set.set(kind, metav1.ConditionUnknown, v1alpha1.ReasonCountersUnknown, fmt.Sprintf("the broker does not tell the counters of queue %q", queue))
			return false
		}
	}
	return true
}

func setParkingBacklog(set *conditionSet, sub *v1alpha1.ReliableSubscription, a *assessment, status *v1alpha1.ReliableSubscriptionStatus) {
	const kind = v1alpha1.ConditionParkingBacklog
	threshold := int64(1)
	if p := sub.Spec.ParkingQueue; p != nil && p.BacklogThreshold != nil {
		threshold = *p.BacklogThreshold
	}
	if threshold == 0 {
		set.set(kind, metav1.ConditionFalse, v1alpha1.ReasonDisabled, "parkingQueue.backlogThreshold is 0")
		return
	}
	queue := status.ParkingQueue
	if !known(set, kind, a, queue.Name, queue.Messages) {
		return
	}
	switch n := *queue.Messages; {
	case n >= threshold:
		set.set(kind, metav1.ConditionTrue, v1alpha1.ReasonBacklogReached, fmt.Sprintf(
			"queue %q holds %s (threshold %d): find out why, mend it, then bring them back with a Redrive whose subscriptionRef names %q",
			queue.Name, count(n, "parked message"), threshold, sub.Name)+earlierSentence(a)+heldSentence(a))
	case n == 0:
		set.set(kind, metav1.ConditionFalse, v1alpha1.ReasonEmpty, fmt.Sprintf("queue %q is empty", queue.Name))
	default:
		set.set(kind, metav1.ConditionFalse, v1alpha1.ReasonBelowThreshold, fmt.Sprintf("queue %q holds %s (threshold %d)", queue.Name, count(n, "parked message"), threshold))
	}
}

// earlierSentence tells of parked messages in queues that an earlier spec named.
func earlierSentence(a *assessment) string {
	var queues []string
	for _, q := range earlierParking(a) {
		if q.Messages != nil && *q.Messages > 0 {
			queues = append(queues, fmt.Sprintf("%d in queue %q", *q.Messages, q.Name))
		}
	}
	if len(queues) == 0 {
		return ""
	}
	return "; of these, as an earlier spec named it, " + list(queues) + " (the Redrive's spec.from names such a queue)"
}

// heldSentence tells of parked messages that a stray policy or an expiration
// drove into the dead-letter line, where no consumer sees them.
func heldSentence(a *assessment) string {
	held := a.snapshot().Queues[a.topology.Names.Parking].DeadLettering
	if held == nil || *held == 0 {
		return ""
	}
	return fmt.Sprintf("; %d of that is held in its dead-letter line and cannot be consumed: %s", *held, freeHeld(a.topology.Names))
}

func setUnconsumed(set *conditionSet, sub *v1alpha1.ReliableSubscription, a *assessment, status *v1alpha1.ReliableSubscriptionStatus) {
	const kind = v1alpha1.ConditionUnconsumed
	threshold := int64(10000)
	if t := sub.Spec.UnconsumedThreshold; t != nil {
		threshold = *t
	}
	if threshold == 0 {
		set.set(kind, metav1.ConditionFalse, v1alpha1.ReasonDisabled, "unconsumedThreshold is 0")
		return
	}
	queue := status.WorkQueue
	if !known(set, kind, a, queue.Name, queue.Messages, queue.Consumers) {
		return
	}
	switch messages, consumers := *queue.Messages, *queue.Consumers; {
	case consumers > 0:
		set.set(kind, metav1.ConditionFalse, v1alpha1.ReasonConsumed, fmt.Sprintf("queue %q has %s", queue.Name, count(consumers, "consumer")))
	case messages >= threshold:
		set.set(kind, metav1.ConditionTrue, v1alpha1.ReasonNoConsumer, fmt.Sprintf("queue %q holds %s (threshold %d) and nobody consumes it: start its consumer", queue.Name, count(messages, "message"), threshold))
	default:
		set.set(kind, metav1.ConditionFalse, v1alpha1.ReasonBelowThreshold, fmt.Sprintf("queue %q holds %s (threshold %d) and has no consumer", queue.Name, count(messages, "message"), threshold))
	}
}

// setStalled follows kstatus: only a change of the spec or of the broker's objects can help.
func setStalled(set *conditionSet, a *assessment) {
	if p := a.problem; p != nil && stalls[p.Reason] {
		set.set(v1alpha1.ConditionStalled, metav1.ConditionTrue, p.Reason, p.Message)
		return
	}
	if a.result != nil {
		for _, d := range a.result.Differences {
			if d.Unsafe() {
				set.set(v1alpha1.ConditionStalled, metav1.ConditionTrue, string(d.Cause), describe(d)+": "+d.Remedy)
				return
			}
		}
	}
	set.set(v1alpha1.ConditionStalled, metav1.ConditionFalse, v1alpha1.ReasonHelpsItself, "no change of the spec or of the broker's objects is called for; Warren goes on trying what is not done")
}

var stalls = map[string]bool{
	v1alpha1.ReasonUnsupportedByBroker: true,
	v1alpha1.ReasonInvalidSpec:         true,
	v1alpha1.ReasonInvalidSource:       true,
	v1alpha1.ReasonConflict:            true,
	v1alpha1.ReasonNotOwned:            true,
	v1alpha1.ReasonUnsafeToAdopt:       true,
	v1alpha1.ReasonBrokerMismatch:      true,
	v1alpha1.ReasonNotAllowed:          true,
	v1alpha1.ReasonRefusedByBroker:     true,
}

// setReady derives Ready: established, in force, nothing unsafe.
func setReady(set *conditionSet, status *v1alpha1.ReliableSubscriptionStatus) {
	established := set.get(v1alpha1.ConditionEstablished)
	if established.Status != metav1.ConditionTrue {
		set.set(v1alpha1.ConditionReady, established.Status, established.Reason, established.Message)
		return
	}
	if inSync := set.get(v1alpha1.ConditionInSync); inSync.Status == metav1.ConditionFalse && hasUnsafe(status.Drift) {
		set.set(v1alpha1.ConditionReady, metav1.ConditionFalse, inSync.Reason, inSync.Message)
		return
	}
	if blocked := set.get(v1alpha1.ConditionDeadLetteringBlocked); blocked.Status == metav1.ConditionTrue {
		set.set(v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ConditionDeadLetteringBlocked, blocked.Message)
		return
	}
	set.set(v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonReliable, "established, in force, nothing unsafe")
}

func hasUnsafe(entries []v1alpha1.DriftEntry) bool {
	for _, e := range entries {
		if e.Impact == v1alpha1.ImpactUnsafe {
			return true
		}
	}
	return false
}

// queuesOf are the queues of a topology that were seen, in its order.
func queuesOf(t *topology.Topology, seen *topology.Snapshot) []topology.SeenQueue {
	var queues []topology.SeenQueue
	for _, o := range t.Objects {
		if q, ok := o.(topology.Queue); ok {
			if s, there := seen.Queues[q.Name]; there {
				queues = append(queues, s)
			}
		}
	}
	return queues
}
