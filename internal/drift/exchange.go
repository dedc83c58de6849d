package drift

import (
	"fmt"

	"github.com/warren-mq/warren/api/v1alpha1"
	"github.com/warren-mq/warren/internal/topology"
)

func (c *comparison) compareExchange(e topology.Exchange) {
	seen, there := c.seen.Exchanges[e.Name]
	if !there {
		c.missing(e)
		return
	}
	if !c.ours(e, seen.Arguments.Owner()) {
		return
	}
	differs := func(impact v1alpha1.Impact, field, desired, observed, remedy string) {
		c.result.Differences = append(c.result.Differences, Difference{
			Cause:   CauseImmutable,
			Adopted: !c.isOwn(seen.Arguments.Owner()),
			DriftEntry: v1alpha1.DriftEntry{
				Object: e.String(), Field: field, Desired: desired, Observed: observed,
				Impact: impact, Remedy: remedy,
			},
		})
	}
	recreate := fmt.Sprintf("an exchange cannot be changed: have its publishers stop, delete exchange %q, and Warren declares it anew with its bindings; or give the resource another name", e.Name)
	if seen.Type != e.Type {
		differs(v1alpha1.ImpactUnsafe, "type", e.Type, seen.Type, recreate)
	}
	if !seen.Durable || seen.AutoDelete || seen.Internal {
		differs(v1alpha1.ImpactUnsafe, "durable", "durable, not auto-delete, not internal",
			fmt.Sprintf("durable %t, auto-delete %t, internal %t", seen.Durable, seen.AutoDelete, seen.Internal), recreate)
	}
	if alternate := text(seen.Arguments["alternate-exchange"]); alternate != e.AlternateExchange() {
		impact := v1alpha1.ImpactUnsafe
		if c.want.Names.Work == "" && e.AlternateExchange() == "" {
			// A topic's: what reaches no queue is caught all the same, by somebody else.
			impact = v1alpha1.ImpactTolerable
		}
		differs(impact, "alternate-exchange", orNone(e.AlternateExchange()), orNone(alternate), recreate)
	}
}

func text(v any) string {
	if v == nil {
		return ""
	}
	return fmt.Sprint(v)
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}
