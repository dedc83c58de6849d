package topology

import (
	"strings"
	"time"

	"github.com/warren-mq/warren/api/v1alpha1"
)

// Retry is what a retry strategy means for a consumer and for whoever is on call.
type Retry struct {
	// Strategy, with its delays: "backoff 5s, 30s, 5m".
	Strategy string
	// CountedBy says who counts the deliveries.
	CountedBy v1alpha1.Counter
	// MaxDeliveries of a message that always fails in the way the strategy expects.
	MaxDeliveries int64
	// WorstCaseDeliveries with crashes and requeues in between; 0 where nothing bounds them.
	WorstCaseDeliveries int64
	// TimeToParking is the sum of the delays.
	TimeToParking time.Duration
	// Contract says which verbs of a consumer do what.
	Contract string
}

// rejectionsOnly matches messages that died because a consumer rejected
// them. Nothing else may enter a retry loop: a cycle without a rejection in
// it never gets home (RabbitMQ drops the message, or keeps it for ever).
func rejectionsOnly() Arguments {
	return Arguments{"x-match": "all-with-x", "x-last-death-reason": "rejected"}
}

// cameThrough matches messages that had come into the work queue through an exchange.
func cameThrough(exchange string) Arguments {
	return Arguments{"x-match": "all-with-x", "x-last-death-exchange": exchange}
}

func joinDurations(delays []time.Duration) string {
	parts := make([]string, 0, len(delays))
	for _, d := range delays {
		parts = append(parts, string(v1alpha1.FormatDuration(d)))
	}
	return strings.Join(parts, ", ")
}

func parseDuration(field string, d v1alpha1.Duration) (time.Duration, error) {
	v, err := d.Value()
	if err != nil {
		return 0, refuse(v1alpha1.ReasonInvalidSpec, "%s: %v", field, err)
	}
	if v < time.Millisecond {
		return 0, refuse(v1alpha1.ReasonInvalidSpec, "%s: %q is shorter than 1ms", field, string(d))
	}
	return v, nil
}
