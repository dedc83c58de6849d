package v1alpha1_test

import "strings"

const (
	reservedName    = "names that begin with amq. are reserved by RabbitMQ"
	unaddressable   = "RabbitMQ's management API cannot address an object named . or .."
	exchangeTooLong = "an exchange's name holds at most 255 bytes"
	queueTooLong    = "a queue's name holds at most 255 bytes"
)

// umlauts is a name of so many bytes in about half as many characters.
func umlauts(bytes int) string {
	return strings.Repeat("ü", bytes/2) + strings.Repeat("u", bytes%2)
}

// nameAcceptances are names that a field takes, at the limits of what it takes.
func nameAcceptances(spec func(name string) string, maxBytes int) []acceptance {
	return []acceptance{
		{"a name may be as long as it goes", spec(strings.Repeat("n", maxBytes))},
		{"bytes are counted, and so many are allowed", spec(umlauts(maxBytes))},
		{"a name need not look like a Kubernetes name", spec("Events:Failed jobs_delayed/ä%2F?#")},
		{"only amq with a dot is reserved", spec("amqp.orders")},
		{"dots inside are harmless", spec("..orders")},
	}
}

// nameRefusals are names that a field must not take. The messages differ
// where the field has more to say.
func nameRefusals(spec func(name string) string, field string, maxBytes int, tooLong, reserved string) []refusal {
	return []refusal{
		{"one byte too many, though the characters are few", spec(umlauts(maxBytes + 1)), field, tooLong},
		{"reserved by the broker", spec("amq.orders"), field, reserved},
		{"a dot would be cut from the management API's path", spec("."), field, unaddressable},
		{"two dots would lead to another resource", spec(".."), field, unaddressable},
		{"a name that is given is not empty", spec(""), field, "should be at least 1 chars long"},
	}
}
