package controllers

import (
	"testing"
	"time"

	"github.com/warren-mq/warren/internal/broker"
	"github.com/warren-mq/warren/internal/topology"
)

func TestSpins(t *testing.T) {
	start := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	at := func(second int) time.Time { return start.Add(time.Duration(second) * time.Second) }
	cases := []struct {
		reason             string
		period             time.Duration
		since, redelivered time.Time
		changed            time.Time // another queue of the subscription
		want               bool
	}{
		{reason: "nothing is redelivered", period: time.Second},
		{reason: "once only", period: time.Second, since: at(60), redelivered: at(60)},
		{reason: "over less than two periods", period: 30 * time.Second, since: at(60), redelivered: at(119)},
		{reason: "over two periods", period: 30 * time.Second, since: at(60), redelivered: at(120), want: true},
		{reason: "over two short periods, which prove nothing", period: time.Second, since: at(60), redelivered: at(69)},
		{reason: "over two readings of the statistics", period: time.Second, since: at(60), redelivered: at(70), want: true},
		{reason: "a message left, or came back, meanwhile", period: time.Second, since: at(60), redelivered: at(120), changed: at(111)},
		{reason: "and it went on after that", period: time.Second, since: at(60), redelivered: at(120), changed: at(110), want: true},
		{reason: "what changed before explains nothing", period: time.Second, since: at(60), redelivered: at(120), changed: at(20), want: true},
		{reason: "what changed last came after all of it", period: time.Second, since: at(60), redelivered: at(120), changed: at(150)},
	}
	for _, c := range cases {
		t.Run(c.reason, func(t *testing.T) {
			work := topology.SeenQueue{Name: "w", Trouble: topology.Trouble{SpinningSince: c.since, RedeliveredAt: c.redelivered, ChangedAt: at(120)}}
			parking := topology.SeenQueue{Name: "w.parking", Trouble: topology.Trouble{ChangedAt: c.changed}}
			seen := &topology.Snapshot{Queues: map[string]topology.SeenQueue{"w": work, "w.parking": parking}}
			a := &assessment{
				view:     &View{SyncPeriod: c.period, Observation: &broker.Observation{Snapshot: seen}},
				topology: &topology.Topology{Objects: []topology.Object{topology.Queue{Name: "w"}, topology.Queue{Name: "w.parking"}}},
			}
			if got := spins(a, work); got != c.want {
				t.Errorf("spins: %t, want %t", got, c.want)
			}
		})
	}
}
