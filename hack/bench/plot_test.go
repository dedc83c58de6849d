package main

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
)

// What grows linearly is drawn with the same step for each tenfold.
func TestAxisIsLogarithmic(t *testing.T) {
	a := axisOf([]curve{{points: []point{{x: 150}, {x: 5000}}}}, func(p point) float64 { return p.x })
	if want := (axis{2, 4}); a != want {
		t.Fatalf("axis from 150 to 5000 = %v, want %v", a, want)
	}
	for _, c := range []struct{ value, share float64 }{{100, 0}, {1000, 0.5}, {10000, 1}} {
		if got := a.share(c.value); got != c.share {
			t.Errorf("share of %g = %g, want %g", c.value, got, c.share)
		}
	}
}

func TestPlotIsAnSVGWithAPointForEachResult(t *testing.T) {
	results := []result{
		{Workload: "200 fixedDelay", Count: 200, Step: stepApply, Seconds: 3},
		{Workload: "100 backoff", Count: 100, Step: stepApply, Seconds: 3},
		{Workload: "1000 backoff", Count: 1000, Step: stepApply, Seconds: 30},
		{Workload: "1000 backoff", Count: 1000, Step: stepIdle, Seconds: 30},
	}
	svg := plot(results)
	if n := strings.Count(svg, "<circle"); n != 2 {
		t.Errorf("%d points, want those of the two backoff workloads' apply", n)
	}
	decoder := xml.NewDecoder(strings.NewReader(svg))
	for {
		if _, err := decoder.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatalf("no XML: %v", err)
		}
	}
}
