package amqptest

import (
	"context"
	"errors"
	"fmt"
	"testing"

	amqp "github.com/rabbitmq/amqp091-go"
)

// What Send returns, wrapped, when the broker did not take a message.
var (
	// ErrReturned means that no queue was bound for the message.
	ErrReturned = errors.New("returned as unroutable")
	// ErrNacked means that a queue refused the message.
	ErrNacked = errors.New("nacked")
)

// Message is a persistent message with an id, which is its body, too.
func Message(id string) amqp.Publishing {
	return amqp.Publishing{MessageId: id, Body: []byte(id), DeliveryMode: amqp.Persistent}
}

// Messages are n messages with the ids prefix-1 to prefix-n.
func Messages(prefix string, n int) []amqp.Publishing {
	messages := make([]amqp.Publishing, n)
	for i := range messages {
		messages[i] = Message(fmt.Sprintf("%s-%d", prefix, i+1))
	}
	return messages
}

// Publish sends messages and ends the test when the broker does not take all
// of them.
func Publish(t testing.TB, connection *amqp.Connection, exchange, key string, messages ...amqp.Publishing) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), Deadline)
	defer cancel()
	if err := Send(ctx, connection, exchange, key, messages...); err != nil {
		t.Fatal(err)
	}
}

// Send publishes messages in their order, mandatory, on a channel of their
// own, and returns when the broker has confirmed them all or refused one.
func Send(ctx context.Context, connection *amqp.Connection, exchange, key string, messages ...amqp.Publishing) error {
	p, err := newPublisher(connection, len(messages))
	if err != nil {
		return fmt.Errorf("opening a channel to publish: %w", err)
	}
	defer p.channel.Close()
	if err := p.send(ctx, exchange, key, messages); err != nil {
		return fmt.Errorf("publishing to exchange %q with key %q: %w", exchange, key, err)
	}
	return nil
}

// publisher is a channel in confirm mode with the places where the broker's
// objections arrive.
type publisher struct {
	channel *amqp.Channel
	returns chan amqp.Return
	closed  chan *amqp.Error
}

// newPublisher makes room for as many returns as there are messages: the
// client library stands still while nobody reads one.
func newPublisher(connection *amqp.Connection, messages int) (*publisher, error) {
	channel, err := connection.Channel()
	if err != nil {
		return nil, err
	}
	return &publisher{
		channel: channel,
		returns: channel.NotifyReturn(make(chan amqp.Return, messages)),
		closed:  channel.NotifyClose(make(chan *amqp.Error, 1)),
	}, channel.Confirm(false)
}

func (p *publisher) send(ctx context.Context, exchange, key string, messages []amqp.Publishing) error {
	confirmations := make([]*amqp.DeferredConfirmation, len(messages))
	for i, message := range messages {
		var err error
		confirmations[i], err = p.channel.PublishWithDeferredConfirmWithContext(ctx, exchange, key, true, false, message)
		if err != nil {
			return err
		}
	}
	for i, confirmation := range confirmations {
		acked, err := confirmation.WaitContext(ctx)
		if err != nil {
			return fmt.Errorf("no confirm for message %q: %w", messages[i].MessageId, err)
		}
		if !acked {
			return p.refusal(messages[i].MessageId)
		}
	}
	return p.returned()
}

// refusal tells a nack from the end of the channel, which the client library
// reports as a nack of all that was under way.
func (p *publisher) refusal(id string) error {
	if !p.channel.IsClosed() {
		return fmt.Errorf("message %q: %w", id, ErrNacked)
	}
	if reason := <-p.closed; reason != nil {
		return fmt.Errorf("message %q: %w", id, reason)
	}
	return fmt.Errorf("message %q: %w", id, amqp.ErrClosed)
}

// returned reports the first message that came back. The broker sends a return
// before the confirm of the same message.
func (p *publisher) returned() error {
	select {
	case message := <-p.returns:
		return fmt.Errorf("message %q: %w", message.MessageId, ErrReturned)
	default:
		return nil
	}
}
