package topology

import (
	"fmt"
	"time"

	"github.com/warren-mq/warren/api/v1alpha1"
)

// fixedDelay is one wait queue. It has no rungs to tell apart, so the
// consumer counts its runs by x-death.
type fixedDelay struct {
	*compiler
	delay       time.Duration
	maxAttempts int64
}

func newFixedDelay(c *compiler, spec *v1alpha1.FixedDelayRetry) (strategy, error) {
	delay, err := parseDuration("spec.retry.fixedDelay.delay", spec.Delay)
	if err != nil {
		return nil, err
	}
	return fixedDelay{compiler: c, delay: delay, maxAttempts: int64(spec.MaxAttempts)}, nil
}

func (f fixedDelay) objects() []Object {
	return append(f.retryExchanges(),
		f.exchange(f.names.FixedReturn(), Fanout, nil),
		f.waitQueue(f.names.FixedWait(f.delay), f.delay, f.names.FixedReturn()))
}

func (f fixedDelay) bindings() []Object {
	objects := []Object{f.bindQueue(f.names.FixedReturn(), f.names.Work, nil)}
	return append(objects, f.firstRung(f.names.FixedWait(f.delay))...)
}

func (f fixedDelay) routes() []Route {
	wait := f.names.FixedWait(f.delay)
	return []Route{
		dying("a rejected message", f.names.Work, "rejected", "", wait),
		dying("the return after the delay", wait, "expired", f.names.Retry(), f.names.Work),
	}
}

func (f fixedDelay) workArguments() Arguments { return nil }

func (f fixedDelay) retries() int64 { return f.maxAttempts - 1 }

func (f fixedDelay) retry(limit int64) Retry {
	return Retry{
		Strategy:            fmt.Sprintf("fixedDelay %s, %d attempts", v1alpha1.FormatDuration(f.delay), f.maxAttempts),
		CountedBy:           v1alpha1.CountedByConsumer,
		MaxDeliveries:       f.maxAttempts,
		WorstCaseDeliveries: f.worstCase(limit, f.retries()),
		TimeToParking:       time.Duration(f.retries()) * f.delay,
	}
}
