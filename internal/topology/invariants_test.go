package topology_test

import (
	"fmt"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/warren-mq/warren/internal/topology"
)

// invariants hold for whatever a subscription asks for. Each gives the first
// breach that it finds, or "".
var invariants = []struct {
	rule   string
	breach func(*topology.Topology) string
}{
	{"the parking side comes first", parkingSideFirst},
	{"the bindings to the sources come last", sourcesLast},
	{"what something leads to is declared before it", waysOutFirst},
	{"a policy comes before its queue and matches no other", policyBeforeItsQueue},
	{"nothing is declared twice", nothingTwice},
	{"every queue and exchange bears the owner's mark", everythingMarked},
	{"every queue is a quorum queue that rejects publishes when it is full", everyQueueQuorum},
	{"what waits or is parked is never given up for being looked at", noLimitOnWaitAndParking},
	{"nothing but a wait queue lets messages expire, and only after its delay", onlyWaitQueuesExpire},
	{"no name is too long for RabbitMQ", namesFit},
	{"every route ends where it must", routesEnd},
	{"only a rejection leads into a retry: a loop without one never gets home", onlyRejectionsAreRetried},
}

func TestInvariants(t *testing.T) {
	for name, in := range everySubscription(t) {
		compiled := compile(t, in)
		for _, i := range invariants {
			if breach := i.breach(compiled); breach != "" {
				t.Errorf("%s: %s: %s", name, i.rule, breach)
			}
		}
	}
}

func parkingSideFirst(compiled *topology.Topology) string {
	n := compiled.Names
	want := []string{
		fmt.Sprintf("exchange %q", n.Park()),
		fmt.Sprintf("queue %q", n.Parking),
		fmt.Sprintf("binding of queue %q to exchange %q", n.Parking, n.Park()),
	}
	for i, w := range want {
		if got := compiled.Objects[i].String(); got != w {
			return fmt.Sprintf("object %d is %s, want %s", i, got, w)
		}
	}
	return ""
}

func sourcesLast(compiled *topology.Topology) string {
	in := false
	for _, o := range compiled.Objects {
		b, isBinding := o.(topology.Binding)
		fromSource := isBinding && !compiled.Names.OwnsExchange(b.Source)
		if in && !fromSource {
			return o.String() + " comes after a source"
		}
		in = fromSource
	}
	return ""
}

func waysOutFirst(compiled *topology.Topology) string {
	declared := map[string]bool{}
	for _, o := range compiled.Objects {
		var needs []string
		switch o := o.(type) {
		case topology.Exchange:
			needs = []string{o.AlternateExchange()}
			declared["exchange "+o.Name] = true
		case topology.Queue:
			needs = []string{deadLetterExchange(queuesOf(compiled)[o.Name])}
			declared["queue "+o.Name] = true
		case topology.Binding:
			if !declared[fmt.Sprintf("%s %s", o.DestinationKind, o.Destination)] {
				return o.String() + " leads to what is declared later"
			}
			if compiled.Names.OwnsExchange(o.Source) {
				needs = []string{o.Source}
			}
		}
		for _, exchange := range needs {
			if exchange != "" && !declared["exchange "+exchange] {
				return fmt.Sprintf("%s needs exchange %q, which is declared later or not at all", o, exchange)
			}
		}
	}
	return ""
}

func deadLetterExchange(q topology.Queue) string {
	name, _ := q.Arguments["x-dead-letter-exchange"].(string)
	return name
}

func policyBeforeItsQueue(compiled *topology.Topology) string {
	for i, o := range compiled.Objects {
		p, ok := o.(topology.Policy)
		if !ok {
			continue
		}
		next, ok := compiled.Objects[i+1].(topology.Queue)
		pattern := regexp.MustCompile(p.Pattern)
		if !ok || !pattern.MatchString(next.Name) {
			return fmt.Sprintf("%s is followed by %s", p, compiled.Objects[i+1])
		}
		if w := next.Name; pattern.MatchString(w+"x") || pattern.MatchString("x"+w) {
			return fmt.Sprintf("%s matches more than %q", p, w)
		}
		for name := range queuesOf(compiled) {
			if name != next.Name && pattern.MatchString(name) {
				return fmt.Sprintf("%s matches %q", p, name)
			}
		}
	}
	return ""
}

func nothingTwice(compiled *topology.Topology) string {
	var seen []string
	for _, o := range compiled.Objects {
		if slices.Contains(seen, o.String()) {
			return o.String()
		}
		seen = append(seen, o.String())
	}
	return ""
}

func everythingMarked(compiled *topology.Topology) string {
	for _, o := range compiled.Objects {
		var args topology.Arguments
		switch o := o.(type) {
		case topology.Exchange:
			args = o.Arguments
		case topology.Queue:
			args = o.Arguments
		case topology.Binding:
			if compiled.Names.OwnsExchange(o.Source) {
				continue // known by where it leads
			}
			args = o.Arguments
		default:
			continue
		}
		if args.Owner() != compiled.Owner {
			return fmt.Sprintf("%s bears mark %q", o, args.Owner())
		}
	}
	return ""
}

func everyQueueQuorum(compiled *topology.Topology) string {
	for name, q := range queuesOf(compiled) {
		if q.Arguments["x-queue-type"] != "quorum" || q.Arguments["x-overflow"] != "reject-publish" || q.Arguments["x-dead-letter-strategy"] == nil {
			return fmt.Sprintf("%s has %v", name, q.Arguments)
		}
	}
	return ""
}

func noLimitOnWaitAndParking(compiled *topology.Topology) string {
	for name, q := range queuesOf(compiled) {
		limit := q.Arguments["x-delivery-limit"]
		if unlimited := limit == topology.Unlimited; unlimited != (q.Role != topology.RoleWork) {
			return fmt.Sprintf("%s queue %q has limit %v", q.Role, name, limit)
		}
	}
	return ""
}

func onlyWaitQueuesExpire(compiled *topology.Topology) string {
	for name, q := range queuesOf(compiled) {
		ttl, has := q.Arguments["x-message-ttl"].(int64)
		if has != (q.Role == topology.RoleWait) || (has && ttl < 1) {
			return fmt.Sprintf("%s queue %q has x-message-ttl %v", q.Role, name, q.Arguments["x-message-ttl"])
		}
	}
	return ""
}

func namesFit(compiled *topology.Topology) string {
	for _, o := range compiled.Objects {
		var name string
		switch o := o.(type) {
		case topology.Exchange:
			name = o.Name
		case topology.Queue:
			name = o.Name
		}
		if len(name) > 255 {
			return fmt.Sprintf("%s has %d bytes", name, len(name))
		}
	}
	return ""
}

func routesEnd(compiled *topology.Topology) string {
	seen, queues := snapshotOf(compiled), queuesOf(compiled)
	for _, r := range compiled.Routes {
		start := r.Exchange
		if r.Queue != "" {
			start = deadLetterExchange(queues[r.Queue])
		}
		if got := topology.Resolve(seen, start, topology.Message{Headers: r.Headers}); !slices.Equal(got, []string{r.To}) {
			return fmt.Sprintf("%s reaches %q, want %q", r.Means, got, r.To)
		}
	}
	return ""
}

func onlyRejectionsAreRetried(compiled *topology.Topology) string {
	for _, reason := range []string{"expired", "delivery_limit", "maxlen"} {
		for _, through := range entrances(compiled) {
			if to := dies(compiled, compiled.Names.Work, reason, through); to != compiled.Names.Parking {
				return fmt.Sprintf("what came through %q and dies by %s goes to %q", through, reason, to)
			}
		}
	}
	return ""
}

// entrances are the exchanges through which a message can have come into the work queue.
func entrances(compiled *topology.Topology) []string {
	var names []string
	for _, o := range compiled.Objects {
		if b, ok := o.(topology.Binding); ok && b.Destination == compiled.Names.Work {
			names = append(names, b.Source)
		}
	}
	return names
}

// dies tells which queue a message comes to that dies in a queue into which
// it had come through an exchange. More than one queue gives their list.
func dies(compiled *topology.Topology, queue, reason, through string) string {
	reached := topology.Resolve(snapshotOf(compiled), deadLetterExchange(queuesOf(compiled)[queue]),
		topology.Message{Headers: map[string]string{"x-last-death-reason": reason, "x-last-death-exchange": through}})
	if len(reached) != 1 {
		return fmt.Sprint(reached)
	}
	return reached[0]
}

// A message that is always rejected climbs the ladder: as many deliveries and
// as long a time as the status promises, then it is parked.
func TestARejectedMessageClimbsTheLadder(t *testing.T) {
	for name, in := range everySubscription(t) {
		if in.Spec.Retry != nil && in.Spec.Retry.Backoff == nil {
			continue
		}
		compiled := compile(t, in)
		deliveries, waited, parked := rejectAlways(compiled, "orders")
		if !parked || deliveries != compiled.Retry.MaxDeliveries || waited != compiled.Retry.TimeToParking {
			t.Errorf("%s: parked %t after %d deliveries and %v, want %d and %v",
				name, parked, deliveries, waited, compiled.Retry.MaxDeliveries, compiled.Retry.TimeToParking)
		}
	}
}

// A redriven message starts afresh, and one that was published directly has the same ladder.
func TestEveryEntranceStartsAtTheFirstRung(t *testing.T) {
	compiled := compile(t, subscription(t, `retry: {backoff: {delays: [5s, 30s, 5m]}}`))
	for _, entrance := range []string{"orders", compiled.Names.Redrive(), ""} {
		if deliveries, _, _ := rejectAlways(compiled, entrance); deliveries != 4 {
			t.Errorf("through %q: %d deliveries, want 4", entrance, deliveries)
		}
	}
}

// Only the consumer ends the loop of a fixed delay: the broker never parks a rejected message.
func TestAFixedDelayGoesOn(t *testing.T) {
	compiled := compile(t, subscription(t, `retry: {fixedDelay: {delay: 30s, maxAttempts: 5}}`))
	if deliveries, _, parked := rejectAlways(compiled, "orders"); parked || deliveries != manyDeliveries {
		t.Errorf("parked %t after %d deliveries", parked, deliveries)
	}
}

const manyDeliveries = 50

// rejectAlways follows a message that came through an exchange and is rejected whenever it is delivered.
func rejectAlways(compiled *topology.Topology, through string) (deliveries int64, waited time.Duration, parked bool) {
	for deliveries < manyDeliveries {
		deliveries++
		next := dies(compiled, compiled.Names.Work, "rejected", through)
		if next == compiled.Names.Parking {
			return deliveries, waited, true
		}
		wait := queuesOf(compiled)[next]
		ttl, _ := wait.Arguments["x-message-ttl"].(int64)
		waited += time.Duration(ttl) * time.Millisecond
		if back := dies(compiled, next, "expired", compiled.Names.Retry()); back != compiled.Names.Work {
			return deliveries, waited, false
		}
		through = deadLetterExchange(wait)
	}
	return deliveries, waited, false
}
