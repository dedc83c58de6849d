package controllers

import (
	"fmt"
	"strings"

	"github.com/warren-mq/warren/api/v1alpha1"
	"github.com/warren-mq/warren/internal/drift"
	"github.com/warren-mq/warren/internal/topology"
)

// blockers are the reasons why a subscription is not established, the first
// that applies is told.
var blockers = []func(*assessment) *Problem{
	trespassing,
	unsafeToAdopt,
	waitingForSource,
	pendingSource,
	queueUnavailable,
	stillMissing,
	notProved,
}

func firstOf(checks []func(*assessment) *Problem, a *assessment) *Problem {
	for _, check := range checks {
		if p := check(a); p != nil {
			return p
		}
	}
	return nil
}

// trespassing: a name that is wanted belongs to somebody else, or to nobody.
func trespassing(a *assessment) *Problem {
	var unmarked []string
	var abandoned, owned belongings
	for _, t := range a.result.Trespass {
		switch owner := trespassOwner(a.clusterID, a.of.GetNamespace(), t); {
		case t.Owner == "":
			unmarked = append(unmarked, t.Object.String())
		case t.Abandoned:
			abandoned.add(owner, t.Object.String())
		default:
			owned.add(owner, t.Object.String())
		}
	}
	adopt := fmt.Sprintf("choose another name, or take it over with adoptionPolicy: Adopt, where Broker.spec.adoption lets namespace %q; nothing was changed", a.of.GetNamespace())
	switch {
	case len(owned) > 0:
		return problem(v1alpha1.ReasonConflict, "%s: choose another name, or delete the other resource; nothing was changed", owned.each("%s belongs to %s"))
	case len(abandoned) > 0:
		return problem(v1alpha1.ReasonNotOwned, "on the broker there is still %s: %s", abandoned.each("%s, which %s declared and left"), adopt)
	case len(unmarked) > 0:
		return problem(v1alpha1.ReasonNotOwned, "on the broker there is already %s, which Warren did not declare: %s", list(unmarked), adopt)
	}
	return nil
}

// belongings are objects of the broker by owner, in the order in which they were found.
type belongings []belonging

type belonging struct {
	owner   string
	objects []string
}

func (b *belongings) add(owner, object string) {
	for i := range *b {
		if (*b)[i].owner == owner {
			(*b)[i].objects = append((*b)[i].objects, object)
			return
		}
	}
	*b = append(*b, belonging{owner, []string{object}})
}

// each says of each owner's objects whose they are.
func (b belongings) each(format string) string {
	var sentences []string
	for _, of := range b {
		sentences = append(sentences, fmt.Sprintf(format, list(of.objects), of.owner))
	}
	return list(sentences)
}

func unsafeToAdopt(a *assessment) *Problem {
	if !a.result.UnsafeToAdopt() {
		return nil
	}
	var reasons []string
	for _, d := range a.result.Differences {
		if d.Adopted && d.Unsafe() {
			reasons = append(reasons, describe(d))
		}
	}
	return problem(v1alpha1.ReasonUnsafeToAdopt, "what is on the broker would cost messages as it is, and stays unbound: %s", list(reasons))
}

func describe(d drift.Difference) string {
	if d.Cause == drift.CauseBinding {
		return "unexpected " + d.Observed
	}
	return fmt.Sprintf("%s of %s is %s, wanted %s", d.Field, d.Object, d.Observed, d.Desired)
}

// waitingForSource: a topic that is not there, or may not be used.
func waitingForSource(a *assessment) *Problem { return a.problem }

func pendingSource(a *assessment) *Problem {
	if len(a.result.Pending) == 0 {
		return nil
	}
	var exchanges []string
	for _, b := range a.result.Pending {
		exchanges = append(exchanges, fmt.Sprintf("%q", b.Source))
	}
	return problem(v1alpha1.ReasonTopicNotDeclared,
		"exchange %s does not exist on the broker yet: everything else is declared, and the queue is bound as soon as it is there", list(exchanges))
}

func queueUnavailable(a *assessment) *Problem {
	if len(a.result.Unavailable) == 0 {
		return nil
	}
	var queues []string
	for _, q := range a.result.Unavailable {
		queues = append(queues, fmt.Sprintf("queue %q is %s (%d of %d members online)", q.Name, q.State, len(q.Online), len(q.Members)))
	}
	return problem(v1alpha1.ReasonQueueUnavailable, "%s: bring the broker's nodes back; it is not touched", list(queues))
}

func stillMissing(a *assessment) *Problem {
	if len(a.result.Missing) == 0 {
		return nil
	}
	if a.paused() {
		return problem(v1alpha1.ReasonPaused, "annotation %s keeps Warren from declaring what is not on the broker: %s", v1alpha1.PausedAnnotation, list(objectNames(a.result.Missing)))
	}
	return problem(v1alpha1.ReasonDeclaring, "not on the broker yet: %s", list(objectNames(a.result.Missing)))
}

func notProved(a *assessment) *Problem {
	if len(a.result.Unproved) == 0 {
		return nil
	}
	return problem(v1alpha1.ReasonNoRoute, "%s", list(a.result.Unproved))
}

func objectNames(objects []topology.Object) []string {
	names := make([]string, 0, len(objects))
	for _, o := range objects {
		names = append(names, o.String())
	}
	return names
}

// list names at most ten things, without repeating one.
func list(items []string) string {
	const most = 10
	seen := map[string]bool{}
	var distinct []string
	for _, s := range items {
		if !seen[s] {
			seen[s] = true
			distinct = append(distinct, s)
		}
	}
	if more := len(distinct) - most; more > 0 {
		return strings.Join(distinct[:most], ", ") + fmt.Sprintf(" and %d more", more)
	}
	return strings.Join(distinct, ", ")
}
