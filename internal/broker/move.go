package broker

import (
	"context"
	"sync/atomic"

	"github.com/warren-mq/warren/internal/topology"
)

// Verdict is what becomes of a message.
type Verdict int

// The verdicts.
const (
	// Keep leaves a message where it is, in its order.
	Keep Verdict = iota
	// Take publishes it again, and acknowledges it when that is confirmed.
	Take
	// Drop acknowledges it.
	Drop
)

// Move says which messages of a queue are published again, and where.
type Move struct {
	// Names of the subscription whose queue it is.
	Names topology.Names
	// Queue that the messages are in.
	Queue string
	// Exchange that they are published to, with their routing key.
	Exchange string
	// Mark is put on what is moved, so that it is known when it comes back. It holds no slash.
	Mark string
	// Selective: Judge may keep some, and they are to stay in their order. The
	// whole queue is held for it, as far as that can be.
	Selective bool
	// Judge is called for each message in its order, and again for those that
	// it has kept whenever the queue is read from its beginning again.
	Judge func(Parked) Verdict
	// Most is how many messages are looked at.
	Most int64
	// Quota is how many are taken or dropped at most.
	Quota int64
	// PerSecond limits how many are taken or dropped in a second; 0 does not.
	PerSecond int32
	// Dry keeps everything and counts what would be taken or dropped.
	Dry bool
}

// MoveEnd says why a move has ended without an error.
type MoveEnd string

// The ends of a move.
const (
	// MoveDone: as many messages were looked at, or handled, as there are to be.
	MoveDone MoveEnd = "Done"
	// MoveEmptied: the queue holds no others.
	MoveEmptied MoveEnd = "Emptied"
	// MoveStopped: the context was cancelled, or the session closed.
	MoveStopped MoveEnd = "Stopped"
	// MoveFull: as many messages were kept as can be held unacknowledged, and others are behind them.
	MoveFull MoveEnd = "Full"
)

// MoveCounts are messages.
type MoveCounts struct {
	// Moved were published, confirmed and acknowledged.
	Moved int64
	// Dropped were acknowledged.
	Dropped int64
	// Kept were looked at and left, since the queue was last read from its beginning.
	Kept int64
	// Matched is how many of the kept would have been taken or dropped, had it not been dry.
	Matched int64
	// Unfit is how many of the kept have more headers than can be published.
	Unfit int64
	// Blocked is why the broker takes nothing at present, in its words, or "".
	Blocked string
}

// MoveProgress tells how far a move is, to any goroutine.
type MoveProgress struct {
	moved, dropped, kept, matched, unfit atomic.Int64

	blocked atomic.Pointer[string]
}

// Counts are never more than what is done.
func (p *MoveProgress) Counts() MoveCounts {
	c := MoveCounts{Moved: p.moved.Load(), Dropped: p.dropped.Load(), Kept: p.kept.Load(), Matched: p.matched.Load(), Unfit: p.unfit.Load()}
	if reason := p.blocked.Load(); reason != nil {
		c.Blocked = *reason
	}
	return c
}

// newPass forgets what was kept: it is looked at again.
func (p *MoveProgress) newPass() {
	p.kept.Store(0)
	p.matched.Store(0)
	p.unfit.Store(0)
}

// Move moves messages, on two connections of its own: under an alarm RabbitMQ
// stops reading from the one that publishes, and acknowledgements must go
// through all the same. A message is acknowledged after its positive confirm,
// and not when it was returned: the move then ends with [Unroutable], [Nacked]
// or [Unconfirmed], and the message is where it was. Under an alarm it waits.
//
// What is kept stays in its order: it is held unacknowledged to the end, and
// given back by cancelling, awaiting that, and closing.
func (s *Session) Move(ctx context.Context, move Move, progress *MoveProgress) (MoveEnd, error) {
	if s.invalid != nil {
		return "", s.invalid
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	defer context.AfterFunc(s.life, stop)()
	m := newMover(s, move, progress)
	defer m.close()
	return m.run(ctx)
}

// QueueCount is what a queue itself says at once.
type QueueCount struct{ Ready, Consumers int64 }

// Count asks a queue how many messages are ready and how many consumers it has.
func (s *Session) Count(ctx context.Context, queue string) (QueueCount, error) {
	q := topology.SeenQueue{Name: queue}
	err := s.onChannel(ctx, func(do *doer) error { return do.ask(ctx, &q) })
	if err != nil {
		return QueueCount{}, err
	}
	return QueueCount{Ready: *q.Ready, Consumers: *q.Consumers}, nil
}
