package freshness

import "time"

// leastLimit leaves room for a reading that takes its time, and for clocks
// that differ a little.
const leastLimit = 10 * time.Second

// Limit is how old a reading may be: two sync periods, and never less than 10 s.
func Limit(syncPeriod time.Duration) time.Duration {
	return max(2*syncPeriod, leastLimit)
}

// Fresh tells whether what was read at readAt may be believed now. What is
// ahead of now by more than the limit comes from a clock that is wrong, and is
// not believed either.
func Fresh(readAt, now time.Time, limit time.Duration) bool {
	age := now.Sub(readAt)
	return -limit < age && age < limit
}
