package controllers

import (
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// maxMessage is what a message of a condition or an Event may hold: an
// Event's note holds 1,024 characters.
const maxMessage = 1000

// conditionSet collects the conditions of one status. It starts from those
// that are there, so that a condition that does not change keeps its transition time.
type conditionSet struct {
	generation int64
	conditions []metav1.Condition
}

func newConditionSet(generation int64, old []metav1.Condition) *conditionSet {
	return &conditionSet{generation: generation, conditions: append([]metav1.Condition(nil), old...)}
}

func (s *conditionSet) set(kind string, status metav1.ConditionStatus, reason, message string) {
	meta.SetStatusCondition(&s.conditions, metav1.Condition{
		Type: kind, Status: status, Reason: reason, Message: clip(message), ObservedGeneration: s.generation,
	})
}

func (s *conditionSet) setProblem(kind string, p *Problem) {
	s.set(kind, p.Status, p.Reason, p.Message)
}

func (s *conditionSet) get(kind string) metav1.Condition {
	if c := meta.FindStatusCondition(s.conditions, kind); c != nil {
		return *c
	}
	return metav1.Condition{Type: kind, Status: metav1.ConditionUnknown}
}

func (s *conditionSet) isTrue(kind string) bool {
	return s.get(kind).Status == metav1.ConditionTrue
}

// clip cuts a message to what fits, at a whole character.
func clip(message string) string {
	const ellipsis = " …"
	if len(message) <= maxMessage {
		return message
	}
	cut := maxMessage - len(ellipsis)
	for cut > 0 && message[cut]&0xC0 == 0x80 {
		cut--
	}
	return message[:cut] + ellipsis
}
