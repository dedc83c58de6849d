package drift

import (
	"fmt"
	"slices"
	"strings"

	"github.com/warren-mq/warren/api/v1alpha1"
	"github.com/warren-mq/warren/internal/topology"
)

// findUnexpectedBindings tells of bindings to the work queue that the spec does not
// have and that Warren did not make. They are somebody's, and stay.
func (c *comparison) findUnexpectedBindings() {
	work := c.want.Names.Work
	if work == "" {
		return
	}
	var strangers []topology.Binding
	for _, b := range c.seen.BindingsTo(topology.KindQueue, work) {
		if !c.wanted(b) && !c.isOwn(b.Arguments.Owner()) && !c.want.Names.OwnsExchange(b.Source) {
			strangers = append(strangers, b)
		}
	}
	slices.SortFunc(strangers, func(a, b topology.Binding) int { return strings.Compare(a.String(), b.String()) })
	for _, b := range strangers {
		c.result.Differences = append(c.result.Differences, Difference{
			Cause: CauseBinding,
			DriftEntry: v1alpha1.DriftEntry{
				Object: topology.Queue{Name: work}.String(), Field: "binding", Desired: "none", Observed: b.String(),
				Impact: v1alpha1.ImpactTolerable,
				Remedy: fmt.Sprintf("the queue also gets what comes over this binding, which Warren did not make: add exchange %q to spec.sources if that is wanted, or remove the binding", b.Source),
			},
		})
	}
}
