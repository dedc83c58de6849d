package v1alpha1

import (
	"fmt"
	"strings"
	"time"
)

// Duration is a length of time as Go writes it: whole numbers with the units
// h, m, s and ms, for example 30s, 5m or 1m30s. Days are written in hours.
//
// It is a string and not a metav1.Duration because a stored value that does
// not parse (an older schema's "1d") must not break the decoding of a list.
//
// +kubebuilder:validation:MaxLength=24
// +kubebuilder:validation:Pattern=`^([0-9]{1,5}(h|m|s|ms)){1,4}$`
type Duration string

// Value parses d. The schema refuses what does not parse, so an error means
// that the value came past it.
func (d Duration) Value() (time.Duration, error) {
	v, err := time.ParseDuration(string(d))
	if err != nil {
		return 0, fmt.Errorf("%q is not a duration: use h, m, s and ms, for example 1m30s", string(d))
	}
	return v, nil
}

// FormatDuration gives the normal form that names, status and messages use:
// largest unit first, zeros dropped, milliseconds at the finest (5m, 1m30s,
// 1s500ms, and 0s for nothing). The same time has one form only, so that a
// wait queue's name does not depend on how a delay was spelt.
func FormatDuration(d time.Duration) Duration {
	units := []struct {
		size time.Duration
		name string
	}{{time.Hour, "h"}, {time.Minute, "m"}, {time.Second, "s"}, {time.Millisecond, "ms"}}

	var b strings.Builder
	for _, u := range units {
		if n := d / u.size; n > 0 {
			fmt.Fprintf(&b, "%d%s", n, u.name)
			d -= n * u.size
		}
	}
	if b.Len() == 0 {
		return "0s"
	}
	return Duration(b.String())
}
