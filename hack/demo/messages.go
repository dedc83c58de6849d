package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
)

const (
	exchange     = "orders"
	routingKey   = "order.placed"
	workQueue    = "orders.billing"
	parkingQueue = "orders.billing.parking"
	orders       = 10
	poison       = "order-7"
	patience     = time.Minute
)

// showMessages publishes orders and consumes them, and follows the one that
// fails until it is parked.
func (d demo) showMessages(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	conn, err := amqp.DialConfig(d.broker.AMQPURL(), amqp.Config{
		Vhost: "/", SASL: []amqp.Authentication{&amqp.PlainAuth{Username: sampleUser, Password: samplePassword}},
	})
	if err != nil {
		return err
	}
	defer conn.Close()
	parked, err := parkedCount(conn)
	if err != nil {
		return err
	}
	consumer, err := startConsumer(conn, d.screen)
	if err != nil {
		return err
	}
	if err := d.publish(ctx, conn); err != nil {
		return err
	}
	if err := consumer.awaitParking(ctx, conn, parked); err != nil {
		return err
	}
	return consumer.stop(ctx)
}

// publish sends the orders with confirms, mandatory: nobody calls a message
// sent before the broker has said that a queue has it.
func (d demo) publish(ctx context.Context, conn *amqp.Connection) error {
	ch, err := conn.Channel()
	if err != nil {
		return err
	}
	if err := ch.Confirm(false); err != nil {
		return err
	}
	for i := 1; i <= orders; i++ {
		confirm, err := ch.PublishWithDeferredConfirmWithContext(ctx, exchange, routingKey, true, false, amqp.Publishing{
			MessageId: fmt.Sprintf("order-%d", i), DeliveryMode: amqp.Persistent, Body: []byte("{}"),
		})
		if err != nil {
			return err
		}
		if ok, err := confirm.WaitContext(ctx); err != nil || !ok {
			return errors.Join(err, errors.New("the broker did not take an order"))
		}
	}
	return nil
}

// consumer acks what it can do and rejects what it cannot. It counts nothing.
type consumer struct {
	ch     *amqp.Channel
	screen screen
	tag    string
	done   chan error
}

func startConsumer(conn *amqp.Connection, s screen) (*consumer, error) {
	ch, err := conn.Channel()
	if err != nil {
		return nil, err
	}
	c := &consumer{ch: ch, screen: s, tag: "demo", done: make(chan error, 1)}
	deliveries, err := ch.Consume(workQueue, c.tag, false, false, false, false, nil)
	if err != nil {
		return nil, err
	}
	go func() { c.done <- c.work(deliveries) }()
	return c, nil
}

func (c *consumer) work(deliveries <-chan amqp.Delivery) error {
	var first time.Time
	failures := 0
	for msg := range deliveries {
		if first.IsZero() {
			first = time.Now()
		}
		at := time.Since(first).Seconds()
		if msg.MessageId != poison {
			c.screen.line(green, "%5.1fs  %-8s done", at, msg.MessageId)
			if err := msg.Ack(false); err != nil {
				return err
			}
			continue
		}
		failures++
		c.screen.line(red, "%5.1fs  %-8s failed, delivery %d (key %s): rejected", at, msg.MessageId, failures, msg.RoutingKey)
		if err := msg.Reject(false); err != nil {
			return err
		}
	}
	return nil
}

// awaitParking polls the parking queue, over a channel of its own.
func (c *consumer) awaitParking(ctx context.Context, conn *amqp.Connection, before int) error {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s was not parked: %w", poison, ctx.Err())
		case err := <-c.done:
			return errors.Join(err, errors.New("the consumer ended"))
		case <-tick.C:
		}
		parked, err := parkedCount(conn)
		if err != nil {
			return err
		}
		if parked > before {
			c.screen.line(yellow, "       %-8s parked in %s", poison, parkingQueue)
			return nil
		}
	}
}

func parkedCount(conn *amqp.Connection) (int, error) {
	ch, err := conn.Channel()
	if err != nil {
		return 0, err
	}
	defer ch.Close()
	queue, err := ch.QueueDeclarePassive(parkingQueue, true, false, false, false, nil)
	return queue.Messages, err
}

// stop ends as a consumer should: cancel, await its end, then close.
func (c *consumer) stop(ctx context.Context) error {
	if err := c.ch.Cancel(c.tag, false); err != nil {
		return err
	}
	select {
	case err := <-c.done:
		return errors.Join(err, c.ch.Close())
	case <-ctx.Done():
		return ctx.Err()
	}
}
