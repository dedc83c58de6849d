package amqptest

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
)

// Consumer consumes a queue, answers every delivery and remembers it. Where its
// channel ends, by a crash of its own or by the broker's doing, it goes on with
// a new one for as long as its connection lives.
type Consumer struct {
	connection *amqp.Connection
	queue      string
	answer     Answer
	prefetch   int

	stopOnce sync.Once
	stop     chan struct{} // closed when it shall end
	done     chan struct{} // closed when it has ended

	// These are run's alone, once it runs.
	session *session
	times   map[string]int // how often a message has come, by id

	mutex    sync.Mutex // for what follows
	received []Delivery
	err      error // why it ended, other than by Stop
}

// Option changes a consumer from the usual.
type Option func(*Consumer)

// Prefetch lets the consumer hold n unanswered messages. Without it, it is 1:
// a crash then touches one message only.
func Prefetch(n int) Option { return func(c *Consumer) { c.prefetch = n } }

// Consume starts a consumer, which stops with the test if not before.
func Consume(t testing.TB, connection *amqp.Connection, queue string, answer Answer, options ...Option) *Consumer {
	t.Helper()
	c := &Consumer{
		connection: connection,
		queue:      queue,
		answer:     answer,
		prefetch:   1,
		times:      map[string]int{},
		stop:       make(chan struct{}),
		done:       make(chan struct{}),
	}
	for _, option := range options {
		option(c)
	}
	if err := c.open(); err != nil {
		t.Fatalf("consuming from queue %q: %v", queue, err)
	}
	go c.run()
	t.Cleanup(c.Stop)
	return c
}

// Stop cancels the consumer, waits for the broker's cancel-ok and then closes
// its channel. Acks just before a close without a cancel may be lost.
func (c *Consumer) Stop() {
	c.stopOnce.Do(func() { close(c.stop) })
	<-c.done
}

// Deliveries returns what the consumer has got so far.
func (c *Consumer) Deliveries() []Delivery {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return slices.Clone(c.received)
}

// DeliveriesOf returns what the consumer has got so far of the message with an id.
func (c *Consumer) DeliveriesOf(id string) []Delivery {
	return slices.DeleteFunc(c.Deliveries(), func(d Delivery) bool { return d.MessageId != id })
}

// Await waits until the consumer has got n deliveries, and returns all that it
// has got then.
func (c *Consumer) Await(t testing.TB, n int) []Delivery {
	t.Helper()
	return c.await(t, n, c.Deliveries)
}

// AwaitMessage waits until the consumer has got the message with an id n times,
// and returns those deliveries.
func (c *Consumer) AwaitMessage(t testing.TB, id string, n int) []Delivery {
	t.Helper()
	return c.await(t, n, func() []Delivery { return c.DeliveriesOf(id) })
}

func (c *Consumer) await(t testing.TB, n int, deliveries func() []Delivery) []Delivery {
	t.Helper()
	var got []Delivery
	Eventually(t, Deadline, func() error {
		if got = deliveries(); len(got) >= n {
			return nil
		}
		if err := c.failure(); err != nil {
			t.Fatalf("consuming from queue %q ended: %v%s", c.queue, err, lines(got))
		}
		return fmt.Errorf("queue %q made %d deliveries, want %d%s", c.queue, len(got), n, lines(got))
	})
	return got
}

func lines(deliveries []Delivery) string {
	var text strings.Builder
	for _, d := range deliveries {
		fmt.Fprintf(&text, "\n\t%s", d)
	}
	return text.String()
}

// session is the consumer's life on one channel.
type session struct {
	channel    *amqp.Channel
	deliveries <-chan amqp.Delivery
}

// consumerTag needs to be unique on a channel only.
const consumerTag = "amqptest"

// open begins a session.
func (c *Consumer) open() error {
	channel, err := c.connection.Channel()
	if err != nil {
		return err
	}
	if err := channel.Qos(c.prefetch, 0, false); err != nil {
		return err
	}
	deliveries, err := channel.Consume(c.queue, consumerTag, false, false, false, false, nil)
	c.session = &session{channel: channel, deliveries: deliveries}
	return err
}

// reopen gives up the session, with all that is unanswered, for a new one.
func (c *Consumer) reopen() error {
	_ = c.session.channel.Close() // the broker may have closed it
	return c.open()
}

// leave has nothing to report: the connection may be gone already.
func (s *session) leave() {
	if s.channel.Cancel(consumerTag, false) == nil {
		_ = s.channel.Close()
	}
}

func (c *Consumer) run() {
	defer close(c.done)
	for {
		select {
		case <-c.stop:
			c.session.leave()
			return
		case delivery, open := <-c.session.deliveries:
			if open && c.settle(c.record(delivery)) != Crash {
				continue
			}
			if err := c.reopen(); err != nil {
				c.fail(err)
				return
			}
		}
	}
}

// record chooses the verb, too, so that whoever sees a delivery sees how it is
// answered.
func (c *Consumer) record(delivery amqp.Delivery) Delivery {
	c.times[delivery.MessageId]++
	d := Delivery{Delivery: delivery, Nth: c.times[delivery.MessageId], At: time.Now()}
	d.Verb = c.answer(d)
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.received = append(c.received, d)
	return d
}

// settle does not look at errors: there is one only if the channel has ended,
// and then the deliveries end, too.
func (c *Consumer) settle(d Delivery) Verb {
	switch d.Verb {
	case Ack:
		_ = d.Ack(false)
	case Reject, RejectRequeue:
		_ = d.Reject(d.Verb == RejectRequeue)
	case Nack, NackRequeue:
		_ = d.Nack(false, d.Verb == NackRequeue)
	}
	return d.Verb
}

func (c *Consumer) fail(err error) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.err = err
}

func (c *Consumer) failure() error {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return c.err
}
