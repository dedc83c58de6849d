package main

import (
	"context"
	"fmt"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
	"golang.org/x/sync/errgroup"

	"github.com/warren-mq/warren/api/v1alpha1"
	"github.com/warren-mq/warren/internal/topology"
)

// loopChannels is how many channels the loop declares over: as many as Warren has.
const loopChannels = 16

// loop declares a workload's objects as fast as the broker takes them, without
// Kubernetes and without reading back: the measure that all else is set beside.
func loop(connection *amqp.Connection, w workload) (time.Duration, error) {
	lists, err := objectLists(w)
	if err != nil {
		return 0, err
	}
	channels, err := openChannels(connection)
	if err != nil {
		return 0, err
	}
	begun := time.Now()
	if err := channels[0].ExchangeDeclare(topicName, string(v1alpha1.ExchangeTopic), true, false, false, false, nil); err != nil {
		return 0, err
	}
	group, ctx := errgroup.WithContext(context.Background())
	for _, channel := range channels {
		group.Go(func() error { return declareAll(ctx, channel, lists) })
	}
	err = group.Wait()
	return time.Since(begun), err
}

// objectLists has the objects of each subscription.
func objectLists(w workload) (<-chan []topology.Object, error) {
	lists := make(chan []topology.Object, w.count)
	defer close(lists)
	for i := range w.count {
		objects, err := w.objects(i)
		if err != nil {
			return nil, err
		}
		lists <- objects
	}
	return lists, nil
}

func openChannels(connection *amqp.Connection) ([]*amqp.Channel, error) {
	var channels []*amqp.Channel
	for range loopChannels {
		channel, err := connection.Channel()
		if err != nil {
			return nil, err
		}
		channels = append(channels, channel)
	}
	return channels, nil
}

func declareAll(ctx context.Context, channel *amqp.Channel, lists <-chan []topology.Object) error {
	for objects := range lists {
		for _, o := range objects {
			if err := declare(channel, o); err != nil {
				return fmt.Errorf("%s: %w", o, err)
			}
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

func declare(c *amqp.Channel, object topology.Object) error {
	switch o := object.(type) {
	case topology.Exchange:
		return c.ExchangeDeclare(o.Name, o.Type, true, false, false, false, amqp.Table(o.Arguments))
	case topology.Queue:
		_, err := c.QueueDeclare(o.Name, true, false, false, false, amqp.Table(o.Arguments))
		return err
	case topology.Binding:
		if o.DestinationKind == topology.KindExchange {
			return c.ExchangeBind(o.Destination, o.RoutingKey, o.Source, false, amqp.Table(o.Arguments))
		}
		return c.QueueBind(o.Destination, o.RoutingKey, o.Source, false, amqp.Table(o.Arguments))
	}
	return fmt.Errorf("%T is not declared over AMQP", object)
}
