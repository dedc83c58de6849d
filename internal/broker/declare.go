package broker

import (
	"context"
	"fmt"
	"net/http"

	rabbithole "github.com/michaelklishin/rabbit-hole/v2"
	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/warren-mq/warren/internal/topology"
)

// Declare makes objects exist, one after the other in the given order, and
// stops at the first that fails: what comes later relies on what is before.
// What exists as wanted stays as it is. The [*Error] names the object.
//
// It does not prove that an object is as wanted: RabbitMQ takes arguments
// that it does not know, and keeps an existing owner's mark without a word.
func (s *Session) Declare(ctx context.Context, objects []topology.Object) error {
	return s.onChannel(ctx, func(do *doer) error {
		for _, object := range objects {
			t := task{op: opDeclare, kind: string(object.Kind()), object: object.String()}
			if err := s.declare(ctx, do, t, object); err != nil {
				return err
			}
		}
		return nil
	})
}

func (s *Session) declare(ctx context.Context, do *doer, t task, object topology.Object) error {
	if problem := misfit(object); problem != "" {
		return t.wrap(&Error{Class: Refused, Target: s.peer.address, Problem: problem})
	}
	switch o := object.(type) {
	case topology.Exchange:
		return do.call(ctx, t, func(c *amqp.Channel) error {
			return c.ExchangeDeclare(o.Name, o.Type, true, false, false, false, table(o.Arguments))
		})
	case topology.Queue:
		return do.call(ctx, t, func(c *amqp.Channel) error {
			_, err := c.QueueDeclare(o.Name, true, false, false, false, table(o.Arguments))
			return err
		})
	case topology.Binding:
		return do.call(ctx, t, func(c *amqp.Channel) error { return bind(c, o) })
	case topology.Policy:
		return s.putPolicy(ctx, t, o)
	}
	return t.wrap(&Error{Class: Internal, Problem: fmt.Sprintf("%T cannot be declared", object)})
}

func bind(c *amqp.Channel, b topology.Binding) error {
	if b.DestinationKind == topology.KindExchange {
		return c.ExchangeBind(b.Destination, b.RoutingKey, b.Source, false, table(b.Arguments))
	}
	return c.QueueBind(b.Destination, b.RoutingKey, b.Source, false, table(b.Arguments))
}

// putPolicy goes over HTTP; AMQP has no policies.
func (s *Session) putPolicy(ctx context.Context, t task, p topology.Policy) error {
	policy := rabbithole.Policy{
		Vhost: s.vhost(), Name: p.Name, Pattern: p.Pattern, ApplyTo: p.ApplyTo,
		Priority: p.Priority, Definition: rabbithole.PolicyDefinition(p.Definition),
	}
	return s.management.send(ctx, t, func(c *rabbithole.Client) (*http.Response, error) {
		return c.PutPolicy(s.vhost(), p.Name, policy)
	})
}

func (s *Session) vhost() string { return s.peer.config.Vhost }

// table sends every whole number as a 64-bit one; RabbitMQ compares by value.
func table(args topology.Arguments) amqp.Table {
	t := amqp.Table{}
	for k, v := range args {
		t[k] = v
		if n, ok := topology.Integer(v); ok {
			t[k] = n
		}
	}
	return t
}
