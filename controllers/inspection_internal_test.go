package controllers

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/warren-mq/warren/api/v1alpha1"
	"github.com/warren-mq/warren/internal/broker"
	"github.com/warren-mq/warren/internal/topology"
)

// parkedMessages are a parking queue that is looked at.
type parkedMessages struct {
	Session
	all []broker.Parked
	end broker.MoveEnd
	err error
	// begun and proceed, if set, hold a look up.
	begun, proceed chan struct{}
}

func (p *parkedMessages) Move(_ context.Context, move broker.Move, _ *broker.MoveProgress) (broker.MoveEnd, error) {
	if p.begun != nil {
		p.begun <- struct{}{}
		<-p.proceed
	}
	if !move.Dry || !move.Selective || move.Exchange != "" {
		return "", errors.New("a look moves nothing and keeps the order")
	}
	for _, m := range p.all {
		if move.Judge(m) != broker.Keep {
			return "", errors.New("a look keeps all")
		}
	}
	return p.end, p.err
}

func TestSample(t *testing.T) {
	at := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	var many []broker.Parked
	for range 130 {
		many = append(many, broker.Parked{Reason: broker.ParkedRejected})
	}
	cases := []struct {
		reason  string
		session parkedMessages
		parked  int64
		want    v1alpha1.ParkingReasons
	}{
		{
			reason: "each reason, and the oldest of those that tell a time", parked: 5,
			session: parkedMessages{end: broker.MoveDone, all: []broker.Parked{
				{Reason: broker.ParkedRejected}, {Reason: broker.ParkedDeliveryLimit, Since: at.Add(time.Hour)}, {Reason: broker.ParkedExpired, Since: at},
				{Reason: broker.ParkedByConsumer, Since: at.Add(time.Minute)}, {Reason: "maxlen"},
			}},
			want: v1alpha1.ParkingReasons{Messages: 5, Sampled: 5, Rejected: 1, OverDeliveryLimit: 1, Expired: 1, ParkedByConsumer: 1, Other: 1, Oldest: ptr.To(metav1.NewTime(at))},
		},
		{
			reason: "the first hundred are counted, all are held", parked: 130, session: parkedMessages{all: many},
			want: v1alpha1.ParkingReasons{Messages: 130, Sampled: 100, Rejected: 100},
		},
		{
			reason: "too many to hold", parked: maxHeldForSample + 1, session: parkedMessages{err: errors.New("was looked at")},
			want: v1alpha1.ParkingReasons{Messages: 1001, Note: "not looked at: more than 1000 are parked"},
		},
		{
			reason: "broken off", parked: 2, session: parkedMessages{all: many[:1], err: &broker.Error{Class: broker.Unreachable, Op: "look", Problem: "the connection broke"}},
			want: v1alpha1.ParkingReasons{Messages: 2, Sampled: 1, Rejected: 1, Note: "the look was cut short: look: the connection broke"},
		},
		{
			reason: "too slow", parked: 2, session: parkedMessages{end: broker.MoveStopped},
			want: v1alpha1.ParkingReasons{Messages: 2, Note: "the look was cut short: it took too long"},
		},
	}
	for _, c := range cases {
		t.Run(c.reason, func(t *testing.T) {
			got := *sample(t.Context(), &c.session, topology.Names{Work: "w", Parking: "w.parking"}, c.parked)
			if !strings.HasPrefix(got.Note, c.want.Note) || c.want.Note == "" && got.Note != "" {
				t.Errorf("note %q, want %q", got.Note, c.want.Note)
			}
			got.Note, c.want.Note = "", ""
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("reasons (-want +got):\n%s", diff)
			}
		})
	}
}

// A look and a Redrive keep out of each other's way, and looks are rare.
func TestLooksAndRedrivesExcludeEachOther(t *testing.T) {
	key := types.NamespacedName{Namespace: "shop", Name: "billing"}
	sub := &v1alpha1.ReliableSubscription{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name, UID: "1"}}
	session := &parkedMessages{end: broker.MoveDone, all: []broker.Parked{{Reason: broker.ParkedExpired}}, begun: make(chan struct{}), proceed: make(chan struct{})}
	a := &assessment{
		view:     &View{Broker: &v1alpha1.Broker{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "main"}}, Session: session},
		topology: &topology.Topology{Names: topology.Names{Work: "w", Parking: "w.parking"}},
	}
	looks := newInspections()
	redriving := false
	looks.redriving = func(types.NamespacedName) bool { return redriving }
	want := func(what string, got, want time.Duration) {
		t.Helper()
		if got != want {
			t.Errorf("%s: come again in %s, want %s", what, got, want)
		}
	}

	release, ok := looks.holdOff(key)
	if !ok {
		t.Fatal("nothing is under way")
	}
	want("a Redrive begins", looks.look(sub, a, 1), lookBusy)
	release()
	redriving = true
	want("a Redrive is at work", looks.look(sub, a, 1), lookBusy)
	redriving = false

	want("nothing in the way", looks.look(sub, a, 1), 0)
	<-session.begun
	if _, ok := looks.holdOff(key); ok {
		t.Error("a Redrive may begin in the middle of a look")
	}
	if !looks.disturbs(key, &topology.Snapshot{TakenAt: time.Now()}) {
		t.Error("a reading during a look is believed")
	}
	want("one is under way", looks.look(sub, a, 1), 0)
	session.proceed <- struct{}{}
	<-looks.ended
	if found := looks.latest(sub, "w.parking"); found == nil || found.Expired != 1 {
		t.Errorf("the look has found %+v", found)
	}
	if found := looks.latest(sub, "another"); found != nil {
		t.Errorf("of another queue: %+v", found)
	}
	if release, ok := looks.holdOff(key); !ok {
		t.Error("a Redrive may not begin after a look")
	} else {
		release()
	}
	if again := looks.look(sub, a, 2); again <= lookBusy || again > lookEvery {
		t.Errorf("right after a look another one may come in %s, want %s", again, lookEvery)
	}
	if !looks.disturbs(key, &topology.Snapshot{TakenAt: time.Now()}) || looks.disturbs(key, &topology.Snapshot{TakenAt: time.Now().Add(3 * statisticsInterval)}) {
		t.Error("the statistics are late after a look, and not for ever")
	}
}
