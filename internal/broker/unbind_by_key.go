package broker

import (
	"context"

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
	return s.management.call(ctx, t, func(c *rabbithole.Client) error {
		between := c.ListQueueBindingsBetween
		if b.DestinationKind == topology.KindExchange {
			between = c.ListExchangeBindingsBetween
		}
		seen, err := between(s.vhost(), b.Source, b.Destination)
		if err != nil {
			return err
		}
		for _, info := range seen {
			if info.RoutingKey != b.RoutingKey || !topology.EqualArguments(arguments(info.Arguments), b.Arguments) {
				continue
			}
			if _, err := c.DeleteBinding(s.vhost(), info); err != nil {
				return err
			}
		}
		return nil
	})
}
