package topology

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// EqualArguments compares by value, as the broker does: an integer's width
// does not matter, but a number is not a string.
func EqualArguments(a, b Arguments) bool {
	if len(a) != len(b) {
		return false
	}
	for k, v := range a {
		w, ok := b[k]
		if !ok || !EqualValues(v, w) {
			return false
		}
	}
	return true
}

// EqualValues compares two argument values by value.
func EqualValues(a, b any) bool { return normal(a) == normal(b) }

// Integer gives the whole number that v holds, whatever its width.
func Integer(v any) (int64, bool) {
	n, ok := normal(v).(int64)
	return n, ok
}

// normal maps every integer type, and the floats that JSON makes of them, to
// int64, and what cannot be compared (tables, lists) to its text.
func normal(v any) any {
	switch x := v.(type) {
	case int:
		return int64(x)
	case int8:
		return int64(x)
	case int16:
		return int64(x)
	case int32:
		return int64(x)
	case int64:
		return x
	case uint8:
		return int64(x)
	case uint16:
		return int64(x)
	case uint32:
		return int64(x)
	case float64:
		if x == math.Trunc(x) && math.Abs(x) < 1<<53 {
			return int64(x)
		}
		return x
	case string, bool, nil:
		return x
	}
	return fmt.Sprint(v)
}

func formatArguments(a Arguments) string {
	keys := make([]string, 0, len(a))
	for k := range a {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	parts := make([]string, 0, len(a))
	for _, k := range keys {
		parts = append(parts, fmt.Sprintf("%s: %v", k, a[k]))
	}
	return "{" + strings.Join(parts, ", ") + "}"
}
