package broker

import (
	"context"
	"errors"

	amqp "github.com/rabbitmq/amqp091-go"
	"golang.org/x/sync/errgroup"

	"github.com/warren-mq/warren/internal/topology"
)

// freshen asks the chosen queues themselves for Ready and Consumers, over as
// many channels as there are.
func (s *Session) freshen(ctx context.Context, snapshot *topology.Snapshot, chosen func(topology.SeenQueue) bool) error {
	var queues []topology.SeenQueue
	for _, q := range snapshot.Queues {
		if chosen != nil && chosen(q) && answers(q) {
			queues = append(queues, q)
		}
	}
	group, ctx := errgroup.WithContext(ctx)
	share := (len(queues) + maxChannels - 1) / maxChannels
	for begin := 0; begin < len(queues); begin += share {
		part := queues[begin:min(begin+share, len(queues))]
		group.Go(func() error { return s.askAll(ctx, part) })
	}
	if err := group.Wait(); err != nil {
		return err
	}
	for _, q := range queues {
		snapshot.Queues[q.Name] = q
	}
	return nil
}

// answers tells whether asking makes sense: a queue without a leader lets one
// wait, and somebody's exclusive queue is locked.
func answers(q topology.SeenQueue) bool {
	return !q.Exclusive && (q.State == "" || q.State == "running")
}

func (s *Session) askAll(ctx context.Context, queues []topology.SeenQueue) error {
	for len(queues) > 0 {
		err := s.onChannel(ctx, func(do *doer) error {
			for len(queues) > 0 {
				err := do.ask(ctx, &queues[0])
				queues = queues[1:]
				if err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil && !isChannelException(err) {
			return err
		}
	}
	return nil
}

// ask sets the two counters, to unknown where the queue does not answer. A
// 404 does not prove it gone: a queue whose node is down gives one as well.
//
// A queue whose leader does not answer RabbitMQ within a quarter of a second
// is said to have no messages and no consumers. So that answer is not believed
// against statistics that say otherwise, late as they are.
func (d *doer) ask(ctx context.Context, q *topology.SeenQueue) error {
	late := *q
	q.Ready, q.Consumers, q.Messages = nil, nil, nil
	t := task{op: "inspect", kind: string(topology.KindQueue), object: topology.Queue{Name: q.Name}.String()}
	return d.call(ctx, t, func(c *amqp.Channel) error {
		answer, err := c.QueueDeclarePassive(q.Name, true, false, false, false, nil)
		if err != nil {
			return err
		}
		ready, consumers := int64(answer.Messages), int64(answer.Consumers)
		if ready == 0 && consumers == 0 && (positive(late.Ready) || positive(late.Consumers)) {
			*q = late
			return nil
		}
		q.Ready, q.Consumers = &ready, &consumers
		q.Messages = sum(q.Ready, q.Unacknowledged, q.DeadLettering, q.Delayed)
		return nil
	})
}

// sum is unknown if a part of it is.
func sum(parts ...*int64) *int64 {
	total := int64(0)
	for _, p := range parts {
		if p == nil {
			return nil
		}
		total += *p
	}
	return &total
}

// isChannelException tells a refusal that concerns one queue from a broken connection.
func isChannelException(err error) bool {
	var said *amqp.Error
	return errors.As(err, &said) && said.Server && said.Recover
}
