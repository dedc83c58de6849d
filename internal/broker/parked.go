package broker

import (
	"strings"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/warren-mq/warren/internal/topology"
)

// Headers that a consumer sets when it parks a message itself.
const (
	headerParkedReason = "warren-parked-reason"
	headerParkedAt     = "warren-parked-at"
)

// Why a message was parked, as [Parked] tells it: the death in the work queue
// in RabbitMQ's words, or [ParkedByConsumer].
const (
	ParkedRejected      = "rejected"
	ParkedDeliveryLimit = "delivery_limit"
	ParkedExpired       = "expired"
	ParkedByConsumer    = "consumer"
)

// Parked is what is known of a parked message. It holds nothing of its body.
type Parked struct {
	MessageID string
	// Reason of the death in the work queue, not of a later one in the
	// parking queue, or [ParkedByConsumer].
	Reason string
	// Since is the last time that the records of its deaths have, to the
	// second: it was not parked before. RabbitMQ notes the first death of each
	// queue and reason only, so that it may have been parked later. Zero if unknown.
	Since time.Time
	// Mark is that of the last move, or "".
	Mark string
}

// parkedOf reads a delivery of a parking queue.
func parkedOf(names topology.Names, d amqp.Delivery) Parked {
	deaths := deathsOf(d.Headers)
	mark, _ := d.Headers[headerMark].(string)
	mark, _, _ = strings.Cut(mark, markSeparator)
	return Parked{MessageID: d.MessageId, Reason: parkedReason(names, d, deaths), Since: parkedSince(names, d.Headers, deaths), Mark: mark}
}

// parkedReason: what came by another exchange than that of dying messages was
// published to the parking exchange, or has died once more in the parking queue.
func parkedReason(names topology.Names, d amqp.Delivery, deaths []death) string {
	_, byConsumer := d.Headers[headerParkedReason]
	if d.Exchange != names.Dead() && byConsumer {
		return ParkedByConsumer
	}
	for _, death := range deaths { // the latest first
		if death.queue == names.Work {
			return death.reason
		}
	}
	return ParkedByConsumer
}

func parkedSince(names topology.Names, headers amqp.Table, deaths []death) time.Time {
	var last time.Time
	if told, ok := headers[headerParkedAt].(string); ok {
		last, _ = time.Parse(time.RFC3339, told)
	}
	for _, death := range deaths {
		if death.queue != names.Parking && death.time.After(last) {
			last = death.time
		}
	}
	return last
}

// death is an entry of x-death.
type death struct {
	queue, reason string
	time          time.Time
}

// deathsOf leaves out what is no entry: a client may have set the header.
func deathsOf(headers amqp.Table) []death {
	entries, _ := headers["x-death"].([]any)
	deaths := make([]death, 0, len(entries))
	for _, entry := range entries {
		if fields, ok := entry.(amqp.Table); ok {
			var d death
			d.queue, _ = fields["queue"].(string)
			d.reason, _ = fields["reason"].(string)
			d.time, _ = fields["time"].(time.Time)
			deaths = append(deaths, d)
		}
	}
	return deaths
}
