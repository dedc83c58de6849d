package main

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestSharesAreThoseOfOurOwnProcesses(t *testing.T) {
	line := func(pid, parent int, name string, ticks int) string {
		return fmt.Sprintf("%d (%s) S %d 1 1 0 -1 0 0 0 0 0 %d 0 0 0 20 0 9 0 1000 0 0", pid, name, parent, ticks)
	}
	got := sharesOf(10, []string{
		line(1, 0, "init", 900),
		line(10, 1, "bench", 700),
		line(11, 10, "etcd", 100),
		line(12, 10, "sh", 1),
		line(13, 12, "beam.smp", 500),
		line(14, 13, "inet_gethost (4)", 50),
		line(20, 1, "etcd", 300),
		"21 (torn",
	})
	want := shares{"etcd": time.Second, "sh": 10 * time.Millisecond, "beam.smp": 5 * time.Second, "inet_gethost (4)": 500 * time.Millisecond}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("shares (-want +got):\n%s", diff)
	}
}

func TestSharesBetweenTwoMoments(t *testing.T) {
	before := shares{"etcd": time.Second, "warren": time.Second}
	after := shares{"etcd": 3 * time.Second, "beam.smp": 9 * time.Second, "warren": time.Second, "sh": 10 * time.Millisecond}
	got := after.since(before).String()
	if want := "beam.smp 9.0 s, etcd 2.0 s"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
