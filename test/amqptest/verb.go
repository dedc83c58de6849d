package amqptest

import "fmt"

// Verb is what a consumer does with a delivery.
type Verb int

// The verbs of AMQP, and the ways to fail without any.
const (
	// Ack is basic.ack.
	Ack Verb = iota
	// Reject is basic.reject with requeue=false.
	Reject
	// RejectRequeue is basic.reject with requeue=true.
	RejectRequeue
	// Nack is basic.nack with requeue=false.
	Nack
	// NackRequeue is basic.nack with requeue=true.
	NackRequeue
	// Crash closes the channel instead of answering; the consumer then
	// consumes again on a new one.
	Crash
	// Hang never answers.
	Hang
)

var verbNames = [...]string{"Ack", "Reject", "RejectRequeue", "Nack", "NackRequeue", "Crash", "Hang"}

// String is the name of the verb's constant.
func (v Verb) String() string {
	if v < 0 || int(v) >= len(verbNames) {
		return fmt.Sprintf("Verb(%d)", int(v))
	}
	return verbNames[v]
}

// Answer chooses the verb for a delivery.
type Answer func(Delivery) Verb

// InTurn answers the first delivery of each message with the first verb, its
// second delivery with the second verb, and so on; the last verb answers all
// further ones.
func InTurn(verbs ...Verb) Answer {
	return func(d Delivery) Verb { return verbs[min(d.Nth, len(verbs))-1] }
}

// ByID answers messages by their id, and those that are not named with Ack.
func ByID(answers map[string]Answer) Answer {
	return func(d Delivery) Verb {
		if answer, ok := answers[d.MessageId]; ok {
			return answer(d)
		}
		return Ack
	}
}
