package topology

// Unlimited is the value of x-delivery-limit that switches the limit off.
const Unlimited int64 = -1

const (
	atLeastOnce   = "at-least-once"
	atMostOnce    = "at-most-once"
	rejectPublish = "reject-publish"
)

// deadLetterTo are the arguments of a queue whose dying messages go to an
// exchange. At-least-once wants overflow reject-publish beside it: with
// drop-head RabbitMQ silently falls back to at-most-once.
func deadLetterTo(exchange, strategy string) Arguments {
	return Arguments{
		"x-dead-letter-exchange": exchange,
		"x-dead-letter-strategy": strategy,
		"x-overflow":             rejectPublish,
	}
}

// parkingArguments are those of a queue that must never lose what it holds.
// RabbitMQ's default delivery limit of 20 would delete a message after 21
// looks at it. It dead-letters to its own exchange, at least once, so that a
// rejection, a copied expiration or a stray policy brings the message back
// or keeps it in the dead-letter line, in place of dropping it.
func parkingArguments(own string) Arguments {
	args := deadLetterTo(own, atLeastOnce)
	args["x-delivery-limit"] = Unlimited
	return args
}
