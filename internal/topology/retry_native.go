package topology

import (
	"fmt"
	"strings"
	"time"

	"github.com/warren-mq/warren/api/v1alpha1"
)

// native is the delayed retry that quorum queues have themselves. It adds no
// object, only arguments of the work queue.
type native struct {
	*compiler
	on       v1alpha1.NativeRetryOn
	min, max time.Duration
}

func newNative(c *compiler, spec *v1alpha1.NativeRetry) (strategy, error) {
	if !c.in.Broker.HasDelayedRetry() {
		return nil, refuse(v1alpha1.ReasonUnsupportedByBroker,
			"spec.retry.native needs RabbitMQ 4.3 or newer and the broker is %s, which takes the arguments and ignores them: nothing was declared; choose backoff, fixedDelay or immediate, or upgrade the broker", c.in.Broker)
	}
	n := native{compiler: c, on: spec.Occasion()}
	var err error
	if n.min, err = parseDuration("spec.retry.native.minDelay", spec.MinDelay); err != nil {
		return nil, err
	}
	if n.max, err = parseDuration("spec.retry.native.maxDelay", spec.MaxDelay); err != nil {
		return nil, err
	}
	return n, nil
}

func (n native) objects() []Object  { return nil }
func (n native) bindings() []Object { return nil }
func (n native) routes() []Route    { return n.parksRejections() }

func (n native) workArguments() Arguments {
	return Arguments{
		"x-delayed-retry-type": strings.ToLower(string(n.on)),
		"x-delayed-retry-min":  n.min.Milliseconds(),
		"x-delayed-retry-max":  n.max.Milliseconds(),
	}
}

func (n native) retries() int64 { return 0 }

func (n native) retry(limit int64) Retry {
	return Retry{
		Strategy:            fmt.Sprintf("native %s to %s on %s", v1alpha1.FormatDuration(n.min), v1alpha1.FormatDuration(n.max), n.on),
		CountedBy:           v1alpha1.CountedByBroker,
		MaxDeliveries:       limit + 1,
		WorstCaseDeliveries: limit + 1,
		TimeToParking:       n.timeToParking(limit),
	}
}

// longestTime is what a Duration of the API can hold: more than eleven years.
const longestTime = 99999 * time.Hour

// timeToParking of a message that fails every time. The k-th delay is k
// times the shortest, up to the longest. Where failures are not what is
// delayed (Returned), they are redelivered at once.
func (n native) timeToParking(limit int64) time.Duration {
	if n.on == v1alpha1.NativeRetryOnReturned {
		return 0
	}
	// Delays grow for the first max/min retries and stay at max after that.
	// Milliseconds, since nanoseconds overflow for a high limit.
	growing := min(limit, int64(n.max/n.min))
	sum := n.min.Milliseconds()*growing*(growing+1)/2 + n.max.Milliseconds()*(limit-growing)
	return time.Duration(min(sum, longestTime.Milliseconds())) * time.Millisecond
}
