package controllers

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/warren-mq/warren/api/v1alpha1"
	"github.com/warren-mq/warren/internal/broker"
)

var redriveStart = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)

func TestJudge(t *testing.T) {
	at := func(d time.Duration) time.Time { return redriveStart.Add(d) }
	filter := func(f v1alpha1.RedriveFilter) v1alpha1.RedriveSpec { return v1alpha1.RedriveSpec{Filter: &f} }
	cases := []struct {
		reason string
		spec   v1alpha1.RedriveSpec
		parked broker.Parked
		want   broker.Verdict
	}{
		{"all by default", v1alpha1.RedriveSpec{}, broker.Parked{}, broker.Take},
		{"thrown away", v1alpha1.RedriveSpec{Action: v1alpha1.RedriveDiscard}, broker.Parked{}, broker.Drop},
		{"it has moved it before", v1alpha1.RedriveSpec{}, broker.Parked{Mark: "uid"}, broker.Keep},
		{"another one has moved it before", v1alpha1.RedriveSpec{}, broker.Parked{Mark: "other"}, broker.Take},
		{"parked after its start", v1alpha1.RedriveSpec{}, broker.Parked{Since: at(2 * time.Minute)}, broker.Keep},
		{"parked after its start, by another clock", v1alpha1.RedriveSpec{}, broker.Parked{Since: at(50 * time.Second)}, broker.Take},
		{"the reason", filter(v1alpha1.RedriveFilter{Reason: v1alpha1.ParkedDeliveryLimit}), broker.Parked{Reason: broker.ParkedDeliveryLimit}, broker.Take},
		{"another reason", filter(v1alpha1.RedriveFilter{Reason: v1alpha1.ParkedExpired}), broker.Parked{Reason: broker.ParkedRejected}, broker.Keep},
		{"one of the ids", filter(v1alpha1.RedriveFilter{MessageIDs: []string{"a", "b"}}), broker.Parked{MessageID: "b"}, broker.Take},
		{"none of the ids", filter(v1alpha1.RedriveFilter{MessageIDs: []string{"a", "b"}}), broker.Parked{MessageID: "c"}, broker.Keep},
		{"before the time", filter(v1alpha1.RedriveFilter{ParkedBefore: "2026-03-01T09:00:00Z"}), broker.Parked{Since: at(-time.Second)}, broker.Take},
		{"at the time", filter(v1alpha1.RedriveFilter{ParkedBefore: "2026-03-01T10:00:00+01:00"}), broker.Parked{Since: at(0)}, broker.Keep},
		{"of unknown time", filter(v1alpha1.RedriveFilter{ParkedBefore: "2026-03-01T09:00:00Z"}), broker.Parked{}, broker.Keep},
		{"a day that does not exist", filter(v1alpha1.RedriveFilter{ParkedBefore: "2026-02-30T09:00:00Z"}), broker.Parked{Since: at(-time.Hour)}, broker.Keep},
		{"one of two conditions", filter(v1alpha1.RedriveFilter{Reason: v1alpha1.ParkedRejected, MessageIDs: []string{"a"}}), broker.Parked{Reason: broker.ParkedRejected, MessageID: "b"}, broker.Keep},
	}
	for _, tc := range cases {
		t.Run(tc.reason, func(t *testing.T) {
			rd := &v1alpha1.Redrive{ObjectMeta: metav1.ObjectMeta{UID: "uid"}, Spec: tc.spec}
			if got := judge(rd, redriveStart)(tc.parked); got != tc.want {
				t.Errorf("got %v, want %v", got, tc.want)
			}
		})
	}
}

func TestRecount(t *testing.T) {
	cases := []struct {
		reason                      string
		parked, total, moved, ready int64
		want                        int64
	}{
		{"more was moved than was written", 100, 100, 40, 50, 50},
		{"what was written, nothing beyond", 100, 100, 40, 60, 40},
		{"others were parked since", 100, 100, 40, 90, 40},
		{"many others were parked since", 100, 100, 40, 900, 40},
		{"a part was to be moved", 100, 10, 2, 95, 5},
		{"more than it was to move is gone", 100, 10, 2, 0, 10},
	}
	for _, tc := range cases {
		t.Run(tc.reason, func(t *testing.T) {
			rd := &v1alpha1.Redrive{Status: v1alpha1.RedriveStatus{ParkedAtStart: &tc.parked, Total: &tc.total, Moved: &tc.moved}}
			next := (&RedriveReconciler{}).nextStatus(rd)
			next.recount(rd, tc.ready)
			if *next.Moved != tc.want || *next.Remaining != tc.total-tc.want {
				t.Errorf("moved %d and remaining %d, want %d and %d", *next.Moved, *next.Remaining, tc.want, tc.total-tc.want)
			}
		})
	}
}

func TestTallyAddsUp(t *testing.T) {
	for _, tc := range []struct {
		reason              string
		action              v1alpha1.RedriveAction
		total, done, passed int64
		want                [4]int64 // moved, discarded, skipped, remaining
	}{
		{"nothing yet", v1alpha1.RedriveMove, 10, 0, 0, [4]int64{0, 0, 0, 10}},
		{"some", v1alpha1.RedriveMove, 10, 3, 4, [4]int64{3, 0, 4, 3}},
		{"discarded", v1alpha1.RedriveDiscard, 10, 3, 4, [4]int64{0, 3, 4, 3}},
		{"some came twice", v1alpha1.RedriveMove, 10, 12, 0, [4]int64{10, 0, 0, 0}},
		{"some that were parked later are among the skipped", v1alpha1.RedriveMove, 10, 8, 5, [4]int64{8, 0, 2, 0}},
	} {
		s := &redriveStatus{RedriveStatus: &v1alpha1.RedriveStatus{Total: &tc.total}, action: tc.action}
		s.tally(tc.done, tc.passed)
		if diff := cmp.Diff(tc.want, [4]int64{*s.Moved, *s.Discarded, *s.Skipped, *s.Remaining}); diff != "" {
			t.Errorf("%s: moved, discarded, skipped, remaining (-want +got):\n%s", tc.reason, diff)
		}
	}
}

func TestVerdictOfARun(t *testing.T) {
	failed := func(c broker.Class) *redriveRun { return &redriveRun{err: &broker.Error{Class: c, Problem: "p"}} }
	cases := []struct {
		reason                string
		run                   *redriveRun
		complete              bool
		failure, interruption string
	}{
		{"done", &redriveRun{end: broker.MoveDone}, true, "", ""},
		{"emptied", &redriveRun{end: broker.MoveEmptied}, true, "", ""},
		{"stopped", &redriveRun{end: broker.MoveStopped}, false, "", ""},
		{"full", &redriveRun{end: broker.MoveFull}, false, v1alpha1.ReasonTooManyHeld, ""},
		{"returned", failed(broker.Unroutable), false, v1alpha1.ReasonNoRoute, ""},
		{"nacked", failed(broker.Nacked), false, v1alpha1.ReasonRefusedByQueue, ""},
		{"not confirmed", failed(broker.Unconfirmed), false, v1alpha1.ReasonNotConfirmed, ""},
		{"refused", failed(broker.Refused), false, v1alpha1.ReasonRefusedByBroker, ""},
		{"the connection broke", failed(broker.Unreachable), false, "", v1alpha1.ReasonInterrupted},
		{"the queue has gone", failed(broker.NotFound), false, "", v1alpha1.ReasonInterrupted},
		{"whatever else", &redriveRun{err: errors.New("e")}, false, "", v1alpha1.ReasonInterrupted},
	}
	reasonOf := func(p *Problem) string {
		return ptr.Deref(p, Problem{}).Reason
	}
	for _, tc := range cases {
		v := tc.run.verdict()
		if v.complete != tc.complete || reasonOf(v.failure) != tc.failure || reasonOf(v.interruption) != tc.interruption {
			t.Errorf("%s: complete %t, failure %q, interruption %q; want %t, %q, %q", tc.reason,
				v.complete, reasonOf(v.failure), reasonOf(v.interruption), tc.complete, tc.failure, tc.interruption)
		}
	}
}

// A Redrive that was suspended or deleted in the middle makes room when what
// was under way has ended, not before: the next one is told then.
func TestLeavingMakesRoom(t *testing.T) {
	runs := newRedriveRuns()
	run := &redriveRun{
		key: types.NamespacedName{Namespace: "shop", Name: "first"}, subscription: types.NamespacedName{Namespace: "shop", Name: "billing"},
		stop: func() {}, ended: make(chan struct{}),
	}
	if !runs.add(run) {
		t.Fatal("nothing is under way")
	}
	runs.abandon(run.key)
	if runs.at(run.subscription) != run || len(runs.left) != 0 {
		t.Error("it makes room while messages are under way")
	}
	close(run.ended)
	runs.abandon(run.key)
	if runs.at(run.subscription) != nil {
		t.Error("the subscription is still busy")
	}
	select {
	case e := <-runs.left:
		if e.Object != run.subscription {
			t.Errorf("told of %s, want %s", e.Object, run.subscription)
		}
	default:
		t.Error("the next one is not told")
	}
}
