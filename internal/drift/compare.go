package drift

import (
	"slices"
	"strings"

	"github.com/warren-mq/warren/api/v1alpha1"
	"github.com/warren-mq/warren/internal/topology"
)

// Claims says what may be taken for ours of what a broker has already.
type Claims struct {
	// Adopt: what bears no mark may be claimed.
	Adopt bool
	// Inherited marks count as the topology's own: those of clusters whose
	// objects this one takes over.
	Inherited []string
	// Abandoned tells whether a foreign mark's resource no longer exists in
	// this cluster, so that the object may be claimed as if it bore none.
	Abandoned func(owner string) bool
}

// Result is what a comparison found.
type Result struct {
	// Missing objects of the topology, in declare order.
	Missing []topology.Object
	// Pending bindings wait for an exchange of somebody else that does not exist.
	Pending []topology.Binding
	// Trespass names objects that are there and not ours; while there is
	// one, nothing may be touched and the sources stay unbound.
	Trespass []Trespass
	// Differences that no declare can mend, the worst first.
	Differences []Difference
	// Overriding policies decide in place of what the topology has.
	Overriding []string
	// Unproved routes, each as a sentence.
	Unproved []string
	// Marks that count as this resource's.
	Marks []string
	// Earlier queues of this resource that the topology does not have: wait
	// queues of an earlier ladder, parking queues of another name, by name.
	Earlier []topology.SeenQueue
	// Unavailable queues: they exist and have no leader or no majority.
	Unavailable []topology.SeenQueue
	// Plan is what to do about all of this.
	Plan Plan
}

// Trespass is an object of a wanted name that belongs to somebody else.
type Trespass struct {
	Object topology.Object
	// Owner is its mark; "" where it bears none.
	Owner string
	// Abandoned: the resource that the mark names exists no more.
	Abandoned bool
}

// Cause says what kind of difference it is, as a condition reason.
type Cause string

// The causes of a difference.
const (
	CauseImmutable Cause = v1alpha1.ReasonImmutableDrift
	CausePolicy    Cause = v1alpha1.ReasonPolicyOverride
	CauseBinding   Cause = v1alpha1.ReasonUnexpectedBinding
)

// Difference is an entry of status.drift, and its cause.
type Difference struct {
	v1alpha1.DriftEntry
	Cause Cause
	// Adopted: the object bears no mark of ours; we may only watch it.
	Adopted bool
}

// Unsafe tells whether a difference may cost messages.
func (d Difference) Unsafe() bool { return d.Impact == v1alpha1.ImpactUnsafe }

// Compare sets a topology beside what was seen.
func Compare(want *topology.Topology, seen *topology.Snapshot, claims Claims) Result {
	c := comparison{want: want, seen: seen, claims: claims}
	for _, o := range want.Objects {
		c.compare(o)
	}
	c.findEarlier()
	c.findUnexpectedBindings()
	c.examineAdopted()
	c.sortDifferences()
	c.result.Unproved = unproved(want, seen)
	c.result.Plan = c.plan()
	return c.result
}

type comparison struct {
	want   *topology.Topology
	seen   *topology.Snapshot
	claims Claims
	result Result
	// predecessor is the policy of an earlier name of the resource, or "".
	predecessor string
	// kept is our policy, where setting it has to wait.
	kept *topology.Policy
}

func (c *comparison) compare(o topology.Object) {
	switch o := o.(type) {
	case topology.Exchange:
		c.compareExchange(o)
	case topology.Queue:
		c.compareQueue(o)
	case topology.Policy:
		c.comparePolicy(o)
	case topology.Binding:
		c.compareBinding(o)
	}
}

func (c *comparison) missing(o topology.Object) { c.result.Missing = append(c.result.Missing, o) }

// ours tells whether an object that was seen may be treated as ours, and
// notes the trespass if not.
func (c *comparison) ours(o topology.Object, mark string) bool {
	if c.isOwn(mark) || c.mayClaim(mark) {
		return true
	}
	c.result.Trespass = append(c.result.Trespass, Trespass{Object: o, Owner: mark, Abandoned: c.isAbandoned(mark)})
	return false
}

// mayClaim tells whether an object with a mark that is not ours may be taken over.
func (c *comparison) mayClaim(mark string) bool {
	return c.claims.Adopt && (mark == "" || c.isAbandoned(mark))
}

func (c *comparison) isAbandoned(mark string) bool {
	return c.claims.Abandoned != nil && mark != "" && c.claims.Abandoned(mark)
}

// isOwn tells whether a mark is this resource's, under this cluster's id or
// one that it inherits from.
func (c *comparison) isOwn(mark string) bool {
	return mark == c.want.Owner || slices.Contains(c.claims.Inherited, mark)
}

// marks that count as this resource's: its own, those that it inherits, and
// the one that it finds on a work queue that it may claim.
func (c *comparison) marks() []string {
	marks := append([]string{c.want.Owner}, c.claims.Inherited...)
	if work, there := c.seen.Queues[c.want.Names.Work]; there && work.Arguments.Owner() != "" && c.mayClaim(work.Arguments.Owner()) {
		marks = append(marks, work.Arguments.Owner())
	}
	return marks
}

func (c *comparison) findEarlier() {
	if c.want.Names.Work == "" {
		return
	}
	c.result.Marks = c.marks()
	for _, mark := range c.result.Marks {
		for _, name := range c.seen.QueuesOf(mark) {
			if !c.declaresQueue(name) {
				c.result.Earlier = append(c.result.Earlier, c.seen.Queues[name])
			}
		}
	}
	slices.SortFunc(c.result.Earlier, func(a, b topology.SeenQueue) int { return strings.Compare(a.Name, b.Name) })
	c.result.Earlier = slices.CompactFunc(c.result.Earlier, func(a, b topology.SeenQueue) bool { return a.Name == b.Name })
}

func (c *comparison) compareBinding(b topology.Binding) {
	if c.seen.HasBinding(b) {
		return
	}
	if _, there := c.seen.Exchanges[b.Source]; !there && !c.declares(b.Source) {
		c.result.Pending = append(c.result.Pending, b)
		return
	}
	c.missing(b)
}

// declares tells whether an exchange is one of the topology's own.
func (c *comparison) declares(exchange string) bool {
	return slices.ContainsFunc(c.want.Objects, func(o topology.Object) bool {
		e, ok := o.(topology.Exchange)
		return ok && e.Name == exchange
	})
}

// sortDifferences puts the unsafe ones first, and among them the queue type:
// everything else about a queue of a wrong type follows from that. Otherwise
// they stay in the topology's order.
func (c *comparison) sortDifferences() {
	rank := func(d Difference) int {
		switch {
		case d.Field == "x-queue-type":
			return 0
		case d.Unsafe():
			return 1
		}
		return 2
	}
	slices.SortStableFunc(c.result.Differences, func(a, b Difference) int { return rank(a) - rank(b) })
}
