package broker

import (
	"context"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
)

const (
	consumerTag = "warren"
	// tick is how often a pass looks whether anything still happens.
	passTick = 200 * time.Millisecond
	// stopGrace is how long confirms are awaited when a move is to stop.
	stopGrace = 5 * time.Second
	// othersGrace is longer than RabbitMQ keeps what a lost connection holds.
	othersGrace = 60 * time.Second
)

// flight is a message that was published and is not confirmed.
type flight struct {
	delivery uint64
	number   uint64
}

// pass is one consumer of the queue, and what it has been given.
type pass struct {
	*mover
	channel    *amqp.Channel
	closed     chan *amqp.Error
	deliveries <-chan amqp.Delivery
	prefetch   int64
	// ready messages at its beginning.
	ready int64
	// limit is how many there are to look at, and most how many in this pass.
	limit, most int64
	// batch: it takes in most messages and cancels before it handles the first, so
	// that it is given no others, which it would have to give back.
	batch, cancelled bool

	looked, kept, matched, acked int64
	// pending are chosen and wait for their turn, which token tells.
	pending      []judged
	pendingBytes int64
	token        <-chan time.Time
	hasTurn      bool
	// deferred are chosen, too, and are left to another pass.
	deferred int64
	underWay []flight
	// lastAnswer of what is under way.
	lastAnswer time.Time

	end      MoveEnd
	stopping bool
	giveUp   time.Time
	failure  error

	lookedAtTick int64
	emptySince   time.Time
}

type judged struct {
	amqp.Delivery
	verdict Verdict
}

// pump works until there is nothing more to do in this pass.
func (p *pass) pump(ctx context.Context) (MoveEnd, error) {
	tick := time.NewTicker(passTick)
	defer tick.Stop()
	over := time.NewTimer(maxPass)
	defer over.Stop()
	done := ctx.Done()
	for {
		if err := p.advance(ctx); err != nil {
			return "", err
		}
		if p.settled() {
			return p.end, p.failure
		}
		var err error
		select {
		case <-done:
			done = nil
			p.stop(MoveStopped)
		case d, open := <-p.intake():
			err = p.take(d, open)
		case <-p.token:
			p.token, p.hasTurn = nil, true
		case c, open := <-p.confirms():
			err = p.confirmed(c, open)
		case <-p.wake():
			p.lastAnswer = time.Now()
		case <-tick.C:
			err = p.look(ctx)
		case <-over.C:
			p.stop(passOver)
		}
		if err != nil {
			return "", err
		}
	}
}

// stop takes nothing more in; what is under way is awaited.
func (p *pass) stop(end MoveEnd) {
	if p.stopping {
		return
	}
	p.stopping, p.end, p.giveUp = true, end, time.Now().Add(stopGrace)
	p.pending, p.token = nil, nil
}

func (p *pass) fail(e *Error) {
	if p.failure == nil {
		p.failure = p.wrap(e)
	}
	p.stop("")
}

// settled tells whether the pass is over, with nothing under way.
func (p *pass) settled() bool {
	if len(p.underWay) > 0 || len(p.pending) > 0 {
		return false
	}
	switch {
	case p.stopping:
	case p.spent() >= p.move.Quota, p.looked >= p.limit && p.deferred == 0:
		p.stop(MoveDone)
	case p.looked >= p.most, p.kept+p.deferred >= p.prefetch:
		p.stop(passOver)
	}
	return p.stopping
}

// spent is what counts towards the quota.
func (p *pass) spent() int64 {
	return p.handled + p.matched + int64(len(p.underWay)+len(p.pending))
}

// intake is nil while nothing may be taken in.
func (p *pass) intake() <-chan amqp.Delivery {
	if p.stopping || p.looked >= p.most || p.spent() >= p.move.Quota {
		return nil
	}
	return p.deliveries
}

func (p *pass) blocked() bool { return p.outlet != nil && p.outlet.blocked.Load() }

func (p *pass) confirms() <-chan amqp.Confirmation {
	if p.outlet == nil {
		return nil
	}
	return p.outlet.confirms
}

func (p *pass) wake() <-chan struct{} {
	if p.outlet == nil {
		return nil
	}
	return p.outlet.wake
}

// take looks at a delivery.
func (p *pass) take(d amqp.Delivery, open bool) error {
	if !open {
		return p.lost()
	}
	p.looked++
	p.messages++
	size := int64(len(d.Body))
	p.bytes += size
	verdict := p.move.Judge(parkedOf(p.move.Names, d))
	switch {
	case verdict == Keep:
		p.keep()
	case p.move.Dry:
		p.matched++
		p.progress.matched.Add(1)
		p.keep()
	case p.deferred > 0 || len(p.pending) > 0 && p.pendingBytes+size > maxBytesUnderWay:
		// One is enough: what has room later must not overtake it.
		p.deferred++
	default:
		p.pending = append(p.pending, judged{d, verdict})
		p.pendingBytes += size
	}
	return nil
}

// advance handles what is pending and may be handled now.
func (p *pass) advance(ctx context.Context) error {
	if p.batch && !p.cancelled && p.looked >= p.most {
		if err := p.cancel(ctx); err != nil {
			return err
		}
	}
	for len(p.pending) > 0 && p.mayHandle() {
		next := p.pending[0]
		p.pending = p.pending[1:]
		p.pendingBytes -= int64(len(next.Body))
		if err := p.perform(next); err != nil {
			return err
		}
	}
	return nil
}

// mayHandle waits for a turn where there is a limit to the rate.
func (p *pass) mayHandle() bool {
	if p.stopping || p.token != nil || p.batch && !p.cancelled || p.blocked() || len(p.underWay) >= maxUnderWay {
		return false
	}
	if p.limiter == nil || p.hasTurn {
		p.hasTurn = false
		return true
	}
	if delay := p.limiter.Reserve().Delay(); delay > 0 {
		p.token = time.After(delay)
		return false
	}
	return true
}

func (p *pass) keep() {
	p.kept++
	p.progress.kept.Add(1)
}

func (p *pass) perform(d judged) error {
	if d.verdict == Drop {
		if err := p.ack(d.DeliveryTag, false, 1); err != nil {
			return err
		}
		p.progress.dropped.Add(1)
		return nil
	}
	message, fits := republished(d.Delivery, p.move.Mark, p.outlet.published+1, p.outlet.maxFrame())
	if !fits {
		p.progress.unfit.Add(1)
		p.keep()
		return nil
	}
	number, err := p.outlet.publish(d.RoutingKey, message)
	if err != nil {
		return p.wrap(p.outlet.lost(err))
	}
	if len(p.underWay) == 0 {
		p.lastAnswer = time.Now()
	}
	p.underWay = append(p.underWay, flight{delivery: d.DeliveryTag, number: number})
	return nil
}

// ack counts n messages as handled.
func (p *pass) ack(delivery uint64, multiple bool, n int64) error {
	if err := p.channel.Ack(delivery, multiple); err != nil {
		return p.lost()
	}
	p.acked += n
	p.handled += n
	return nil
}
