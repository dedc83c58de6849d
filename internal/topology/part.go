package topology

import (
	"crypto/sha256"
	"fmt"
	"slices"
)

// Part names what of a broker one resource depends on.
type Part struct {
	owners    []string
	queues    []string
	exchanges []string
	// sources are exchanges of which only matters what they are, and not who is bound.
	sources []string
}

// PartOf lists what a topology depends on. Owners are the marks by which
// queues that it does not name are found to be its own.
func PartOf(t *Topology, owners ...string) Part {
	p := Part{owners: owners}
	feeds := map[string]bool{}
	for _, o := range t.Objects {
		if b, ok := o.(Binding); ok {
			feeds[b.Source] = true
		}
	}
	for _, o := range t.Objects {
		switch o := o.(type) {
		case Queue:
			p.queues = append(p.queues, o.Name)
		case Exchange:
			if feeds[o.Name] || t.Names.OwnsExchange(o.Name) {
				p.exchanges = append(p.exchanges, o.Name)
			}
			feeds[o.Name] = false
			p.sources = append(p.sources, o.Name)
		}
	}
	for name, foreign := range feeds {
		if foreign {
			p.sources = append(p.sources, name)
		}
	}
	return p
}

// Same tells whether two snapshots show the same of a part. Counters that
// only grow do not count, and neither does when something was first seen.
func (p Part) Same(a, b *Snapshot) bool {
	if a == b {
		return true
	}
	if a.Broker != b.Broker || a.policyDigest() != b.policyDigest() {
		return false
	}
	for _, owner := range p.owners {
		names := a.QueuesOf(owner)
		if !slices.Equal(names, b.QueuesOf(owner)) || !all(names, a, b, sameQueue) {
			return false
		}
	}
	return all(p.queues, a, b, sameQueue) && all(p.exchanges, a, b, sameBindings) && all(p.sources, a, b, sameExchange)
}

func all(names []string, a, b *Snapshot, same func(name string, a, b *Snapshot) bool) bool {
	return !slices.ContainsFunc(names, func(name string) bool { return !same(name, a, b) })
}

func sameQueue(name string, a, b *Snapshot) bool {
	x, inA := a.Queues[name]
	y, inB := b.Queues[name]
	return inA == inB && x.looksLike(y) && equalBindings(a.BindingsTo(KindQueue, name), b.BindingsTo(KindQueue, name))
}

func (q SeenQueue) looksLike(o SeenQueue) bool {
	return q.Type == o.Type && q.Durable == o.Durable && q.AutoDelete == o.AutoDelete && q.Exclusive == o.Exclusive &&
		q.State == o.State && q.Policy == o.Policy && q.OperatorPolicy == o.OperatorPolicy &&
		slices.Equal(q.Members, o.Members) && slices.Equal(q.Online, o.Online) &&
		EqualArguments(q.Arguments, o.Arguments) && EqualArguments(q.EffectivePolicy, o.EffectivePolicy) &&
		(q.EffectivePolicy == nil) == (o.EffectivePolicy == nil) &&
		slices.EqualFunc(q.counts(), o.counts(), equalCounts) && q.Trouble.open() == o.Trouble.open()
}

func (q SeenQueue) counts() []*int64 {
	return []*int64{q.DeliveryLimit, q.Messages, q.Ready, q.Unacknowledged, q.DeadLettering, q.Delayed, q.Consumers}
}

func equalCounts(a, b *int64) bool { return a == b || a != nil && b != nil && *a == *b }

// open tells which troubles there are.
func (t Trouble) open() [3]bool {
	return [3]bool{!t.DeadLetteringSince.IsZero(), !t.SpinningSince.IsZero(), !t.DrainedSince.IsZero()}
}

// Pressing tells whether a trouble may turn into a condition by time alone.
func (t Trouble) Pressing() bool { return !t.DeadLetteringSince.IsZero() || !t.SpinningSince.IsZero() }

func sameBindings(exchange string, a, b *Snapshot) bool {
	return equalBindings(a.BindingsFrom(exchange), b.BindingsFrom(exchange)) &&
		equalBindings(a.BindingsTo(KindExchange, exchange), b.BindingsTo(KindExchange, exchange))
}

func equalBindings(a, b []Binding) bool {
	if len(a) > 0 && len(a) == len(b) && &a[0] == &b[0] {
		return true // shared
	}
	return slices.EqualFunc(a, b, func(x, y Binding) bool {
		return x.Source == y.Source && x.Destination == y.Destination && x.DestinationKind == y.DestinationKind &&
			x.RoutingKey == y.RoutingKey && EqualArguments(x.Arguments, y.Arguments)
	})
}

func sameExchange(name string, a, b *Snapshot) bool {
	x, inA := a.Exchanges[name]
	y, inB := b.Exchanges[name]
	return inA == inB && x.Type == y.Type && x.Durable == y.Durable && x.AutoDelete == y.AutoDelete && x.Internal == y.Internal &&
		EqualArguments(x.Arguments, y.Arguments)
}

// policyDigest stands for all policies of the vhost: any of them may concern
// any queue, and comparing them once a snapshot is enough.
func (s *Snapshot) policyDigest() [sha256.Size]byte {
	s.digestPolicies.Do(func() {
		hash := sha256.New()
		for _, list := range [][]Policy{s.Policies, s.OperatorPolicies} {
			for _, p := range list {
				fmt.Fprintf(hash, "%q %q %q %d %s\n", p.Name, p.Pattern, p.ApplyTo, p.Priority, formatArguments(p.Definition))
			}
			fmt.Fprintln(hash)
		}
		copy(s.digest[:], hash.Sum(nil))
	})
	return s.digest
}
