package topology_test

import (
	"testing"

	"github.com/warren-mq/warren/internal/topology"
)

func TestParseVersion(t *testing.T) {
	cases := []struct {
		reason, in string
		want       topology.Version
	}{
		{"as released", "4.3.6", topology.Version{Major: 4, Minor: 3, Patch: 6}},
		{"numbers, not digits", "4.10.12", topology.Version{Major: 4, Minor: 10, Patch: 12}},
		{"a candidate", "4.1.0-rc.1", topology.Version{Major: 4, Minor: 1}},
		{"a build", "4.0.5+2.g1a2b3c", topology.Version{Major: 4, Minor: 0, Patch: 5}},
		{"a fourth number", "3.13.7.2", topology.Version{Major: 3, Minor: 13, Patch: 7}},
		{"no patch", "4.3", topology.Version{Major: 4, Minor: 3}},
		{"no minor", "4", topology.Version{Major: 4}},
	}
	for _, tc := range cases {
		t.Run(tc.reason, func(t *testing.T) {
			got, err := topology.ParseVersion(tc.in)
			if err != nil || got != tc.want {
				t.Errorf("ParseVersion(%q) = %v, %v, want %v", tc.in, got, err, tc.want)
			}
		})
	}
}

func TestParseVersionRefuses(t *testing.T) {
	for _, in := range []string{"", "four", "v4.3.6", "4.x", "4..6", ".", "4.-1"} {
		if got, err := topology.ParseVersion(in); err == nil {
			t.Errorf("ParseVersion(%q) = %v", in, got)
		} else if want := `"` + in + `" is not a RabbitMQ version`; err.Error() != want {
			t.Errorf("ParseVersion(%q): %v, want %s", in, err, want)
		}
	}
}

func TestWhatAVersionDoes(t *testing.T) {
	cases := []struct {
		version        topology.Version
		carriesCount   bool
		countsRequeue  bool
		hasDelayedWait bool
	}{
		{version: topology.Version{}, countsRequeue: true},
		{version: rabbit40, countsRequeue: true},
		{version: topology.Version{Major: 4, Minor: 2, Patch: 99}, countsRequeue: true},
		{version: topology.Version{Major: 4, Minor: 3}, carriesCount: true, hasDelayedWait: true},
		{version: rabbit43, carriesCount: true, hasDelayedWait: true},
		{version: topology.Version{Major: 5}, carriesCount: true, hasDelayedWait: true},
	}
	for _, tc := range cases {
		v := tc.version
		if v.CarriesDeliveryCount() != tc.carriesCount || v.CountsNackRequeue() != tc.countsRequeue || v.HasDelayedRetry() != tc.hasDelayedWait {
			t.Errorf("%s: carries the count %t, counts nack %t, delayed retry %t", v, v.CarriesDeliveryCount(), v.CountsNackRequeue(), v.HasDelayedRetry())
		}
	}
	if v := topology.MinimumVersion; !rabbit40.AtLeast(v.Major, v.Minor) || (topology.Version{Major: 3, Minor: 13}).AtLeast(v.Major, v.Minor) {
		t.Errorf("the oldest version is %s", v)
	}
}
