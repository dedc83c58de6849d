package v1alpha1_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/warren-mq/warren/api/v1alpha1"
)

func TestFormatDuration(t *testing.T) {
	cases := []struct {
		reason string
		in     time.Duration
		want   v1alpha1.Duration
	}{
		{"nothing at all still has a form", 0, "0s"},
		{"milliseconds are the finest unit", 1 * time.Millisecond, "1ms"},
		{"what is finer is cut off", 1999 * time.Microsecond, "1ms"},
		{"nothing but what is finer", 999 * time.Microsecond, "0s"},
		{"seconds alone", 5 * time.Second, "5s"},
		{"seconds and milliseconds", 1500 * time.Millisecond, "1s500ms"},
		{"the largest unit that fits comes first", 60 * time.Second, "1m"},
		{"zeros are dropped at the end", 5 * time.Minute, "5m"},
		{"zeros are dropped in the middle", time.Hour + time.Second, "1h1s"},
		{"minutes and seconds", 90 * time.Second, "1m30s"},
		{"all units", 2*time.Hour + 3*time.Minute + 4*time.Second + 5*time.Millisecond, "2h3m4s5ms"},
		{"days are written in hours", 48 * time.Hour, "48h"},
		{"a negative time is nothing", -time.Second, "0s"},
	}
	for _, tc := range cases {
		t.Run(tc.reason, func(t *testing.T) {
			if got := v1alpha1.FormatDuration(tc.in); got != tc.want {
				t.Errorf("FormatDuration(%v) = %q, want %q", tc.in, got, tc.want)
			}
		})
	}
}

// A wait queue is named after its delay: however that is spelt, the name is the same.
func TestSpellingsHaveOneNormalForm(t *testing.T) {
	cases := []struct {
		reason string
		in     []v1alpha1.Duration
		want   v1alpha1.Duration
	}{
		{"minutes and seconds", []v1alpha1.Duration{"5m", "5m0s", "300s", "0h5m", "300000ms", "4m60s"}, "5m"},
		{"any order", []v1alpha1.Duration{"1m30s", "30s1m", "90s"}, "1m30s"},
		{"the normal form is its own", []v1alpha1.Duration{"1s500ms", "1500ms"}, "1s500ms"},
		{"nothing", []v1alpha1.Duration{"0s", "0h", "0ms"}, "0s"},
	}
	for _, tc := range cases {
		t.Run(tc.reason, func(t *testing.T) {
			for _, in := range tc.in {
				length, err := in.Value()
				if err != nil {
					t.Errorf("%q: %v", in, err)
				}
				if got := v1alpha1.FormatDuration(length); got != tc.want {
					t.Errorf("%q becomes %q, want %q", in, got, tc.want)
				}
			}
		})
	}
}

func TestDurationValueRefuses(t *testing.T) {
	cases := []struct {
		reason string
		in     v1alpha1.Duration
	}{
		{"days are no unit of Go's", "1d"},
		{"a number needs a unit", "11"},
		{"a unit needs a number", "m"},
		{"words are no duration", "soon"},
		{"nothing is no duration", ""},
		{"spaces are not allowed", "1m 30s"},
	}
	for _, tc := range cases {
		t.Run(tc.reason, func(t *testing.T) {
			_, err := tc.in.Value()
			want := `"` + string(tc.in) + `" is not a duration: use h, m, s and ms, for example 1m30s`
			if err == nil || err.Error() != want {
				t.Errorf("Value() of %q: %v, want: %s", tc.in, err, want)
			}
		})
	}
}

func TestFormatDurationOverAllOfARange(t *testing.T) {
	// Every normal form parses back to the time that it was made of.
	for length := time.Duration(0); length < 25*time.Hour; length += 1234567 * time.Microsecond {
		want := length.Truncate(time.Millisecond)
		got, err := v1alpha1.FormatDuration(length).Value()
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%v does not come back (-want +got):\n%s", length, diff)
		}
	}
}
