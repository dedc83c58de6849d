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
	differs := func(field, desired, observed, remedy string) {
		c.result.Differences = append(c.result.Differences, Difference{
			Cause:   CauseImmutable,
			Adopted: !c.isOwn(seen.Arguments.Owner()),
			DriftEntry: v1alpha1.DriftEntry{
				Object: e.String(), Field: field, Desired: desired, Observed: observed,
				Impact: v1alpha1.ImpactUnsafe, Remedy: remedy,
			},
		})
	}
	recreate := fmt.Sprintf("an exchange cannot be changed: have its publishers stop, delete exchange %q, and Warren declares it anew with its bindings; or give the resource another name", e.Name)
	if seen.Type != e.Type {
		differs("type", e.Type, seen.Type, recreate)
	}
	if !seen.Durable || seen.AutoDelete || seen.Internal {
		differs("durable", "durable, not auto-delete, not internal",
			fmt.Sprintf("durable %t, auto-delete %t, internal %t", seen.Durable, seen.AutoDelete, seen.Internal), recreate)
	}
	if alternate := text(seen.Arguments["alternate-exchange"]); alternate != e.AlternateExchange() {
		differs("alternate-exchange", orNone(e.AlternateExchange()), orNone(alternate), recreate)
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
