package controllers

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// A queue that is deleted right after it was read is missed a sync period
// later, however long reading takes.
func TestASyncPeriodBeginsWithAReading(t *testing.T) {
	const period = 30 * time.Second
	key := types.NamespacedName{Namespace: "shop", Name: "rabbit"}
	cases := []struct {
		name     string
		ago      time.Duration // when the reading began
		took     time.Duration
		from, to time.Duration
	}{
		{"quick", time.Second, time.Second, 28 * time.Second, 29 * time.Second},
		{"slow", 12 * time.Second, 12 * time.Second, 17 * time.Second, 18 * time.Second},
		{"more than half of the period", 25 * time.Second, 25 * time.Second, 25 * time.Second, 25 * time.Second},
		{"overdue", time.Minute, 0, time.Millisecond, time.Millisecond},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var l leases
			l.keep(key, leaseState{settled: true, renewed: time.Now().Add(-c.ago)})
			if got := l.due(key, View{SyncPeriod: period, Took: c.took}); got < c.from || got > c.to {
				t.Errorf("the next reading is due in %s, want %s to %s", got, c.from, c.to)
			}
		})
	}
}
