package main

import (
	"strings"
	"testing"
)

// Each row has as many columns as the head.
func TestTable(t *testing.T) {
	lines := strings.Split(strings.TrimSpace(table([]result{
		{Workload: "1000 backoff", Step: stepLoop, Seconds: 20},
		{Workload: "1000 backoff", Step: stepApply, Seconds: 30, Reference: 20, ReferenceIs: stepLoop, PeakMiB: 100, CPUSeconds: 6, Requests: 7, Writes: 8, Events: 9},
	})), "\n")
	if len(lines) != 3 {
		t.Fatalf("%d lines, want a head and two rows", len(lines))
	}
	want := "1000 backoff apply until all Ready 30.0 raw loop 1.50 100 6.0 20.0 7 8 9"
	if got := strings.Join(strings.Fields(lines[2]), " "); got != want {
		t.Errorf("row %q, want %q", got, want)
	}
}

// Messages come in last, as Warren declares it.
func TestWorkloadObjectsEndWithTheBindingToTheTopic(t *testing.T) {
	for _, s := range []strategy{fixedDelay, backoff} {
		objects, err := workload{count: 3, strategy: s}.objects(1)
		if err != nil {
			t.Fatal(err)
		}
		last := objects[len(objects)-1].String()
		if !strings.Contains(last, `exchange "events"`) || !strings.Contains(last, `"event.00001"`) {
			t.Errorf("%s: the last object is %s, want the binding to the topic", s, last)
		}
	}
}
