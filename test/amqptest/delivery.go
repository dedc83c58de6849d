package amqptest

import (
	"fmt"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
)

// Delivery is a delivery as the broker made it, with what the consumer knows
// of it.
type Delivery struct {
	amqp.Delivery
	// Nth counts the consumer's deliveries of this message, known by its
	// MessageId, from 1.
	Nth int
	// At is when it arrived.
	At time.Time
	// Verb is how the consumer answered.
	Verb Verb
}

// Count is the delivery count that the broker reports in x-delivery-count, 0
// when it reports none.
func (d Delivery) Count() int64 {
	count, _ := d.Headers["x-delivery-count"].(int64)
	return count
}

// Death says why and where a message was dead-lettered.
type Death struct {
	// Reason is rejected, expired, delivery_limit or maxlen.
	Reason string
	// Queue is where the message died.
	Queue string
	// Exchange is the one that the message had gone to before it came into
	// Queue.
	Exchange string
}

// LastDeath is what the broker says of the message's latest death: all empty
// when it never died.
func (d Delivery) LastDeath() Death {
	return Death{
		Reason:   d.text("x-last-death-reason"),
		Queue:    d.text("x-last-death-queue"),
		Exchange: d.text("x-last-death-exchange"),
	}
}

func (d Delivery) text(header string) string {
	value, _ := d.Headers[header].(string)
	return value
}

// String is one line for a failure message.
func (d Delivery) String() string {
	return fmt.Sprintf("%s #%d: key %q, count %d, last death %+v, answered %s",
		d.MessageId, d.Nth, d.RoutingKey, d.Count(), d.LastDeath(), d.Verb)
}
