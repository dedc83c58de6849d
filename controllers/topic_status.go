package controllers

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/warren-mq/warren/api/v1alpha1"
	"github.com/warren-mq/warren/internal/topology"
)

// maxNotEstablished is what status.notEstablished lists.
const maxNotEstablished = 50

// topicStatus is pure: what was assessed, and who is bound, as a status.
func topicStatus(t *v1alpha1.Topic, a *assessment, who audience) *v1alpha1.TopicStatus {
	compiled := topology.Topic{Name: t.Name, Spec: &t.Spec}
	missing := int64(len(who.missing))
	status := &v1alpha1.TopicStatus{
		ObservedGeneration: t.Generation,
		ObservedTime:       t.Status.ObservedTime,
		Exchange:           compiled.ExchangeName(),
		Subscriptions:      &v1alpha1.TopicSubscriptions{Total: who.total, Established: who.total - missing},
		NotEstablished:     who.missing[:min(missing, maxNotEstablished)],
	}
	if queue := compiled.UnroutableQueue(); queue != "" {
		status.UnroutableQueue = &v1alpha1.UnroutableQueueStatus{Name: queue}
		if seen := a.snapshot(); seen != nil {
			status.UnroutableQueue.Messages = seen.Queues[queue].Messages
		}
	}
	set := newConditionSet(t.Generation, t.Status.Conditions)
	setDeclared(set, a, compiled)
	setSubscriptionsEstablished(set, who)
	setUnroutableBacklog(set, t, a, status.UnroutableQueue)
	setTopicReady(set, t, who)
	status.Conditions = set.conditions
	return status
}

// withoutTopicCounts leaves out what is written now and then only: how many
// messages reached no queue.
func withoutTopicCounts(s *v1alpha1.TopicStatus) *v1alpha1.TopicStatus {
	s = s.DeepCopy()
	s.ObservedTime = nil
	if q := s.UnroutableQueue; q != nil && q.Messages != nil {
		q.Messages = ptr.To[int64](0)
	}
	for i := range s.Conditions {
		if s.Conditions[i].Type == v1alpha1.ConditionUnroutableBacklog {
			s.Conditions[i].Message = ""
		}
	}
	return s
}

func setDeclared(set *conditionSet, a *assessment, compiled topology.Topic) {
	if a.problem != nil {
		set.setProblem(v1alpha1.ConditionDeclared, a.problem)
		return
	}
	set.set(v1alpha1.ConditionDeclared, metav1.ConditionTrue, v1alpha1.ReasonDeclared,
		fmt.Sprintf("%s exchange %q is there", compiled.ExchangeType(), compiled.ExchangeName()))
}

func setSubscriptionsEstablished(set *conditionSet, who audience) {
	const kind = v1alpha1.ConditionSubscriptionsEstablished
	switch {
	case who.total == 0:
		set.set(kind, metav1.ConditionTrue, v1alpha1.ReasonNoSubscriptions, "no subscription names this topic, and none is required: list requiredSubscriptions for the topic to wait for somebody")
	case len(who.missing) == 0:
		set.set(kind, metav1.ConditionTrue, v1alpha1.ReasonAllEstablished, count(who.total, "subscription")+" established, none missing")
	default:
		set.set(kind, metav1.ConditionFalse, v1alpha1.ReasonSubscriptionsNotReady, who.sentence())
	}
}

func setUnroutableBacklog(set *conditionSet, t *v1alpha1.Topic, a *assessment, queue *v1alpha1.UnroutableQueueStatus) {
	const kind = v1alpha1.ConditionUnroutableBacklog
	if queue == nil {
		set.set(kind, metav1.ConditionFalse, v1alpha1.ReasonNotConfigured, "spec.unroutable is not set: RabbitMQ drops what is published with a key that nobody is bound to")
		return
	}
	threshold := int64(1)
	if n := t.Spec.Unroutable.BacklogThreshold; n != nil {
		threshold = *n
	}
	switch {
	case threshold == 0:
		set.set(kind, metav1.ConditionFalse, v1alpha1.ReasonDisabled, "unroutable.backlogThreshold is 0")
	case queue.Messages == nil:
		reason := v1alpha1.ReasonCountersUnknown
		if a.problem != nil {
			reason = a.problem.Reason
		}
		set.set(kind, metav1.ConditionUnknown, reason, fmt.Sprintf("the broker's count of queue %q is not known", queue.Name))
	case *queue.Messages >= threshold:
		set.set(kind, metav1.ConditionTrue, v1alpha1.ReasonBacklogReached, fmt.Sprintf("queue %q holds %s with no other queue to go to (threshold %d): look at the routing keys, and bind who must hear them", queue.Name, count(*queue.Messages, "message"), threshold))
	case *queue.Messages == 0:
		set.set(kind, metav1.ConditionFalse, v1alpha1.ReasonEmpty, fmt.Sprintf("queue %q is empty", queue.Name))
	default:
		set.set(kind, metav1.ConditionFalse, v1alpha1.ReasonBelowThreshold, fmt.Sprintf("queue %q holds %s (threshold %d)", queue.Name, count(*queue.Messages, "message"), threshold))
	}
}

// setTopicReady derives Ready: open for publishing.
func setTopicReady(set *conditionSet, t *v1alpha1.Topic, who audience) {
	declared, heard := set.get(v1alpha1.ConditionDeclared), set.get(v1alpha1.ConditionSubscriptionsEstablished)
	switch {
	case declared.Status != metav1.ConditionTrue:
		set.set(v1alpha1.ConditionReady, declared.Status, declared.Reason, declared.Message)
	case heard.Status != metav1.ConditionTrue && t.Annotations[v1alpha1.ForceOpenAnnotation] == "true":
		set.set(v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonForcedOpen, "open because of the annotation "+v1alpha1.ForceOpenAnnotation+", although "+heard.Message)
	case heard.Status != metav1.ConditionTrue:
		set.set(v1alpha1.ConditionReady, metav1.ConditionFalse, heard.Reason, heard.Message)
	case who.total == 0:
		set.set(v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonNoSubscriptions, "open for publishing: "+heard.Message)
	default:
		set.set(v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonOpen, "open for publishing: "+heard.Message)
	}
}
