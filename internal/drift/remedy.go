package drift

import (
	"fmt"
	"slices"
	"strings"

	"github.com/warren-mq/warren/internal/topology"
)

// remedy says what a person has to do.
func (c *comparison) remedy(q topology.Queue, seen topology.SeenQueue, s setting, desired any, cause Cause) string {
	switch {
	case cause == CauseImmutable && seen.Arguments[s.argument] == nil && c.livesByFormerPolicy(q, seen):
		return fmt.Sprintf("The queue was made with settings: Policy and lives by %s, which stays as it is: RabbitMQ cannot give arguments to a queue that exists. Set settings to Policy again, which changes it live; or %s",
			topology.Policy{Name: seen.Policy}, recreateQueue(q.Name))
	case cause == CausePolicy && c.kept != nil && c.policyIsOurs(q, seen, s):
		return c.keptRemedy()
	case cause == CausePolicy:
		return c.policyRemedy(q, seen, s, desired)
	}
	way := fmt.Sprintf("RabbitMQ cannot change %s of a queue: %s", s.argument, recreateQueue(q.Name))
	if specHas(q.Role, s.argument) {
		way += "; or set the spec to what is there"
	}
	return way
}

// livesByFormerPolicy tells whether a work queue has its settings by the
// policy that an earlier spec (settings: Policy) made for it.
func (c *comparison) livesByFormerPolicy(q topology.Queue, seen topology.SeenQueue) bool {
	return q.Role == topology.RoleWork && c.ownPolicy(q) == nil && seen.Policy != "" && seen.Policy == topology.PolicyOfOwner(c.want.Owner)
}

// specHas tells whether a spec can say what a queue of this role has.
func specHas(role topology.Role, argument string) bool {
	switch argument {
	case "x-queue-leader-locator", "x-quorum-initial-group-size":
		return true
	case argumentDeliveryLimit, "x-max-length", "x-single-active-consumer", "x-consumer-timeout", "x-delayed-retry-type", "x-delayed-retry-min", "x-delayed-retry-max", "x-dead-letter-strategy":
		return role == topology.RoleWork
	}
	return false
}

// policyRemedy: of the policies of a queue one is in force, and an operator
// policy beside it. Where ours should be the one, it is of no use to change a
// key of another that wins over it.
func (c *comparison) policyRemedy(q topology.Queue, seen topology.SeenQueue, s setting, desired any) string {
	ours := c.ownPolicy(q)
	culprits := c.culprits(q, seen, s)
	c.overridden(culprits)
	switch {
	case c.winsOverOurs(q, seen):
		return fmt.Sprintf("RabbitMQ applies one policy to a queue, and %s wins over %s: give it a lower priority, or have its pattern leave queue %q out.",
			culprits[0], describePolicy("policy", ours), seen.Name)
	case len(culprits) == 0:
		return fmt.Sprintf("Find the policy that sets %s for queue %q, and have its pattern leave the queue out.", s.policyKey, seen.Name)
	case desired != nil && seen.Arguments[s.argument] == nil && !s.lowest && ours == nil:
		// An adopted queue. Without the policy it would have nothing.
		return fmt.Sprintf("The queue has no %s of its own, so %s decides: set %s to %v there.", s.argument, strings.Join(culprits, " and "), s.policyKey, desired)
	}
	way := fmt.Sprintf("Take %s out of %s, or have its pattern leave queue %q out", s.policyKey, strings.Join(culprits, " and of "), seen.Name)
	if q.Role != topology.RoleWork && c.operatorPolicyThatSets(seen, s) == nil {
		way += "; or " + c.shieldAdvice()
	}
	return way + "."
}

// shieldAdvice: a shield that is up has no room for every name.
func (c *comparison) shieldAdvice() string {
	if slices.ContainsFunc(c.seen.Policies, func(p topology.Policy) bool { return strings.HasPrefix(p.Name, topology.ShieldPrefix) }) {
		return "give it its default name, for which the shield policy always has room"
	}
	return "set Broker.spec.shieldPolicy, which keeps such policies off wait and parking queues"
}

// culprits are the policies that decide a setting of a queue in place of ours,
// or of its argument.
func (c *comparison) culprits(q topology.Queue, seen topology.SeenQueue, s setting) []string {
	policy := named(c.seen.Policies, seen.Policy)
	if c.winsOverOurs(q, seen) {
		return []string{describePolicy("policy", policy)}
	}
	var culprits []string
	if c.ownPolicy(q) == nil && policy != nil && sets(policy, s) {
		culprits = append(culprits, describePolicy("policy", policy))
	}
	if operator := c.operatorPolicyThatSets(seen, s); operator != nil {
		culprits = append(culprits, describePolicy("operator policy", operator))
	}
	return culprits
}

// winsOverOurs tells whether another policy is in force where ours should be.
func (c *comparison) winsOverOurs(q topology.Queue, seen topology.SeenQueue) bool {
	ours, policy := c.ownPolicy(q), named(c.seen.Policies, seen.Policy)
	return ours != nil && policy != nil && policy.Name != ours.Name
}

func (c *comparison) overridden(by []string) {
	for _, policy := range by {
		if !slices.Contains(c.result.Overriding, policy) {
			c.result.Overriding = append(c.result.Overriding, policy)
		}
	}
}

// operatorPolicyThatSets gives the operator policy of a queue, if it has this setting.
func (c *comparison) operatorPolicyThatSets(seen topology.SeenQueue, s setting) *topology.Policy {
	if p := named(c.seen.OperatorPolicies, seen.OperatorPolicy); p != nil && sets(p, s) {
		return p
	}
	return nil
}

func named(policies []topology.Policy, name string) *topology.Policy {
	for i := range policies {
		if name != "" && policies[i].Name == name {
			return &policies[i]
		}
	}
	return nil
}

func sets(p *topology.Policy, s setting) bool {
	_, ok := p.Definition[s.policyKey]
	return ok
}

func describePolicy(kind string, p *topology.Policy) string {
	return fmt.Sprintf("%s %q (priority %d)", kind, p.Name, p.Priority)
}

// recreateQueue never tells anybody to delete what holds messages.
func recreateQueue(name string) string {
	return fmt.Sprintf("stop what publishes into queue %q, let it drain, delete it when it is empty, and Warren declares it anew", name)
}
