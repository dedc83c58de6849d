package localenv

import (
	"context"
	"fmt"
	"time"
)

const (
	pollInterval = 100 * time.Millisecond
	// awaitTimeout is long enough for a cold start on a busy machine.
	awaitTimeout = 90 * time.Second
)

// await calls check until it succeeds, and gives up with check's last error
// when the time is over or the process it waits for has ended (p may be nil).
func await(ctx context.Context, p *process, check func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, awaitTimeout)
	defer cancel()
	ticker := time.NewTicker(pollInterval)
	defer ticker.Stop()
	for {
		err := check(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w: %w%s", ctx.Err(), err, p.tail())
		case <-p.ended():
			return fmt.Errorf("%s ended early%s", p.name, p.tail())
		case <-ticker.C:
		}
	}
}
