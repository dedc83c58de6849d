package broker

import (
	"context"
	"net/http"

	rabbithole "github.com/michaelklishin/rabbit-hole/v2"

	"github.com/warren-mq/warren/internal/topology"
)

// hasNumbers tells whether a binding cannot be named over AMQP by what was
// read back: JSON does not tell a 32-bit number from a 64-bit one, RabbitMQ
// keeps bindings apart by it, and removing one that does not exist succeeds.
func hasNumbers(args topology.Arguments) bool {
	for _, v := range args {
		switch v.(type) {
		case string, bool:
		default:
			return true
		}
	}
	return false
}

// unbindByKey removes a binding by the key that the management API gives it.
func (s *Session) unbindByKey(ctx context.Context, t task, b topology.Binding) error {
	seen, err := s.bindingsBetween(ctx, t, b)
	if err != nil {
		return err
	}
	for _, info := range seen {
		if info.RoutingKey != b.RoutingKey || !topology.EqualArguments(arguments(info.Arguments), b.Arguments) {
			continue
		}
		err := s.management.send(ctx, t, func(c *rabbithole.Client) (*http.Response, error) {
			return c.DeleteBinding(s.vhost(), info)
		})
		if err != nil && ClassOf(err) != NotFound {
			return err
		}
	}
	return nil
}

func (s *Session) bindingsBetween(ctx context.Context, t task, b topology.Binding) (seen []rabbithole.BindingInfo, err error) {
	err = s.management.call(ctx, t, func(c *rabbithole.Client) (err error) {
		list := c.ListQueueBindingsBetween
		if b.DestinationKind == topology.KindExchange {
			list = c.ListExchangeBindingsBetween
		}
		seen, err = list(s.vhost(), b.Source, b.Destination)
		return err
	})
	if ClassOf(err) == NotFound {
		// No exchange or no queue, and so no binding.
		return nil, nil
	}
	return seen, err
}
