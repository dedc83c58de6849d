package drift

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/warren-mq/warren/internal/topology"
)

// Action is one step of a plan.
type Action interface{ String() string }

// Declare makes an object, or sets a policy.
type Declare struct{ Object topology.Object }

// Unbind takes one binding away: this source, key and these arguments.
type Unbind struct{ Binding topology.Binding }

// DeleteDrained deletes a wait queue of ours that no spec wants and that has
// been empty and unbound long enough.
type DeleteDrained struct{ Queue string }

// DeleteQueue deletes a queue with what it holds.
type DeleteQueue struct{ Queue string }

// DeleteEmptyQueue deletes a queue that was seen to be empty and unused for
// long enough, unless it is not so at that moment.
type DeleteEmptyQueue struct{ Queue string }

// DeleteExchange deletes an exchange; one that others use, if nothing is bound to it.
type DeleteExchange struct {
	Name       string
	OnlyUnused bool
}

// DeletePolicy deletes a policy that another one of ours has taken over from.
type DeletePolicy struct{ Name string }

func (a Declare) String() string       { return "declare " + a.Object.String() }
func (a Unbind) String() string        { return "remove " + a.Binding.String() }
func (a DeleteDrained) String() string { return fmt.Sprintf("delete drained queue %q", a.Queue) }
func (a DeleteQueue) String() string   { return "delete " + topology.Queue{Name: a.Queue}.String() }
func (a DeleteEmptyQueue) String() string {
	return "delete empty " + topology.Queue{Name: a.Queue}.String()
}
func (a DeleteExchange) String() string { return "delete " + topology.Exchange{Name: a.Name}.String() }
func (a DeletePolicy) String() string   { return "delete " + topology.Policy{Name: a.Name}.String() }

// Plan is what to do, in order.
type Plan []Action

func (p Plan) String() string {
	lines := make([]string, 0, len(p))
	for _, a := range p {
		lines = append(lines, a.String())
	}
	return strings.Join(lines, "\n")
}

// drainedFor is how long a wait queue must have been seen empty and unbound
// before it is deleted. The broker's counters are up to 5 s late.
const drainedFor = 10 * time.Second

// plan says what to do. A trespass, or an adopted object that would lose
// messages, stops everything: what is not ours stays untouched and unbound.
func (c *comparison) plan() Plan {
	if len(c.result.Trespass) > 0 || c.result.UnsafeToAdopt() {
		return nil
	}
	early, late := c.obsolete()

	var p Plan
	unbindEarly := func() {
		for _, b := range early {
			p = append(p, Unbind{b})
		}
		early = nil
	}
	for _, o := range c.result.Missing {
		// A rung's old binding goes before its new one comes: in between a
		// rejection waits the first delay once more, and nothing is doubled.
		if b, ok := o.(topology.Binding); ok && b.Source == c.want.Names.Retry() {
			unbindEarly()
		}
		p = append(p, Declare{o})
	}
	unbindEarly()
	// Everywhere else the new way is there before the old one goes.
	for _, b := range late {
		p = append(p, Unbind{b})
	}
	if name := c.outlived(); name != "" {
		p = append(p, DeletePolicy{name})
	}
	for _, q := range c.drained() {
		p = append(p, DeleteDrained{q})
	}
	return p
}

// UnsafeToAdopt tells whether something of somebody else's, taken over as it
// is, would cost messages.
func (r Result) UnsafeToAdopt() bool {
	return slices.ContainsFunc(r.Differences, func(d Difference) bool { return d.Adopted && d.Unsafe() })
}

// obsolete finds bindings that Warren made and the spec no longer wants:
// those of the retry exchange, which go early, and all others.
func (c *comparison) obsolete() (early, late []topology.Binding) {
	n := c.want.Names
	if n.Work == "" {
		return nil, nil
	}
	// The idle side of the first rung before the other one: a binding that was
	// left there must not wake up beside the new one.
	for _, exchange := range []string{n.Dead(), n.Retry(), n.FirstIdle(), n.First(), n.Park()} {
		for _, b := range c.seen.BindingsFrom(exchange) {
			if c.wanted(b) || !c.madeByUs(b) {
				continue
			}
			if exchange == n.Retry() {
				early = append(early, b)
			} else {
				late = append(late, b)
			}
		}
	}
	for _, b := range c.seen.BindingsTo(topology.KindQueue, n.Work) {
		if c.isOwn(b.Arguments.Owner()) && !c.wanted(b) {
			late = append(late, b)
		}
	}
	return early, late
}

func (c *comparison) wanted(b topology.Binding) bool {
	return slices.ContainsFunc(c.want.Objects, func(o topology.Object) bool {
		w, ok := o.(topology.Binding)
		return ok && w.Routes(b)
	})
}

// madeByUs tells whether a binding of one of our exchanges leads to something
// of ours. One that leads elsewhere was made by somebody, and is theirs.
func (c *comparison) madeByUs(b topology.Binding) bool {
	if b.DestinationKind == topology.KindExchange {
		return c.want.Names.OwnsExchange(b.Destination)
	}
	queue, there := c.seen.Queues[b.Destination]
	return there && c.isOwn(queue.Arguments.Owner())
}

// drained lists wait queues of an earlier ladder that have nothing left. What
// was adopted is not ours to delete.
func (c *comparison) drained() []string {
	var names []string
	for _, q := range c.result.Earlier {
		since := q.Trouble.DrainedSince
		if c.want.Names.IsWait(q.Name) && c.isOwn(q.Arguments.Owner()) && !since.IsZero() && c.seen.TakenAt.Sub(since) >= drainedFor {
			names = append(names, q.Name)
		}
	}
	return names
}

func (c *comparison) declaresQueue(name string) bool {
	return slices.ContainsFunc(c.want.Objects, func(o topology.Object) bool {
		q, ok := o.(topology.Queue)
		return ok && q.Name == name
	})
}
