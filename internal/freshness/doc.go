// Package freshness decides for how long one may believe what was read of a
// broker. A condition stays as it was written when the operator has died; the
// Lease that is renewed after each good reading does not.
package freshness
