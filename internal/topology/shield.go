package topology

import (
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
)

// ShieldPrefix begins the names of shield policies.
const ShieldPrefix = "warren-shield."

const (
	// shieldPriority is the highest that fits into 32 bits, so that no policy
	// that was made without this one in mind is above it.
	shieldPriority = math.MaxInt32
	// maxPatternBytes of a policy: RabbitMQ 4.3 refuses a longer one; 4.0
	// takes up to what its regular expressions can do.
	maxPatternBytes = 1024
	// keptNames are those that Warren gives to the queues in which messages are kept.
	keptNames = `(?:parking|unroutable|wait\.(?:[0-9]+\.)?(?:[0-9]+(?:h|m|s|ms))+)`
)

var keptName = regexp.MustCompile(`\.` + keptNames + `$`)

// Shield is the policy that keeps the policies of others off the queues in
// which messages are kept: wait, parking and unroutable queues. RabbitMQ
// applies one policy to a queue, and what this one sets, those queues have by
// argument anyway.
//
// Its pattern goes by Warren's names, takes in those of our queues that have
// others, and leaves out the queues of somebody else that happen to have such
// a name. Ours tells whether a mark is one of ours. What does not fit into a
// pattern is returned, sorted: our queues that are not shielded and others'
// that are.
func Shield(name string, seen *Snapshot, ours func(mark string) bool) (shield Policy, unfitting []string) {
	var added, excluded []string
	for _, queue := range slices.Sorted(maps.Keys(seen.Queues)) {
		q := seen.Queues[queue]
		switch named, kept := keptName.MatchString(queue), keeps(q) && ours(q.Arguments.Owner()); {
		case kept && !named:
			added = append(added, queue)
		case named && !kept && q.Type == "quorum":
			excluded = append(excluded, queue)
		}
	}
	pattern, unfitting := shieldPattern(added, excluded)
	return Policy{
		Name: name, Pattern: pattern, ApplyTo: "quorum_queues", Priority: shieldPriority,
		Definition: Arguments{"overflow": rejectPublish},
	}, unfitting
}

// keeps tells a queue in which messages are kept from a work queue: its
// delivery limit is off.
func keeps(q SeenQueue) bool {
	limit, ok := Integer(q.Arguments["x-delivery-limit"])
	return ok && limit < 0
}

// shieldPattern takes as many names as fit: others' first, since a policy of
// ours has no business on their queues.
func shieldPattern(added, excluded []string) (pattern string, unfitting []string) {
	var in, out []string
	build := func() string {
		var s strings.Builder
		s.WriteString("^")
		if len(out) > 0 {
			s.WriteString("(?!(?:" + strings.Join(out, "|") + ")$)")
		}
		s.WriteString(`(?:.*\.` + keptNames)
		for _, name := range in {
			s.WriteString("|" + name)
		}
		s.WriteString(")$")
		return s.String()
	}
	fit := func(names []string, list *[]string) {
		for _, name := range names {
			*list = append(*list, regexp.QuoteMeta(name))
			if len(build()) > maxPatternBytes {
				*list = (*list)[:len(*list)-1]
				unfitting = append(unfitting, name)
			}
		}
	}
	fit(excluded, &out)
	fit(added, &in)
	slices.Sort(unfitting)
	return build(), unfitting
}
