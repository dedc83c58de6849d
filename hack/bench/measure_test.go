package main

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestCPUTime(t *testing.T) {
	// The name of a program may hold spaces and parentheses.
	const stat = "42 (war) ren) S 1 42 42 0 -1 4194560 100 0 0 0 150 25 0 0 20 0 9 0 1000 0 0"
	got, err := cpuTime(stat)
	if want := 1750 * time.Millisecond; err != nil || got != want {
		t.Errorf("cpuTime = %s, %v, want %s", got, err, want)
	}
	if _, err := cpuTime("42 (warren) S 1"); err == nil {
		t.Error("a line without times gives no error")
	}
}

func TestPeakMemory(t *testing.T) {
	got, err := peakMemory("Name:\twarren\nVmPeak:\t 1300000 kB\nVmHWM:\t   98304 kB\nVmRSS:\t   90000 kB\n")
	if err != nil || got != 96 {
		t.Errorf("peakMemory = %v, %v, want 96", got, err)
	}
	if _, err := peakMemory("Name:\twarren\n"); err == nil {
		t.Error("a status without VmHWM gives no error")
	}
}

func TestSamplesOfOneMetric(t *testing.T) {
	page := `# TYPE requests_total counter
requests_total{operation="list_queues",outcome="success"} 7
requests_total{operation="declare_queue",outcome="failure"} 1.5e+03
requests_total_other{operation="list_queues"} 9
`
	want := []sample{
		{map[string]string{"operation": "list_queues", "outcome": "success"}, 7},
		{map[string]string{"operation": "declare_queue", "outcome": "failure"}, 1500},
	}
	got := samples([]byte(page), "requests_total")
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(sample{})); diff != "" {
		t.Errorf("samples (-want +got):\n%s", diff)
	}
}

func TestUsageBetweenTwoMoments(t *testing.T) {
	before := usage{time.Second, 3, map[string]int{"list_queues": 3}, 10, 5}
	after := usage{3 * time.Second, 8, map[string]int{"list_queues": 3, "declare_queue": 5}, 10, 6}
	want := usage{2 * time.Second, 5, map[string]int{"declare_queue": 5}, 0, 1}
	if diff := cmp.Diff(want, after.since(before), cmp.AllowUnexported(usage{})); diff != "" {
		t.Errorf("since (-want +got):\n%s", diff)
	}
}
