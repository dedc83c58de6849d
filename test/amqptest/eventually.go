package amqptest

import (
	"testing"
	"time"
)

// Deadline is how long the functions of this package wait for what a healthy
// broker does within a few seconds, even on a busy machine.
const Deadline = time.Minute

// pollInterval is short beside the delays that tests use, and long beside the
// milliseconds that asking a broker takes.
const pollInterval = 100 * time.Millisecond

// Eventually calls check until it returns nil, and ends the test with its last
// error when that has not happened within the given time.
func Eventually(t testing.TB, within time.Duration, check func() error) {
	t.Helper()
	deadline := time.NewTimer(within)
	defer deadline.Stop()
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for {
		err := check()
		if err == nil {
			return
		}
		select {
		case <-deadline.C:
			t.Fatalf("still after %s: %v", within, err)
		case <-tick.C:
		}
	}
}
