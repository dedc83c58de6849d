package broker

import (
	"time"

	"github.com/warren-mq/warren/internal/topology"
)

// statisticsPause is how long the counters of a queue may stand still although
// it is busy: RabbitMQ renews them every 5 s.
const statisticsPause = 10 * time.Second

// history is what has to be remembered of a reading to judge the next one.
type history map[string]memory

type memory struct {
	trouble       topology.Trouble
	messages      *int64
	deadLettering *int64
	// redeliveries and acknowledgements, and when they were first seen like this.
	redeliveries, acknowledgements *int64
	since                          time.Time
}

// carry fills in the Trouble of a new reading's queues and returns what is to
// be remembered of it. It is pure; a queue that was not there at the reading
// before starts anew.
func (h history) carry(now *topology.Snapshot) history {
	next := make(history, len(now.Queues))
	for name, q := range now.Queues {
		past, known := h[name]
		if !known {
			past = memory{}
		}
		m := past.next(q, len(now.BindingsTo(topology.KindQueue, name)) > 0, now.TakenAt)
		q.Trouble = m.trouble
		now.Queues[name] = q
		next[name] = m
	}
	return next
}

func (m memory) next(q topology.SeenQueue, bound bool, now time.Time) memory {
	n := memory{messages: q.Messages, deadLettering: q.DeadLettering, redeliveries: q.Redeliveries, acknowledgements: q.Acknowledgements, since: now}
	if m.sameCounters(q) {
		n.since = m.since
	}
	n.trouble = topology.Trouble{
		ChangedAt:          m.trouble.ChangedAt,
		NonemptySince:      firstOf(m.trouble.NonemptySince, now, positive(q.Messages)),
		DeadLetteringSince: firstOf(m.trouble.DeadLetteringSince, now, positive(q.DeadLettering)),
		DeadLetteringEased: grew(q.DeadLettering, m.deadLettering),
		EmptySince:         firstOf(m.trouble.EmptySince, now, empty(q)),
		DrainedSince:       firstOf(m.trouble.DrainedSince, now, !bound && empty(q)),
	}
	if grew(m.messages, q.Messages) || grew(q.Messages, m.messages) {
		n.trouble.ChangedAt = now
	}
	m.carrySpin(&n.trouble, q, now)
	return n
}

func (m memory) carrySpin(t *topology.Trouble, q topology.SeenQueue, now time.Time) {
	switch {
	case !positive(q.Messages):
	case m.spins(q):
		t.SpinningSince, t.RedeliveredAt = firstOf(m.trouble.SpinningSince, now, true), now
	case m.mayStillSpin(q, now):
		t.SpinningSince, t.RedeliveredAt = m.trouble.SpinningSince, m.trouble.RedeliveredAt
	}
}

// firstOf is the time of the first of the readings in a row.
func firstOf(since, now time.Time, found bool) time.Time {
	switch {
	case !found:
		return time.Time{}
	case since.IsZero():
		return now
	}
	return since
}

// spins: redelivered since the reading before, and nothing acknowledged. A
// counter that went down, or was not there, began anew and proves nothing.
func (m memory) spins(q topology.SeenQueue) bool {
	return grew(m.redeliveries, q.Redeliveries) && equal(m.acknowledgements, q.Acknowledgements)
}

// mayStillSpin: readings that come faster than the broker's statistics see
// the same counters several times, which says nothing new. Nor do they while a
// consumer holds something: one that hangs does so for its whole time-out.
func (m memory) mayStillSpin(q topology.SeenQueue, now time.Time) bool {
	return !m.trouble.SpinningSince.IsZero() && m.sameCounters(q) && (positive(q.Unacknowledged) || now.Sub(m.since) < statisticsPause)
}

func (m memory) sameCounters(q topology.SeenQueue) bool {
	return equal(m.redeliveries, q.Redeliveries) && equal(m.acknowledgements, q.Acknowledgements)
}

// empty: every counter is known and 0. An unknown one is no proof.
func empty(q topology.SeenQueue) bool {
	for _, n := range []*int64{q.Messages, q.Ready, q.Unacknowledged, q.DeadLettering, q.Delayed} {
		if n == nil || *n != 0 {
			return false
		}
	}
	return true
}

func positive(n *int64) bool { return n != nil && *n > 0 }

func equal(a, b *int64) bool { return a != nil && b != nil && *a == *b }

func grew(before, after *int64) bool { return before != nil && after != nil && *after > *before }
