package broker

import (
	"context"
	"errors"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
	"golang.org/x/time/rate"

	"github.com/warren-mq/warren/internal/topology"
)

const (
	// probe is how many messages are looked at before their size is known.
	probe = 20
	// maxUnderWay is how many may be on their way at once: with more it is not faster.
	maxUnderWay = 500
	// maxBytesUnderWay keeps large bodies from filling the memory.
	maxBytesUnderWay = 32 << 20
	// maxPass is shorter than the time that RabbitMQ leaves a message
	// unacknowledged (30 minutes): what is held is given back and taken again.
	maxPass = 10 * time.Minute
)

// passOver ends a pass that another one follows.
const passOver MoveEnd = "PassOver"

// mover does one move, in passes: each reads the queue from its beginning and
// holds what it keeps. One consumer has to hold all of it, and its prefetch
// cannot grow, so that a pass ends when what it holds fills it.
type mover struct {
	session  *Session
	move     Move
	progress *MoveProgress
	reading  *link
	outlet   *outlet
	limiter  *rate.Limiter

	// handled is how many were taken or dropped.
	handled int64
	// held by the last pass.
	held int64
	// messages and bytes seen, for the size of a message.
	messages, bytes int64
}

func newMover(s *Session, move Move, progress *MoveProgress) *mover {
	m := &mover{session: s, move: move, progress: progress}
	if n := int(move.PerSecond); n > 0 {
		const inABurst = 4 // a quarter of a second's, to make up for a delay
		m.limiter = rate.NewLimiter(rate.Limit(n), max(1, n/inABurst))
	}
	return m
}

func (m *mover) run(ctx context.Context) (MoveEnd, error) {
	if ctx.Err() != nil {
		return MoveStopped, nil
	}
	var err error
	if m.reading, err = m.session.dial(ctx, dialOptions{name: "warren moves: reading", wide: true}); err != nil {
		return "", err
	}
	if move := m.move; !move.Dry && move.Exchange != "" {
		if m.outlet, err = m.openOutlet(ctx); err != nil {
			return "", err
		}
		defer m.unstick(ctx)()
	}
	for {
		end, err := m.pass(ctx)
		if err != nil || end != passOver {
			return end, err
		}
		if m.held >= m.session.options.MaxHeld {
			return MoveFull, nil
		}
	}
}

// unstick ends a write that hangs, as one does under an alarm, some time after
// the move was to stop.
func (m *mover) unstick(ctx context.Context) (undo func() bool) {
	socket, blocked := m.outlet.link.socket, &m.outlet.blocked
	return context.AfterFunc(ctx, func() {
		time.AfterFunc(2*stopGrace, func() {
			if blocked.Load() {
				socket.cut(errMoveStopped)
			}
		})
	})
}

var errMoveStopped = errors.New("the move was stopped")

func (m *mover) close() {
	if m.outlet != nil {
		m.outlet.close()
	}
	if m.reading != nil {
		m.reading.close()
	}
}

// pass reads the queue from its beginning once.
func (m *mover) pass(ctx context.Context) (MoveEnd, error) {
	m.progress.newPass()
	p, err := m.beginPass(ctx)
	if err != nil {
		return "", err
	}
	end, err := p.pump(ctx)
	m.held = p.kept
	if leaving := p.leave(ctx, end); err == nil {
		err = leaving
	}
	return end, err
}

// slots is how many messages a pass may hold beyond those that it keeps.
func (m *mover) slots() int64 {
	if m.messages == 0 {
		return probe
	}
	bySize := maxBytesUnderWay / max(1, m.bytes/m.messages)
	slots := min(bySize, maxUnderWay)
	if n := int64(m.move.PerSecond); n > 0 {
		slots = min(slots, max(n, probe))
	}
	return max(1, slots)
}

// call makes one call on the connection that reads. A move that is stopped
// ends in good order, so that ctx does not cut it short.
func (m *mover) call(ctx context.Context, call func() error) error {
	ctx = context.WithoutCancel(ctx)
	if err := m.reading.await(ctx, m.session.options.RequestTimeout, call); err != nil {
		return m.wrap(m.reading.callError(err))
	}
	return nil
}

func (m *mover) wrap(e *Error) *Error {
	return task{op: opMove, kind: string(topology.KindQueue), object: "what is in " + topology.Queue{Name: m.move.Queue}.String()}.wrap(e)
}

// beginPass consumes with a prefetch that holds what the last pass has kept.
func (m *mover) beginPass(ctx context.Context) (*pass, error) {
	p := &pass{mover: m, limit: m.move.Most - m.handled}
	err := m.call(ctx, func() (err error) {
		if p.channel, err = m.reading.connection.Channel(); err != nil {
			return err
		}
		p.closed = p.channel.NotifyClose(make(chan *amqp.Error, 1))
		state, err := p.channel.QueueDeclarePassive(m.move.Queue, true, false, false, false, nil)
		if err != nil {
			return err
		}
		p.ready = int64(state.Messages)
		p.plan()
		if err = p.channel.Qos(int(p.prefetch), 0, false); err != nil {
			return err
		}
		p.deliveries, err = p.channel.Consume(m.move.Queue, consumerTag, false, false, false, false, nil)
		return err
	})
	return p, err
}

// plan decides how much the pass takes in. Where some are to be kept in their
// order, it holds all there is. Where others are to be left behind, or their size
// is not known, it takes a batch. Else it flows.
func (p *pass) plan() {
	slots := p.slots()
	quota := p.move.Quota - p.handled
	switch {
	case p.move.Selective:
		p.most, p.prefetch = p.limit, p.ready+maxUnderWay
	case p.messages == 0 || min(p.limit, quota) < p.ready:
		p.batch = true
		p.most = max(1, min(p.limit, p.ready, p.held+min(quota, slots)))
		p.prefetch = p.most
	default:
		p.most, p.prefetch = p.limit, p.held+slots
	}
	p.prefetch = min(p.prefetch, p.session.options.MaxHeld)
}
