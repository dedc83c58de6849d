package controllers

import (
	"testing"
	"time"
)

func TestPaceOfReadings(t *testing.T) {
	const period = 30 * time.Second
	start := time.Now()
	at := func(d time.Duration) time.Time { return start.Add(d) }
	cases := []struct {
		name   string
		reason string
		pace   func(*pace)
		now    time.Duration
		want   time.Duration
	}{
		{
			name: "never read", reason: "the first reading waits for nothing",
			pace: func(*pace) {},
		},
		{
			name: "nothing declared", reason: "whoever asks for a reading of an idle broker gets it",
			pace: func(p *pace) { p.read(at(0), time.Second, period) },
		},
		{
			name: "burst", reason: "nine parts of ten are the declaring's",
			pace: func(p *pace) { p.read(at(0), 3*time.Second, period); p.begin() },
			now:  time.Second, want: 26 * time.Second,
		},
		{
			name: "long burst", reason: "the rest is over",
			pace: func(p *pace) { p.read(at(0), 3*time.Second, period); p.begin() },
			now:  27 * time.Second,
		},
		{
			name: "slow reading", reason: "a sync period begins with a reading, burst or not",
			pace: func(p *pace) { p.read(at(10*time.Second), 10*time.Second, period); p.begin() },
			now:  10 * time.Second, want: 20 * time.Second,
		},
		{
			name: "reading longer than the sync period", reason: "half of the time is still the declaring's",
			pace: func(p *pace) { p.read(at(0), 40*time.Second, period); p.begin() },
			want: 40 * time.Second,
		},
		{
			name: "between two resources", reason: "a burst that pauses for less than half a reading goes on",
			pace: func(p *pace) { p.read(at(0), 3*time.Second, period); p.begin(); p.end(at(4 * time.Second)) },
			now:  5 * time.Second, want: 500 * time.Millisecond,
		},
		{
			name: "burst over", reason: "the last reading does not wait for the rest's end",
			pace: func(p *pace) { p.read(at(0), 20*time.Second, period); p.begin(); p.end(at(4 * time.Second)) },
			now:  6 * time.Second,
		},
		{
			name: "one of two done", reason: "the other is still being declared",
			pace: func(p *pace) {
				p.read(at(0), 3*time.Second, period)
				p.begin()
				p.begin()
				p.end(at(time.Second))
			},
			now: 5 * time.Second, want: 22 * time.Second,
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var p pace
			c.pace(&p)
			if got := max(p.rest(at(c.now)), 0); got != c.want {
				t.Errorf("a reading waits %s, want %s: %s", got, c.want, c.reason)
			}
		})
	}
}
