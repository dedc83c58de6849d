package drift

import (
	"fmt"
	"slices"
	"strings"

	"github.com/warren-mq/warren/internal/topology"
)

// unproved follows each route of a topology over what was seen, and tells
// which do not end where they must. Objects that exist prove nothing: what
// connects them does.
func unproved(want *topology.Topology, seen *topology.Snapshot) []string {
	own := map[string]bool{}
	for _, o := range want.Objects {
		if q, ok := o.(topology.Queue); ok {
			own[q.Name] = true
		}
	}
	var sentences []string
	for _, r := range want.Routes {
		if problem := prove(r, own, seen); problem != "" {
			sentences = append(sentences, problem)
		}
	}
	return sentences
}

func prove(r topology.Route, own map[string]bool, seen *topology.Snapshot) string {
	start := r.Exchange
	if r.Queue != "" {
		queue, there := seen.Queues[r.Queue]
		if !there {
			return fmt.Sprintf("%s: queue %q is not there", r.Means, r.Queue)
		}
		start = text(queue.Argument("x-dead-letter-exchange"))
	}
	reached := slices.DeleteFunc(topology.Resolve(seen, start, topology.Message{Headers: r.Headers}), func(q string) bool { return !own[q] })
	if len(reached) == 1 && reached[0] == r.To {
		return ""
	}
	if len(reached) == 0 {
		return fmt.Sprintf("%s reaches no queue, in place of %q", r.Means, r.To)
	}
	return fmt.Sprintf("%s reaches %s, in place of %q alone", r.Means, strings.Join(reached, ", "), r.To)
}
