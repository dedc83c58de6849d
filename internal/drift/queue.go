package drift

import (
	"fmt"

	"github.com/warren-mq/warren/api/v1alpha1"
	"github.com/warren-mq/warren/internal/topology"
)

func (c *comparison) compareQueue(q topology.Queue) {
	seen, there := c.seen.Queues[q.Name]
	if !there {
		c.missing(q)
		return
	}
	if !c.ours(q, seen.Arguments.Owner()) {
		return
	}
	if unavailable(seen) {
		c.result.Unavailable = append(c.result.Unavailable, seen)
	}
	c.compareQueueShape(q, seen)
	wanted := c.wantedArguments(q)
	for _, s := range settings {
		c.compareSetting(q, seen, s, wanted[s.argument])
	}
	c.compareLimitInForce(q, seen)
}

// unavailable: a quorum queue without a leader or a majority. It is there,
// and nothing must be done to it. What the broker does not tell is no claim.
func unavailable(q topology.SeenQueue) bool {
	switch q.State {
	case "down", "stopped", "minority", "crashed":
		return true
	}
	return false
}

func (c *comparison) compareQueueShape(q topology.Queue, seen topology.SeenQueue) {
	if seen.Type != "quorum" {
		observed := seen.Type
		if seen.Messages != nil {
			observed = fmt.Sprintf("%s, with %d messages", seen.Type, *seen.Messages)
		}
		c.differs(q, seen, CauseImmutable, v1alpha1.DriftEntry{
			Field: "x-queue-type", Desired: "quorum", Observed: observed, Impact: v1alpha1.ImpactUnsafe,
			Remedy: "a queue's type cannot be changed, and " + seen.Type + " queues have neither a delivery limit nor at-least-once dead-lettering: " + recreateQueue(q.Name),
		})
	}
	if !seen.Durable || seen.AutoDelete || seen.Exclusive {
		c.differs(q, seen, CauseImmutable, v1alpha1.DriftEntry{
			Field: "durable", Desired: "durable, not auto-delete, not exclusive",
			Observed: fmt.Sprintf("durable %t, auto-delete %t, exclusive %t", seen.Durable, seen.AutoDelete, seen.Exclusive),
			Impact:   v1alpha1.ImpactUnsafe, Remedy: recreateQueue(q.Name),
		})
	}
}

// wantedArguments are those of the queue and of the policy that the topology has for it.
func (c *comparison) wantedArguments(q topology.Queue) topology.Arguments {
	wanted := topology.Arguments{}
	for k, v := range q.Arguments {
		wanted[k] = v
	}
	policy := c.ownPolicy(q)
	if policy == nil {
		return wanted
	}
	for _, s := range settings {
		if v, ok := policy.Definition[s.policyKey]; ok && s.policyKey != "" {
			wanted[s.argument] = v
		}
	}
	return wanted
}

func (c *comparison) ownPolicy(q topology.Queue) *topology.Policy {
	if q.Role != topology.RoleWork {
		return nil
	}
	for _, o := range c.want.Objects {
		if p, ok := o.(topology.Policy); ok {
			return &p
		}
	}
	return nil
}

func (c *comparison) compareSetting(q topology.Queue, seen topology.SeenQueue, s setting, desired any) {
	observed := s.inForce(seen.Arguments, seen.EffectivePolicy)
	if topology.EqualValues(observed, desired) || optional(s, desired) {
		return
	}
	cause := c.causeOf(q, seen, s, desired)
	if cause == CausePolicy && c.policyIsOurs(q, seen, s) && c.kept == nil {
		// Our own policy has an old value: comparePolicy has it set again.
		return
	}
	impact, consequence := judge(q.Role, s.argument, observed, c.context(seen))
	c.differs(q, seen, cause, v1alpha1.DriftEntry{
		Field:    s.argument,
		Desired:  format(desired, observed),
		Observed: format(observed, desired),
		Impact:   impact,
		Remedy:   consequence + c.remedy(q, seen, s, desired, cause),
	})
}

// optional: settings that nobody asked for, of which any value is as good.
func optional(s setting, desired any) bool {
	switch s.argument {
	case "x-quorum-initial-group-size", "x-queue-leader-locator", "x-single-active-consumer", "x-consumer-timeout":
		return desired == nil
	}
	return false
}

// causeOf tells whether the queue's own argument is at fault or a policy.
func (c *comparison) causeOf(q topology.Queue, seen topology.SeenQueue, s setting, desired any) Cause {
	arg := seen.Arguments[s.argument]
	if arg == nil && c.livesByFormerPolicy(q, seen) {
		return CauseImmutable
	}
	if inPolicy := q.Arguments[s.argument] == nil && desired != nil; inPolicy && arg == nil {
		return CausePolicy
	}
	if topology.EqualValues(arg, desired) {
		return CausePolicy
	}
	if arg == nil && seen.EffectivePolicy[s.policyKey] != nil {
		return CausePolicy
	}
	return CauseImmutable
}

func (c *comparison) policyIsOurs(q topology.Queue, seen topology.SeenQueue, s setting) bool {
	policy := c.ownPolicy(q)
	inForce := seen.Policy == "" || seen.Policy == c.predecessor || policy != nil && seen.Policy == policy.Name
	return policy != nil && inForce && c.operatorPolicyThatSets(seen, s) == nil
}

func (c *comparison) differs(q topology.Queue, seen topology.SeenQueue, cause Cause, entry v1alpha1.DriftEntry) {
	entry.Object = q.String()
	c.result.Differences = append(c.result.Differences, Difference{
		DriftEntry: entry, Cause: cause, Adopted: !c.isOwn(seen.Arguments.Owner()),
	})
}

// format gives a value for people, and its type where the other one is of another.
func format(v, other any) string {
	switch v {
	case nil:
		return "none"
	case "":
		return `""`
	}
	s := fmt.Sprint(v)
	n, isNumber := topology.Integer(v)
	if isNumber {
		s = fmt.Sprint(n)
	}
	_, otherIsNumber := topology.Integer(other)
	if other != nil && isNumber != otherIsNumber {
		if isNumber {
			return s + " (a number)"
		}
		return fmt.Sprintf("%q (a string)", s)
	}
	return s
}
