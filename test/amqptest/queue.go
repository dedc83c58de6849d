package amqptest

import (
	"fmt"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
)

// Ready asks a queue how many messages it could deliver now: neither those
// that a consumer holds nor dead letters that found no way out.
func Ready(connection *amqp.Connection, queue string) (int, error) {
	channel, err := connection.Channel()
	if err != nil {
		return 0, err
	}
	defer channel.Close()
	state, err := channel.QueueDeclarePassive(queue, true, false, false, false, nil)
	return state.Messages, err
}

// AwaitReady waits until a queue could deliver exactly n messages.
func AwaitReady(t testing.TB, connection *amqp.Connection, queue string, n int) {
	t.Helper()
	Eventually(t, Deadline, func() error {
		ready, err := Ready(connection, queue)
		if err == nil && ready != n {
			err = fmt.Errorf("queue %q has %d messages ready, want %d", queue, ready, n)
		}
		return err
	})
}

// Take takes the next n messages out of a queue, waiting for them where it has
// to, and no more than n.
func Take(t testing.TB, connection *amqp.Connection, queue string, n int) []Delivery {
	t.Helper()
	var taken []Delivery
	Eventually(t, Deadline, func() error {
		more, err := takeReady(connection, queue, n-len(taken))
		taken = append(taken, more...)
		if err == nil && len(taken) < n {
			err = fmt.Errorf("queue %q gave %d messages, want %d%s", queue, len(taken), n, lines(taken))
		}
		return err
	})
	return taken
}

// takeReady takes up to n messages, those that are there. The broker removes
// each as it sends it: there is no ack that could be lost.
func takeReady(connection *amqp.Connection, queue string, n int) ([]Delivery, error) {
	channel, err := connection.Channel()
	if err != nil {
		return nil, err
	}
	defer channel.Close()
	var taken []Delivery
	for range n {
		message, ok, err := channel.Get(queue, true)
		if err != nil || !ok {
			return taken, err
		}
		taken = append(taken, Delivery{Delivery: message, Nth: 1, At: time.Now(), Verb: Ack})
	}
	return taken, nil
}
