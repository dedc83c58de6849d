package broker

import (
	"context"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
)

// confirmed settles what has been confirmed so far, in one go: acknowledging
// many at once is what makes a move fast.
func (p *pass) confirmed(c amqp.Confirmation, open bool) error {
	var taken []uint64
	for more := true; more; {
		if !open {
			return p.wrap(p.outlet.lost(amqp.ErrClosed))
		}
		p.noteReturns()
		if f, ok := p.land(c.DeliveryTag); ok && p.arrived(f, c) {
			taken = append(taken, f.delivery)
		}
		select {
		case c, open = <-p.outlet.confirms:
		default:
			more = false
		}
	}
	p.lastAnswer = time.Now()
	return p.acknowledge(taken)
}

// land takes the oldest off what is under way: the library puts the confirms
// in order. What an earlier pass has given up may be confirmed late.
func (p *pass) land(number uint64) (flight, bool) {
	if len(p.underWay) == 0 || p.underWay[0].number != number {
		return flight{}, false
	}
	f := p.underWay[0]
	p.underWay = p.underWay[1:]
	return f, true
}

// arrived tells whether a message is in a queue. One that was returned has a
// delivery of 0 by now.
func (p *pass) arrived(f flight, c amqp.Confirmation) bool {
	switch {
	case f.delivery == 0:
	case !c.Ack:
		p.fail(p.outlet.nacked())
	default:
		return true
	}
	p.keep()
	return false
}

// noteReturns marks what came back. Where a return does not tell which message
// it is, all that is under way is in doubt.
func (p *pass) noteReturns() {
	for {
		select {
		case r, open := <-p.outlet.returns:
			if !open {
				return
			}
			p.fail(p.outlet.returned(r))
			number := returnedSequence(r)
			for i := range p.underWay {
				if number == 0 || p.underWay[i].number == number {
					p.underWay[i].delivery = 0
				}
			}
		default:
			return
		}
	}
}

// acknowledge: many at once only where nothing is held that is older.
func (p *pass) acknowledge(taken []uint64) error {
	if len(taken) == 0 {
		return nil
	}
	defer func(before int64) { p.progress.moved.Add(p.acked - before) }(p.acked)
	if p.kept == 0 {
		return p.ack(taken[len(taken)-1], true, int64(len(taken)))
	}
	for _, delivery := range taken {
		if err := p.ack(delivery, false, 1); err != nil {
			return err
		}
	}
	return nil
}

// look is for what does not happen by itself.
func (p *pass) look(ctx context.Context) error {
	now := time.Now()
	blocked := p.blocked()
	if blocked {
		p.lastAnswer = now
	}
	switch {
	case p.stopping && (now.After(p.giveUp) || blocked):
		// What is in doubt stays, and may arrive twice.
		p.underWay = nil
	case len(p.underWay) > 0:
		if now.Sub(p.lastAnswer) > p.session.options.ConfirmTimeout {
			p.underWay = nil
			p.fail(p.outlet.unconfirmed())
		}
	case len(p.pending) == 0 && !p.cancelled && p.looked == p.lookedAtTick, p.batch && !p.cancelled && p.looked == p.lookedAtTick:
		return p.lookForMore(ctx, now)
	}
	p.lookedAtTick = p.looked
	p.emptySince = time.Time{}
	return nil
}

// lookForMore ends the pass when the queue was empty at two looks in a row.
// What another consumer holds may come back: the connection of a Warren that
// was killed, or its broker's node, lives on for a while.
func (p *pass) lookForMore(ctx context.Context, now time.Time) error {
	state, err := p.state(ctx)
	switch {
	case err != nil:
		return err
	case state.Messages > 0:
		p.emptySince = time.Time{}
	case p.emptySince.IsZero():
		p.emptySince = now
	case len(p.pending) > 0:
		// Less has come than there was.
		p.most = p.looked
	case state.Consumers <= 1 || now.Sub(p.emptySince) > othersGrace:
		p.stop(MoveEmptied)
	}
	return nil
}

// lost says why there are no more deliveries.
func (p *pass) lost() error {
	if p.channel.IsClosed() {
		if reason := closeReason(p.channel, p.closed); reason != nil {
			return p.wrap(p.reading.callError(reason))
		}
		return p.wrap(p.reading.callError(amqp.ErrClosed))
	}
	return p.wrap(&Error{Class: NotFound, Target: p.reading.peer.address, Problem: "the queue has gone, or RabbitMQ has cancelled the consumer"})
}
