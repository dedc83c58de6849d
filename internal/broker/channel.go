package broker

import (
	"context"

	amqp "github.com/rabbitmq/amqp091-go"
)

// doer makes calls on a channel that it has for itself.
type doer struct {
	link    *link
	channel *amqp.Channel
	options Options
}

// onChannel lends a channel of the pool to use.
func (s *Session) onChannel(ctx context.Context, use func(*doer) error) error {
	l, err := s.connect(ctx)
	if err != nil {
		return err
	}
	channel, err := l.take(ctx, s.options.RequestTimeout)
	if err != nil {
		return task{op: "open a channel"}.wrap(l.callError(err))
	}
	defer l.giveBack(channel)
	return use(&doer{link: l, channel: channel, options: s.options})
}

// call makes one call and waits for its answer.
func (d *doer) call(ctx context.Context, t task, call func(*amqp.Channel) error) error {
	return d.options.measured(t, func() error {
		err := d.link.await(ctx, d.options.RequestTimeout, func() error { return call(d.channel) })
		if err != nil {
			return t.wrap(d.link.callError(err))
		}
		return nil
	})
}
