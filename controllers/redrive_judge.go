package controllers

import (
	"time"

	"github.com/warren-mq/warren/api/v1alpha1"
	"github.com/warren-mq/warren/internal/broker"
)

// clockTolerance is how far the clocks of Warren and RabbitMQ may be apart.
const clockTolerance = time.Minute

// parkedReasons are what the broker package calls them.
var parkedReasons = map[v1alpha1.ParkedReason]string{
	v1alpha1.ParkedRejected:      broker.ParkedRejected,
	v1alpha1.ParkedDeliveryLimit: broker.ParkedDeliveryLimit,
	v1alpha1.ParkedExpired:       broker.ParkedExpired,
	v1alpha1.ParkedByConsumer:    broker.ParkedByConsumer,
}

// judge says what becomes of each message. What this Redrive has moved before
// and what was parked after its start stay, so that a message that fails
// again and again does not go round.
func judge(rd *v1alpha1.Redrive, started time.Time) func(broker.Parked) broker.Verdict {
	chosen := broker.Take
	if rd.Spec.Action == v1alpha1.RedriveDiscard {
		chosen = broker.Drop
	}
	matches := matcher(rd.Spec.Filter)
	mark := string(rd.UID)
	return func(p broker.Parked) broker.Verdict {
		if p.Mark == mark || p.Since.After(started.Add(clockTolerance)) || !matches(p) {
			return broker.Keep
		}
		return chosen
	}
}

func matcher(f *v1alpha1.RedriveFilter) func(broker.Parked) bool {
	if f == nil {
		return func(broker.Parked) bool { return true }
	}
	ids := make(map[string]bool, len(f.MessageIDs))
	for _, id := range f.MessageIDs {
		ids[id] = true
	}
	// The schema has seen to it that it parses, save for a 30th of February,
	// before which nothing was parked.
	before, _ := time.Parse(time.RFC3339, f.ParkedBefore)
	return func(p broker.Parked) bool {
		return (f.Reason == "" || p.Reason == parkedReasons[f.Reason]) &&
			(len(ids) == 0 || ids[p.MessageID]) &&
			(f.ParkedBefore == "" || !p.Since.IsZero() && p.Since.Before(before))
	}
}
