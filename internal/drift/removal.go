package drift

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/warren-mq/warren/internal/topology"
)

// emptyFor is how long a queue must have been seen empty before it is deleted
// for being so. The broker's counters are up to 5 s late.
const emptyFor = 10 * time.Second

// Removing says how the objects of a deleted resource are to go.
type Removing struct {
	// WithMessages: queues go with what they hold. Else only empty ones go.
	WithMessages bool
	// QuietSince is when something was last done to these objects, or when it
	// was first known that they are to go: what was under way then must show first.
	QuietSince time.Time
	// Adopted: what was taken over goes too, not only what bears our mark.
	Adopted bool
}

// Removal is what is to be done for a resource that is being deleted.
type Removal struct {
	Plan Plan
	// Waiting says what stands in the way, one sentence each. Where there is
	// neither a plan nor anything to wait for, all is gone.
	Waiting []string
}

// PlanRemoval goes backwards: the sources first, so that nothing comes in any
// more; then the work queue and the wait queues, when all of them are empty at
// once; then the parking queue; and the exchanges last, since what still
// dies needs its way. What is not ours stays.
func PlanRemoval(want *topology.Topology, seen *topology.Snapshot, claims Claims, how Removing) Removal {
	c := comparison{want: want, seen: seen, claims: claims}
	r := remover{&c, how}
	c.findEarlier()
	for _, step := range []func() Removal{r.sources, r.topicExchange, r.queues, r.rest} {
		if next := step(); len(next.Plan) > 0 || len(next.Waiting) > 0 {
			return next
		}
	}
	return Removal{}
}

type remover struct {
	*comparison
	how Removing
}

// ours tells whether something with a mark may be deleted.
func (r remover) ours(mark string) bool { return r.isOwn(mark) || r.how.Adopted && r.mayClaim(mark) }

// sources unbinds the work queue. A binding that somebody made goes with the
// queue, and keeps one that has to be empty from being deleted.
func (r remover) sources() Removal {
	var next Removal
	work, there := r.seen.Queues[r.want.Names.Work]
	if !there || !r.ours(work.Arguments.Owner()) {
		return next
	}
	for _, b := range r.seen.BindingsTo(topology.KindQueue, work.Name) {
		switch {
		case r.want.Names.OwnsExchange(b.Source):
		case r.isOwn(b.Arguments.Owner()) || r.wanted(b):
			next.Plan = append(next.Plan, Unbind{b})
		case !r.how.WithMessages:
			next.Waiting = append(next.Waiting, fmt.Sprintf("queue %q still gets messages over the %s, which Warren did not make: remove it", work.Name, b))
		}
	}
	return next
}

// topicExchange goes when nothing is bound to it, and before the queue that
// catches what reaches no other.
func (r remover) topicExchange() Removal {
	var next Removal
	if r.want.Names.Work != "" {
		return next
	}
	for _, o := range r.want.Objects {
		e, ok := o.(topology.Exchange)
		if !ok || r.catches(e.Name) {
			continue
		}
		seen, there := r.seen.Exchanges[e.Name]
		if !there || !r.ours(seen.Arguments.Owner()) {
			continue
		}
		if bound := len(r.seen.BindingsFrom(e.Name)); bound > 0 {
			next.Waiting = append(next.Waiting, fmt.Sprintf("exchange %q has %d bindings, and goes when nothing is bound to it", e.Name, bound))
			continue
		}
		next.Plan = append(next.Plan, DeleteExchange{Name: e.Name, OnlyUnused: true})
	}
	return next
}

// catches tells whether an exchange is an alternate one of the topology's own.
func (r remover) catches(exchange string) bool {
	return slices.ContainsFunc(r.want.Objects, func(o topology.Object) bool {
		e, ok := o.(topology.Exchange)
		return ok && e.AlternateExchange() == exchange
	})
}

// queues are deleted in two groups: a message may go round between work and
// wait queues, so that only all of them together are known to be empty.
func (r remover) queues() Removal {
	var loop, parking []topology.SeenQueue
	for _, q := range r.present() {
		if r.want.Names.Work != "" && (q.Name == r.want.Names.Work || r.want.Names.IsWait(q.Name)) {
			loop = append(loop, q)
		} else {
			parking = append(parking, q)
		}
	}
	for _, group := range [][]topology.SeenQueue{loop, parking} {
		if len(group) > 0 {
			return r.group(group)
		}
	}
	return Removal{}
}

// present are the queues that are there and ours, the work queue first.
func (r remover) present() []topology.SeenQueue {
	var queues []topology.SeenQueue
	for _, o := range r.want.Objects {
		if q, ok := o.(topology.Queue); ok {
			if seen, there := r.seen.Queues[q.Name]; there && r.ours(seen.Arguments.Owner()) {
				queues = append(queues, seen)
			}
		}
	}
	for _, q := range r.result.Earlier {
		if r.ours(q.Arguments.Owner()) {
			queues = append(queues, q)
		}
	}
	slices.SortFunc(queues, func(a, b topology.SeenQueue) int {
		switch r.want.Names.Work {
		case a.Name:
			return -1
		case b.Name:
			return 1
		}
		return strings.Compare(a.Name, b.Name)
	})
	return queues
}

func (r remover) group(queues []topology.SeenQueue) Removal {
	var next Removal
	for _, q := range queues {
		if r.how.WithMessages {
			next.Plan = append(next.Plan, DeleteQueue{q.Name})
			continue
		}
		if inUse := r.inUse(q); inUse != "" {
			next.Waiting = append(next.Waiting, fmt.Sprintf("queue %q %s", q.Name, inUse))
		}
		next.Plan = append(next.Plan, DeleteEmptyQueue{q.Name})
	}
	if len(next.Waiting) > 0 {
		next.Plan = nil
	}
	return next
}

// inUse says why a queue is not known to be empty and unused, "" if it is.
// What the broker does not tell is no proof.
func (r remover) inUse(q topology.SeenQueue) string {
	var holds []string
	for _, c := range []struct {
		n    *int64
		what string
	}{
		{q.Ready, "ready"}, {q.Unacknowledged, "unacknowledged"}, {q.DeadLettering, "waiting to be dead-lettered"}, {q.Delayed, "delayed"}, {q.Consumers, "consumers"},
	} {
		switch {
		case c.n == nil:
			return "is not known to be empty: the broker does not tell its counters"
		case *c.n > 0:
			holds = append(holds, fmt.Sprintf("%d %s", *c.n, c.what))
		}
	}
	since := q.Trouble.EmptySince
	switch {
	case len(holds) > 0:
		return "has " + strings.Join(holds, ", ")
	case since.IsZero() || r.seen.TakenAt.Sub(since) < emptyFor || r.seen.TakenAt.Sub(r.how.QuietSince) < emptyFor:
		return fmt.Sprintf("is empty, and must be so for %s", emptyFor)
	}
	return ""
}

// rest are exchanges and the policy.
func (r remover) rest() Removal {
	var next Removal
	for _, name := range r.exchanges() {
		seen, there := r.seen.Exchanges[name]
		if !there || !r.ours(seen.Arguments.Owner()) {
			continue
		}
		next.Plan = append(next.Plan, DeleteExchange{Name: name})
	}
	if name := topology.PolicyOfOwner(r.want.Owner); r.want.Names.Work != "" && named(r.seen.Policies, name) != nil {
		next.Plan = append(next.Plan, DeletePolicy{name})
	}
	return next
}

// exchanges that the resource may have, under whatever spec.
func (r remover) exchanges() []string {
	var names []string
	for _, o := range r.want.Objects {
		if e, ok := o.(topology.Exchange); ok {
			names = append(names, e.Name)
		}
	}
	if r.want.Names.Work != "" {
		names = append(names, r.want.Names.Exchanges()...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}
