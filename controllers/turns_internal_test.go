package controllers

import (
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/event"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/warren-mq/warren/api/v1alpha1"
)

// Two Redrives that come at the same moment do not both begin.
func TestOneRedriveBeginsAtATime(t *testing.T) {
	runs := newRedriveRuns()
	billing, shipping := types.NamespacedName{Namespace: "shop", Name: "billing"}, types.NamespacedName{Namespace: "shop", Name: "shipping"}
	release, ok := runs.reserve(billing)
	if !ok {
		t.Fatal("nobody else is there")
	}
	if _, ok := runs.reserve(billing); ok {
		t.Error("a second one may begin")
	}
	if other, ok := runs.reserve(shipping); !ok {
		t.Error("another subscription's may not begin")
	} else {
		other()
	}
	release()
	run := &redriveRun{key: types.NamespacedName{Namespace: "shop", Name: "first"}, subscription: billing}
	if !runs.add(run) {
		t.Fatal("no run was there")
	}
	if _, ok := runs.reserve(billing); ok {
		t.Error("one may begin while another is at work")
	}
	runs.forget(run)
	if release, ok := runs.reserve(billing); !ok {
		t.Error("none may begin after the last one")
	} else {
		release()
	}
}

// A topic counts anew whatever changes who is established.
func TestAudienceChanged(t *testing.T) {
	sub := func(generation, observed int64, status metav1.ConditionStatus, reason string) *v1alpha1.ReliableSubscription {
		return &v1alpha1.ReliableSubscription{
			ObjectMeta: metav1.ObjectMeta{Generation: generation},
			Status: v1alpha1.ReliableSubscriptionStatus{Conditions: []metav1.Condition{
				{Type: v1alpha1.ConditionEstablished, Status: status, Reason: reason, ObservedGeneration: observed},
			}},
		}
	}
	proved := func(generation, observed int64) *v1alpha1.ReliableSubscription {
		return sub(generation, observed, metav1.ConditionTrue, v1alpha1.ReasonAllRoutesProved)
	}
	for _, c := range []struct {
		reason     string
		was, is    *v1alpha1.ReliableSubscription
		countsAnew bool
	}{
		{"nothing that counts", proved(1, 1), proved(1, 1), false},
		{"another reason", sub(1, 1, metav1.ConditionFalse, v1alpha1.ReasonDeclaring), proved(1, 1), true},
		{"a new spec", proved(1, 1), proved(2, 1), true},
		{"the same reason, told of the new spec", proved(2, 1), proved(2, 2), true},
	} {
		t.Run(c.reason, func(t *testing.T) {
			if got := audienceChanged.Update(event.UpdateEvent{ObjectOld: c.was, ObjectNew: c.is}); got != c.countsAnew {
				t.Errorf("counts anew: %t, want %t", got, c.countsAnew)
			}
		})
	}
}
