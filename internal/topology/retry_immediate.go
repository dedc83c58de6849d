package topology

import "github.com/warren-mq/warren/api/v1alpha1"

// immediate adds nothing to the frame: the broker redelivers at once, and
// the delivery limit ends it.
type immediate struct{ *compiler }

func (immediate) objects() []Object        { return nil }
func (immediate) bindings() []Object       { return nil }
func (i immediate) routes() []Route        { return i.parksRejections() }
func (immediate) workArguments() Arguments { return nil }
func (immediate) retries() int64           { return 0 }

func (immediate) retry(limit int64) Retry {
	return Retry{
		Strategy:            "immediate",
		CountedBy:           v1alpha1.CountedByBroker,
		MaxDeliveries:       limit + 1,
		WorstCaseDeliveries: limit + 1,
	}
}
