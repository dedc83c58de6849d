package drift

import (
	"fmt"
	"regexp"

	"github.com/warren-mq/warren/api/v1alpha1"
	"github.com/warren-mq/warren/internal/topology"
)

func (c *comparison) comparePolicy(p topology.Policy) {
	there := false
	for _, seen := range c.seen.Policies {
		switch {
		case seen.Name == p.Name:
			there = samePolicy(seen, p)
		case c.succeeds(p, seen):
			c.predecessor = seen.Name
		case seen.Priority == p.Priority && covers(seen, c.want.Names.Work):
			c.ties(p, seen)
		}
	}
	switch {
	case there:
	case c.destroys(p):
		c.kept = &p
	default:
		c.missing(p)
	}
}

// succeeds tells whether a policy is what the resource had under an earlier
// name: for the same queue, by the name that the queue's mark gives it.
func (c *comparison) succeeds(ours, seen topology.Policy) bool {
	mark := c.seen.Queues[c.want.Names.Work].Arguments.Owner()
	return seen.Pattern == ours.Pattern && mark != "" && c.mayClaim(mark) && seen.Name == topology.PolicyOfOwner(mark)
}

// outlived gives the policy of an earlier name of the resource, or "", once
// ours is there. While dead letters wait in the queue, no policy goes: RabbitMQ
// destroys them together with the policy that holds their exchange (fact 22).
func (c *comparison) outlived() string {
	if mayWait(c.seen.Queues[c.want.Names.Work].DeadLettering) {
		return ""
	}
	for _, o := range c.result.Missing {
		if o.Kind() == topology.KindPolicy {
			return ""
		}
	}
	return c.predecessor
}

func samePolicy(a, b topology.Policy) bool {
	return a.Pattern == b.Pattern && a.Priority == b.Priority && a.ApplyTo == b.ApplyTo &&
		topology.EqualArguments(a.Definition, b.Definition)
}

// covers tells whether a policy applies to a quorum queue of that name. The
// broker's regular expressions know more than ours; one that we cannot read
// is taken not to match.
func covers(p topology.Policy, queue string) bool {
	switch p.ApplyTo {
	case "all", "queues", "quorum_queues":
	default:
		return false
	}
	pattern, err := regexp.Compile(p.Pattern)
	return err == nil && pattern.MatchString(queue)
}

// ties: of two policies of the same priority either may win.
func (c *comparison) ties(ours, other topology.Policy) {
	c.overridden([]string{describePolicy("policy", &other)})
	c.result.Differences = append(c.result.Differences, Difference{
		Cause: CausePolicy,
		DriftEntry: v1alpha1.DriftEntry{
			Object: topology.Queue{Name: c.want.Names.Work}.String(), Field: "policy",
			Desired:  fmt.Sprintf("%s alone has priority %d", ours, ours.Priority),
			Observed: fmt.Sprintf("%s has priority %d too", other, other.Priority),
			Impact:   v1alpha1.ImpactUnsafe,
			Remedy:   fmt.Sprintf("RabbitMQ applies one policy to a queue, and of two with the same priority either may win: give %s a lower priority, or have its pattern leave the queue out", other),
		},
	})
}
