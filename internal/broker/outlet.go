package broker

import (
	"context"
	"fmt"
	"math"
	"sync/atomic"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
)

// outlet publishes on a connection of its own, with confirms and mandatory.
type outlet struct {
	link     *link
	channel  *amqp.Channel
	exchange string
	// published counts, as RabbitMQ does in its confirms.
	published uint64

	// Both have room for all that is under way: the library stands still
	// while nobody takes what it has got. A return comes before the confirm
	// of the same message.
	confirms chan amqp.Confirmation
	returns  chan amqp.Return
	closed   chan *amqp.Error

	blocked atomic.Bool
	// wake says that blocked has changed.
	wake chan struct{}
}

func (m *mover) openOutlet(ctx context.Context) (*outlet, error) {
	l, err := m.session.dial(ctx, dialOptions{name: "warren moves: publishing"})
	if err != nil {
		return nil, err
	}
	o := &outlet{link: l, exchange: m.move.Exchange, wake: make(chan struct{}, 1)}
	go o.watch(l.connection.NotifyBlocked(make(chan amqp.Blocking, 1)), m.progress)
	err = m.link(ctx, l, func() (err error) {
		if o.channel, err = l.connection.Channel(); err != nil {
			return err
		}
		o.confirms = o.channel.NotifyPublish(make(chan amqp.Confirmation, 2*maxUnderWay))
		o.returns = o.channel.NotifyReturn(make(chan amqp.Return, 2*maxUnderWay))
		o.closed = o.channel.NotifyClose(make(chan *amqp.Error, 1))
		return o.channel.Confirm(false)
	})
	if err != nil {
		l.close()
		return nil, err
	}
	return o, nil
}

// link makes one call on another connection than the one that reads.
func (m *mover) link(ctx context.Context, l *link, call func() error) error {
	if err := l.await(ctx, m.session.options.RequestTimeout, call); err != nil {
		return m.wrap(l.callError(err))
	}
	return nil
}

// watch ends with the connection. It does not wait for who publishes: that may
// hang in a write, which is how RabbitMQ blocks.
func (o *outlet) watch(blockings <-chan amqp.Blocking, progress *MoveProgress) {
	for b := range blockings {
		o.blocked.Store(b.Active)
		reason := ""
		if b.Active {
			reason = b.Reason
		}
		progress.blocked.Store(&reason)
		select {
		case o.wake <- struct{}{}:
		default:
		}
	}
	progress.blocked.Store(nil)
}

func (o *outlet) maxFrame() int {
	if n := o.link.connection.Config.FrameSize; n > 0 {
		return n
	}
	return math.MaxInt
}

// publish tells the number of the message in the confirms.
func (o *outlet) publish(key string, message amqp.Publishing) (uint64, error) {
	err := o.channel.PublishWithContext(context.Background(), o.exchange, key, true, false, message)
	if err != nil {
		return 0, o.lost(err)
	}
	o.published++
	return o.published, nil
}

// lost says why the channel ended. An exchange that does not exist routes as
// little as one without bindings; whatever else RabbitMQ closes the channel for
// is about the message.
func (o *outlet) lost(err error) *Error {
	if reason := closeReason(o.channel, o.closed); reason != nil {
		err = reason
	}
	e := o.link.callError(err)
	switch e.Class {
	case NotFound:
		e.Class, e.Problem = Unroutable, fmt.Sprintf("exchange %q is not there", o.exchange)
	case Precondition:
		e.Class, e.Problem = Refused, "RabbitMQ refuses a message"
	}
	return e
}

// closeReason is why a channel is closed, nil where it is open or was closed
// without one. The library fails what is called on a channel a moment before it
// tells the reason.
func closeReason(channel *amqp.Channel, closed <-chan *amqp.Error) *amqp.Error {
	if !channel.IsClosed() {
		return nil
	}
	const patience = 2 * time.Second
	select {
	case reason := <-closed:
		return reason
	case <-time.After(patience):
		return nil
	}
}

func (o *outlet) returned(r amqp.Return) *Error {
	return &Error{
		Class: Unroutable, Target: o.link.peer.address, Reason: o.link.peer.config.quote(r.ReplyText),
		Problem: fmt.Sprintf("a message came back from exchange %q, which no queue is bound to", o.exchange),
	}
}

func (o *outlet) nacked() *Error {
	return &Error{
		Class: Nacked, Target: o.link.peer.address,
		Problem: fmt.Sprintf("the queue behind exchange %q does not take a message", o.exchange),
		Advice:  "look for a length limit that is reached, and for members that are down",
	}
}

func (o *outlet) unconfirmed() *Error {
	return &Error{
		Class: Unconfirmed, Target: o.link.peer.address,
		Problem: fmt.Sprintf("the queue behind exchange %q did not confirm a message in time", o.exchange),
		Advice:  "check that a majority of its members runs; what is in doubt stays, and may arrive twice",
	}
}

func (o *outlet) close() { o.link.close() }
