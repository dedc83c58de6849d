package facts

import (
	"errors"
	"fmt"
	"maps"
	"testing"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/warren-mq/warren/hack/localenv"
	"github.com/warren-mq/warren/test/amqptest"
)

// lab is a vhost for one test, with an application's connection to it.
type lab struct {
	*localenv.Vhost
	connection *amqp.Connection
}

// onEachBroker tests a fact on all brokers at the same time.
func onEachBroker(t *testing.T, test func(t *testing.T, l *lab)) {
	t.Helper()
	t.Parallel()
	localenv.ForEachBroker(t, func(t *testing.T, broker *localenv.RabbitMQ) {
		t.Parallel()
		test(t, newLab(t, broker))
	})
}

func newLab(t *testing.T, broker *localenv.RabbitMQ) *lab {
	t.Helper()
	vhost := broker.NewVhost(t)
	return &lab{Vhost: vhost, connection: vhost.Dial(t, vhost.App)}
}

// run tests one side of a fact in a vhost of its own, beside the others.
func (l *lab) run(t *testing.T, name string, test func(t *testing.T, l *lab)) {
	t.Helper()
	t.Run(name, func(t *testing.T) {
		t.Parallel()
		test(t, newLab(t, l.Broker))
	})
}

// since43 tells the two behaviours apart where the versions differ.
func (l *lab) since43(t *testing.T) bool {
	t.Helper()
	var major, minor int
	if _, err := fmt.Sscanf(l.Broker.Version, "%d.%d", &major, &minor); err != nil {
		t.Fatalf("broker version %q: %v", l.Broker.Version, err)
	}
	return major > 4 || major == 4 && minor >= 3
}

// do runs f on a channel of its own: an error that closes it ends nothing else.
func (l *lab) do(f func(*amqp.Channel) error) error {
	channel, err := l.connection.Channel()
	if err != nil {
		return err
	}
	defer channel.Close()
	return f(channel)
}

func (l *lab) must(t *testing.T, what string, f func(*amqp.Channel) error) {
	t.Helper()
	if err := l.do(f); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

// declareQueue declares a queue with the arguments of all tables, a quorum queue
// unless they say otherwise.
func (l *lab) declareQueue(name string, arguments ...amqp.Table) error {
	table := merged(quorum(), merged(arguments...))
	return l.do(func(channel *amqp.Channel) error {
		_, err := channel.QueueDeclare(name, true, false, false, false, table)
		return err
	})
}

func (l *lab) queue(t *testing.T, name string, arguments ...amqp.Table) {
	t.Helper()
	if err := l.declareQueue(name, arguments...); err != nil {
		t.Fatalf("declaring queue %q with %v: %v", name, merged(arguments...), err)
	}
}

func (l *lab) declareExchange(name, kind string, arguments ...amqp.Table) error {
	return l.do(func(channel *amqp.Channel) error {
		return channel.ExchangeDeclare(name, kind, true, false, false, false, merged(arguments...))
	})
}

func (l *lab) exchange(t *testing.T, name, kind string, arguments ...amqp.Table) {
	t.Helper()
	if err := l.declareExchange(name, kind, arguments...); err != nil {
		t.Fatalf("declaring exchange %q with %v: %v", name, merged(arguments...), err)
	}
}

// bind binds a queue to an exchange.
func (l *lab) bind(t *testing.T, queue, exchange, key string, arguments ...amqp.Table) {
	t.Helper()
	l.must(t, fmt.Sprintf("binding queue %q to exchange %q", queue, exchange), func(channel *amqp.Channel) error {
		return channel.QueueBind(queue, key, exchange, false, merged(arguments...))
	})
}

// link binds an exchange to another one.
func (l *lab) link(t *testing.T, destination, source string, arguments ...amqp.Table) {
	t.Helper()
	l.must(t, fmt.Sprintf("binding exchange %q to exchange %q", destination, source), func(channel *amqp.Channel) error {
		return channel.ExchangeBind(destination, "", source, false, merged(arguments...))
	})
}

func (l *lab) publish(t *testing.T, exchange, key string, messages ...amqp.Publishing) {
	t.Helper()
	amqptest.Publish(t, l.connection, exchange, key, messages...)
}

func (l *lab) consume(t *testing.T, queue string, answer amqptest.Answer) *amqptest.Consumer {
	t.Helper()
	return amqptest.Consume(t, l.connection, queue, answer)
}

// take takes the next message out of a queue.
func (l *lab) take(t *testing.T, queue string) amqptest.Delivery {
	t.Helper()
	return amqptest.Take(t, l.connection, queue, 1)[0]
}

// rejectOne makes the only message of a queue die of reason rejected.
func (l *lab) rejectOne(t *testing.T, queue string) {
	t.Helper()
	consumer := l.consume(t, queue, amqptest.InTurn(amqptest.Reject))
	defer consumer.Stop()
	consumer.Await(t, 1)
}

func (l *lab) awaitReady(t *testing.T, queue string, n int) {
	t.Helper()
	amqptest.AwaitReady(t, l.connection, queue, n)
}

// expectParked takes the next message from parking and checks how it died.
func (l *lab) expectParked(t *testing.T, want amqptest.Death) amqptest.Delivery {
	t.Helper()
	parked := l.take(t, "parking")
	if got := parked.LastDeath(); got != want {
		t.Errorf("parked message died by %+v, want %+v", got, want)
	}
	return parked
}

func expectDeliveries(t *testing.T, consumer *amqptest.Consumer, id string, want int) {
	t.Helper()
	if got := len(consumer.DeliveriesOf(id)); got != want {
		t.Errorf("message %q was delivered %d times, want %d", id, got, want)
	}
}

// expectCode checks that an error is the broker's, with a certain reply code.
func expectCode(t *testing.T, err error, code int) {
	t.Helper()
	var reply *amqp.Error
	if !errors.As(err, &reply) || reply == nil || reply.Code != code {
		t.Errorf("got error %v, want code %d", err, code)
	}
}

// merged is one table made of several.
func merged(tables ...amqp.Table) amqp.Table {
	all := amqp.Table{}
	for _, table := range tables {
		maps.Copy(all, table)
	}
	return all
}

func quorum() amqp.Table { return amqp.Table{amqp.QueueTypeArg: amqp.QueueTypeQuorum} }

func classic() amqp.Table { return amqp.Table{amqp.QueueTypeArg: amqp.QueueTypeClassic} }

// deadLetters are the arguments of a queue whose dead letters go to an
// exchange with their own routing keys, at least once.
func deadLetters(exchange string) amqp.Table {
	return amqp.Table{
		"x-dead-letter-exchange": exchange,
		"x-dead-letter-strategy": "at-least-once",
		amqp.QueueOverflowArg:    "reject-publish",
	}
}

// deadLettersTo are the arguments of a queue whose dead letters go to one
// other queue, at least once.
func deadLettersTo(queue string) amqp.Table {
	return merged(deadLetters(""), amqp.Table{"x-dead-letter-routing-key": queue})
}

func atMostOnce() amqp.Table { return amqp.Table{"x-dead-letter-strategy": "at-most-once"} }

func deliveryLimit(n int) amqp.Table { return amqp.Table{"x-delivery-limit": n} }

func ttl(milliseconds int) amqp.Table { return amqp.Table{amqp.QueueMessageTTLArg: milliseconds} }
