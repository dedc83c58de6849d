package drift

import (
	"fmt"
	"slices"
	"strings"

	"github.com/warren-mq/warren/api/v1alpha1"
	"github.com/warren-mq/warren/internal/topology"
)

// findUnexpectedBindings tells of bindings that the spec does not have and that
// Warren did not make: those that lead to the work queue, and those by which
// others have a share in the subscription's own exchanges. They are somebody's, and stay.
func (c *comparison) findUnexpectedBindings() {
	work := c.want.Names.Work
	if work == "" {
		return
	}
	c.tellBindings(topology.Queue{Name: work}, c.seen.BindingsTo(topology.KindQueue, work), func(b topology.Binding) string {
		return fmt.Sprintf("the queue also gets what comes over this binding, which Warren did not make: add exchange %q to spec.sources if that is wanted, or remove the binding", b.Source)
	})
	for _, o := range c.want.Objects {
		e, ok := o.(topology.Exchange)
		if !ok {
			continue
		}
		c.tellBindings(e, c.seen.BindingsFrom(e.Name), func(b topology.Binding) string {
			return fmt.Sprintf("what comes to exchange %q also goes over this binding, which Warren did not make, and dead letters wait until %s %q takes them too: remove the binding", b.Source, b.DestinationKind, b.Destination)
		})
		c.tellBindings(e, c.seen.BindingsTo(topology.KindExchange, e.Name), func(b topology.Binding) string {
			return fmt.Sprintf("messages of exchange %q come in here past the work queue over this binding, which Warren did not make: remove the binding", b.Source)
		})
	}
}

// tellBindings tells of those among the bindings of an object that are a stranger's.
func (c *comparison) tellBindings(object topology.Object, bindings []topology.Binding, remedy func(topology.Binding) string) {
	strangers := slices.DeleteFunc(slices.Clone(bindings), func(b topology.Binding) bool {
		return c.wanted(b) || c.isOwn(b.Arguments.Owner()) || c.betweenOurs(b)
	})
	slices.SortFunc(strangers, func(a, b topology.Binding) int { return strings.Compare(a.String(), b.String()) })
	for _, b := range strangers {
		c.result.Differences = append(c.result.Differences, Difference{
			Cause: CauseBinding,
			DriftEntry: v1alpha1.DriftEntry{
				Object: object.String(), Field: "binding", Desired: "none", Observed: b.String(),
				Impact: v1alpha1.ImpactTolerable, Remedy: remedy(b),
			},
		})
	}
}

// betweenOurs tells whether a binding leads from an exchange of ours to
// something of ours: an earlier spec's, which the plan removes.
func (c *comparison) betweenOurs(b topology.Binding) bool {
	return c.want.Names.OwnsExchange(b.Source) && (c.madeByUs(b) || b.Destination == c.want.Names.Work)
}
