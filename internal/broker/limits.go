package broker

import (
	"fmt"

	"github.com/warren-mq/warren/internal/topology"
)

const (
	// maxShortString is what AMQP allows for a name or a key.
	maxShortString = 255
	// maxArguments stays clear of RabbitMQ's default frame, 128 KiB.
	maxArguments = 100 << 10
)

// misfit says why an object cannot be put into an AMQP frame, or "". Trying
// would end the connection, which everybody shares.
func misfit(object topology.Object) string {
	var names []string
	var args topology.Arguments
	switch o := object.(type) {
	case topology.Exchange:
		names, args = []string{o.Name, o.Type}, o.Arguments
	case topology.Queue:
		names, args = []string{o.Name}, o.Arguments
	case topology.Binding:
		names, args = []string{o.Source, o.Destination, o.RoutingKey}, o.Arguments
	}
	size := 0
	for key, value := range args {
		names = append(names, key)
		size += len(key) + len(fmt.Sprint(value))
	}
	for _, name := range names {
		if len(name) > maxShortString {
			return fmt.Sprintf("%.40q... has %d bytes, and AMQP allows %d for a name or a key", name, len(name), maxShortString)
		}
	}
	if size > maxArguments {
		return fmt.Sprintf("its arguments have %d bytes, and Warren allows %d", size, maxArguments)
	}
	return ""
}
