package broker

import (
	"context"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
)

const (
	leavePatience = 2 * time.Second
	leaveStep     = 20 * time.Millisecond
)

// leave gives back what is held, in its order: closing right after acks would
// give back much of what was acknowledged, too.
func (p *pass) leave(ctx context.Context, end MoveEnd) error {
	if p.channel.IsClosed() {
		return nil
	}
	if !p.cancelled {
		if err := p.quiesce(ctx); err != nil {
			return err
		}
		if err := p.cancel(ctx); err != nil {
			return err
		}
	} else if _, err := p.state(ctx); err != nil { // an answer after the last ack
		return err
	}
	if err := p.call(ctx, p.channel.Close); err != nil || end != passOver {
		return err
	}
	return p.awaitReturn(ctx, p.ready-p.acked)
}

func (p *pass) cancel(ctx context.Context) error {
	p.cancelled = true
	return p.call(ctx, func() error { return p.channel.Cancel(consumerTag, false) })
}

// awaitReturn waits for a moment until what was held is in the queue again: a
// consumer that comes before it would be given what is behind.
func (m *mover) awaitReturn(ctx context.Context, ready int64) error {
	for begin := time.Now(); time.Since(begin) < leavePatience; time.Sleep(leaveStep) {
		count, err := m.session.Count(context.WithoutCancel(ctx), m.move.Queue)
		if err != nil || count.Ready >= ready {
			return err
		}
	}
	return nil
}

// quiesce waits until all deliveries are here that the queue has made: those
// that a cancel overtakes are put behind all others. There can be no more of
// them when the prefetch is used up, or when nothing is ready and none has come
// for a while. Where something is kept, the prefetch holds the whole queue: what
// is given back comes behind whatever else was given back before.
func (p *pass) quiesce(ctx context.Context) error {
	held := p.looked - p.acked
	for begin := time.Now(); held < p.prefetch && time.Since(begin) < leavePatience; {
		state, err := p.state(ctx)
		if err != nil {
			return err
		}
		more := p.receive(p.prefetch - held)
		held += more
		if state.Messages == 0 && more == 0 {
			return nil
		}
	}
	return nil
}

// receive counts deliveries until there are n, or none comes for a while.
func (p *pass) receive(n int64) int64 {
	quiet := time.NewTimer(leaveStep)
	defer quiet.Stop()
	for i := range n {
		select {
		case _, open := <-p.deliveries:
			if !open {
				return i
			}
		case <-quiet.C:
			return i
		}
	}
	return n
}

func (p *pass) state(ctx context.Context) (state amqp.Queue, err error) {
	err = p.call(ctx, func() (err error) {
		state, err = p.channel.QueueDeclarePassive(p.move.Queue, true, false, false, false, nil)
		return err
	})
	return state, err
}
