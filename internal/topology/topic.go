package topology

import (
	"strings"

	"github.com/warren-mq/warren/api/v1alpha1"
)

// Topic is all that the topology of one Topic depends on.
type Topic struct {
	Name  string
	Spec  *v1alpha1.TopicSpec
	Owner string
}

// ExchangeName is the topic's exchange, with the default filled in.
func (t Topic) ExchangeName() string {
	if t.Spec.Exchange != "" {
		return t.Spec.Exchange
	}
	return t.Name
}

// ExchangeType is the topic's type, with the default filled in.
func (t Topic) ExchangeType() string {
	if t.Spec.Type != "" {
		return string(t.Spec.Type)
	}
	return string(v1alpha1.ExchangeTopic)
}

// UnroutableQueue is the queue for what reaches no other, or "" where none is
// asked for. The alternate exchange before it has the same name.
func (t Topic) UnroutableQueue() string {
	switch {
	case t.Spec.Unroutable == nil:
		return ""
	case t.Spec.Unroutable.Queue != "":
		return t.Spec.Unroutable.Queue
	}
	return t.ExchangeName() + ".unroutable"
}

// CompileTopic turns a topic into the objects of the broker, in declare
// order: the catch-all before the exchange whose messages it catches.
func CompileTopic(t Topic) (*Topology, error) {
	if name := t.ExchangeName(); strings.HasPrefix(name, reservedPrefix) {
		return nil, refuse(v1alpha1.ReasonInvalidSpec,
			"exchange name %q begins with amq., which RabbitMQ reserves: set spec.exchange", name)
	}
	args := Arguments{OwnerArgument: t.Owner}
	var objects []Object
	if queue := t.UnroutableQueue(); queue != "" {
		if len(queue) > maxNameBytes {
			return nil, refuse(v1alpha1.ReasonInvalidSpec,
				"queue name %q has %d bytes; RabbitMQ allows %d: set spec.unroutable.queue", queue, len(queue), maxNameBytes)
		}
		if queue == t.ExchangeName() {
			return nil, refuse(v1alpha1.ReasonInvalidSpec,
				"spec.unroutable.queue is %q, and so is the exchange: the alternate exchange before the queue has the queue's name, so choose another", queue)
		}
		args = args.With("alternate-exchange", queue)
		objects = append(objects,
			Exchange{Name: queue, Type: Fanout, Arguments: Arguments{OwnerArgument: t.Owner}},
			Queue{Name: queue, Role: RoleUnroutable, Arguments: parkingArguments(queue).
				With("x-queue-type", "quorum").With(OwnerArgument, t.Owner)},
			Binding{Source: queue, Destination: queue, DestinationKind: KindQueue})
	}
	objects = append(objects, Exchange{Name: t.ExchangeName(), Type: t.ExchangeType(), Arguments: args})
	return &Topology{Owner: t.Owner, Objects: objects}, nil
}
