package drift

import (
	"fmt"
	"slices"
	"strings"

	"github.com/warren-mq/warren/api/v1alpha1"
	"github.com/warren-mq/warren/internal/topology"
)

// examineAdopted looks at what an adopted work queue is part of, where its
// dead letters do not come to Warren's exchange: whoever has to decide how to go
// on must know what it costs today. Nothing of it is changed.
func (c *comparison) examineAdopted() {
	work, there := c.seen.Queues[c.want.Names.Work]
	if !there || c.isOwn(work.Arguments.Owner()) || !c.mayClaim(work.Arguments.Owner()) {
		return
	}
	if deadLetterExchange(work) == c.want.Names.Dead() {
		return
	}
	e := examination{comparison: c, work: work}
	if deadLetters(work) {
		e.traceKeys()
		e.tellLost()
		e.tellElsewhere()
		e.tellCycles()
		e.tellWeakHops()
	}
	e.tellUnfedParking()
	e.tellSharedParking()
	e.tellReturnsIntoSources()
	e.tellSharedKeys()
}

// examination of an adopted work queue.
type examination struct {
	*comparison
	work topology.SeenQueue
	// traces of what dies in the work queue, one for each end that it comes to.
	traces []trace
}

func (e *examination) tell(object topology.Object, impact v1alpha1.Impact, field, desired, observed, remedy string) {
	e.result.Differences = append(e.result.Differences, Difference{
		Cause: CauseImmutable, Adopted: true,
		DriftEntry: v1alpha1.DriftEntry{
			Object: object.String(), Field: field, Desired: desired, Observed: observed, Impact: impact, Remedy: remedy,
		},
	})
}

const (
	fieldRoute  = "dead-letter route"
	fieldCycle  = "dead-letter cycle"
	fieldReturn = "dead letters that come back"
	fieldKey    = "routing key"
)

// tellLost: B2 and B3 among the field's faults, the way that is not there.
func (e *examination) tellLost() {
	keys := e.keysOf(func(t trace) bool { return t.end == endLost && len(t.queues) == 1 })
	if keys == nil {
		return
	}
	exchange := deadLetterExchange(e.work)
	why := fmt.Sprintf("exchange %q has no binding for it: bind queue %q there", exchange, e.want.Names.Parking)
	switch {
	case exchange == "":
		why = "RabbitMQ's default exchange takes a routing key for the name of a queue, and there is none of that name: a dead-letter routing key is needed"
	case !e.exchangeExists(exchange):
		why = fmt.Sprintf("exchange %q does not exist", exchange)
	}
	e.tell(e.workQueue(), v1alpha1.ImpactUnsafe, fieldRoute, fmt.Sprintf("queue %q", e.want.Names.Parking), "no queue"+forKeys(keys),
		fmt.Sprintf("what dies in queue %q %s: %s; or %s", e.work.Name, fate(e.work, "is lost", "stands still there and holds up what dies behind it"), why, recreateQueue(e.work.Name)))
}

// tellElsewhere: dead letters that park where this subscription does not look.
func (e *examination) tellElsewhere() {
	for _, queue := range e.ends() {
		if queue == e.want.Names.Parking {
			continue
		}
		keys := e.keysOf(func(t trace) bool { return t.end == endQueue && t.last() == queue })
		shared := ""
		if others := e.feeders(queue); len(others) > 0 {
			shared = ", among the dead letters of " + quotedQueues(others)
		}
		e.tell(e.workQueue(), v1alpha1.ImpactUnsafe, fieldRoute, fmt.Sprintf("queue %q", e.want.Names.Parking), fmt.Sprintf("queue %q", queue)+forKeys(keys),
			fmt.Sprintf("what dies in queue %q ends where nobody looks for it%s: name queue %q in spec.parkingQueue if it is this queue's alone, else lead it to queue %q; or %s",
				e.work.Name, shared, queue, e.want.Names.Parking, recreateQueue(e.work.Name)))
	}
}

// tellCycles: A4 among the field's faults. What comes round without a
// rejection is a cycle to RabbitMQ, which drops it or keeps it for good (fact 1).
func (e *examination) tellCycles() {
	var told []string
	for _, t := range e.traces {
		chain := strings.Join(t.queues, " -> ")
		if t.end != endCycle || slices.Contains(told, chain) {
			continue
		}
		told = append(told, chain)
		last := e.seen.Queues[t.queues[len(t.queues)-2]]
		e.tell(e.workQueue(), v1alpha1.ImpactUnsafe, fieldCycle, "none", chain,
			fmt.Sprintf("a message that comes round without a rejection (it exceeded the delivery limit%s, or expired) is a cycle to RabbitMQ and %s: lead only rejections into the loop, and all else to queue %q; or %s",
				limitInForce(e.work.DeliveryLimit), fate(last, "is dropped", fmt.Sprintf("stands still in queue %q for ever", last.Name)), e.want.Names.Parking, recreateQueue(e.work.Name)))
	}
}

// tellWeakHops: queues on the way that dead-letter at most once.
func (e *examination) tellWeakHops() {
	var told []string
	for _, t := range e.traces {
		for _, name := range t.hops() {
			queue := e.seen.Queues[name]
			if slices.Contains(told, name) || atLeastOnceInForce(queue) {
				continue
			}
			told = append(told, name)
			e.tell(topology.Queue{Name: name}, v1alpha1.ImpactUnsafe, "x-dead-letter-strategy", "at-least-once, with overflow reject-publish",
				fmt.Sprintf("%s, with overflow %s", orNone(text(inForce(queue, "x-dead-letter-strategy"))), orNone(text(inForce(queue, "x-overflow")))),
				fmt.Sprintf("what comes from queue %q waits here, and may be lost when it leaves: %s", e.work.Name, recreateQueue(name)))
		}
	}
}

// tellUnfedParking: a parking queue that is there, and no dead letter comes to it.
func (e *examination) tellUnfedParking() {
	parking := e.want.Names.Parking
	queue, there := e.seen.Queues[parking]
	if !there || e.isOwn(queue.Arguments.Owner()) || slices.Contains(e.ends(), parking) {
		return
	}
	var sources []string
	for _, b := range e.seen.BindingsTo(topology.KindQueue, parking) {
		sources = append(sources, fmt.Sprintf("%q", b.Source))
	}
	slices.Sort(sources)
	observed := "nothing is bound to it"
	if len(sources) > 0 {
		observed = "only what is published to exchange " + strings.Join(slices.Compact(sources), ", ")
	}
	e.tell(topology.Queue{Name: parking}, v1alpha1.ImpactUnsafe, fieldRoute, fmt.Sprintf("what dies in queue %q", e.work.Name), observed,
		fmt.Sprintf("no dead letter of queue %q comes here: %s", e.work.Name, recreateQueue(e.work.Name)))
}

// tellSharedParking: a parking queue that keeps what died elsewhere too, which
// would come to this work queue when it is brought back.
func (e *examination) tellSharedParking() {
	parking, there := e.seen.Queues[e.want.Names.Parking]
	if !there || e.isOwn(parking.Arguments.Owner()) {
		return
	}
	others := e.feeders(parking.Name)
	if len(others) == 0 {
		return
	}
	e.tell(topology.Queue{Name: parking.Name}, v1alpha1.ImpactUnsafe, fieldRoute, fmt.Sprintf("what dies in queue %q, and nothing else", e.work.Name),
		"also what dies in "+quotedQueues(others),
		fmt.Sprintf("nobody can tell whose a parked message is, and bringing them back would give all of them to queue %q: choose a parking queue of its own in spec.parkingQueue", e.work.Name))
}

func (e *examination) workQueue() topology.Queue { return topology.Queue{Name: e.work.Name} }

func (e *examination) exchangeExists(name string) bool {
	_, there := e.seen.Exchanges[name]
	return there
}

// fate of a dead letter that has no way, by how the queue dead-letters.
func fate(q topology.SeenQueue, atMostOnce, atLeastOnce string) string {
	if atLeastOnceInForce(q) {
		return atLeastOnce
	}
	return atMostOnce
}
