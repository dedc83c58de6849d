package broker

import (
	"context"
	"fmt"
	"net/http"

	rabbithole "github.com/michaelklishin/rabbit-hole/v2"
	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/warren-mq/warren/internal/topology"
)

// Unbind removes a binding, if it is there: it must have the arguments that
// were read back, the owner's mark included.
func (s *Session) Unbind(ctx context.Context, b topology.Binding) error {
	t := task{op: opRemove, kind: string(topology.KindBinding), object: b.String()}
	if hasNumbers(b.Arguments) {
		return s.unbindByKey(ctx, t, b)
	}
	return s.onChannel(ctx, func(do *doer) error {
		return do.call(ctx, t, func(c *amqp.Channel) error { return unbind(c, b) })
	})
}

func unbind(c *amqp.Channel, b topology.Binding) error {
	if b.DestinationKind == topology.KindExchange {
		return c.ExchangeUnbind(b.Destination, b.RoutingKey, b.Source, false, table(b.Arguments))
	}
	return c.QueueUnbind(b.Destination, b.RoutingKey, b.Source, table(b.Arguments))
}

// DeleteQueue deletes a queue and tells how many messages went with it, those
// that wait to be dead-lettered not counted. A queue that does not exist is no
// error. It never asks for if-empty or if-unused: on a quorum queue RabbitMQ
// answers with 540 and closes the connection.
func (s *Session) DeleteQueue(ctx context.Context, name string) (messages int, err error) {
	t := task{op: opDelete, kind: string(topology.KindQueue), object: topology.Queue{Name: name}.String()}
	err = s.onChannel(ctx, func(do *doer) error {
		return do.call(ctx, t, func(c *amqp.Channel) (err error) {
			messages, err = c.QueueDelete(name, false, false, false)
			return err
		})
	})
	return messages, err
}

// DeleteEmptyQueue deletes a queue unless it has ready messages or consumers
// at that moment: it asks on the channel on which it deletes, since RabbitMQ
// knows no if-empty for quorum queues. Those that are unacknowledged or wait
// to be dead-lettered do not show here; whoever calls has read that there are none.
// A queue that does not exist is no error; one that is in use is [Refused].
func (s *Session) DeleteEmptyQueue(ctx context.Context, name string) error {
	t := task{op: opDelete, kind: string(topology.KindQueue), object: topology.Queue{Name: name}.String()}
	var used string
	err := s.onChannel(ctx, func(do *doer) error {
		return do.call(ctx, t, func(c *amqp.Channel) error {
			q, err := c.QueueDeclarePassive(name, true, false, false, false, nil)
			if err != nil {
				return err
			}
			if q.Messages > 0 || q.Consumers > 0 {
				used = fmt.Sprintf("it has %d messages and %d consumers", q.Messages, q.Consumers)
				return nil
			}
			_, err = c.QueueDelete(name, false, false, false)
			return err
		})
	})
	switch {
	case ClassOf(err) == NotFound:
		return nil
	case err == nil && used != "":
		return t.wrap(&Error{Class: Refused, Problem: used})
	}
	return err
}

// DeleteExchange deletes an exchange with its bindings. One that does not
// exist is no error.
func (s *Session) DeleteExchange(ctx context.Context, name string) error {
	return s.deleteExchange(ctx, name, false)
}

func (s *Session) deleteExchange(ctx context.Context, name string, ifUnused bool) error {
	t := task{op: opDelete, kind: string(topology.KindExchange), object: topology.Exchange{Name: name}.String()}
	return s.onChannel(ctx, func(do *doer) error {
		return do.call(ctx, t, func(c *amqp.Channel) error { return c.ExchangeDelete(name, ifUnused, false) })
	})
}

// DeleteUnusedExchange deletes an exchange unless something is bound to it,
// which is [Precondition].
func (s *Session) DeleteUnusedExchange(ctx context.Context, name string) error {
	return s.deleteExchange(ctx, name, true)
}

// DeletePolicy deletes a policy. One that does not exist is no error.
func (s *Session) DeletePolicy(ctx context.Context, name string) error {
	t := task{op: opDelete, kind: string(topology.KindPolicy), object: topology.Policy{Name: name}.String()}
	err := s.management.send(ctx, t, func(c *rabbithole.Client) (*http.Response, error) {
		return c.DeletePolicy(s.vhost(), name)
	})
	if ClassOf(err) == NotFound {
		return nil
	}
	return err
}
