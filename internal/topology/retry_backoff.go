package topology

import (
	"fmt"
	"time"

	"github.com/warren-mq/warren/api/v1alpha1"
)

// backoff is a ladder of wait queues. Rung k comes back through an exchange
// of its own, which RabbitMQ notes as x-last-death-exchange when the message
// is rejected again: that tells which rung is next, and neither the consumer
// nor the routing key has to.
type backoff struct {
	*compiler
	delays []time.Duration
}

func newBackoff(c *compiler, delays []v1alpha1.Duration) (strategy, error) {
	if len(delays) == 0 {
		return nil, refuse(v1alpha1.ReasonInvalidSpec, "spec.retry.backoff.delays is empty: give at least one delay, or leave retry out")
	}
	b := backoff{compiler: c}
	for i, d := range delays {
		v, err := parseDuration(fmt.Sprintf("spec.retry.backoff.delays[%d]", i), d)
		if err != nil {
			return nil, err
		}
		b.delays = append(b.delays, v)
	}
	return b, nil
}

func (b backoff) rungs() int { return len(b.delays) }

func (b backoff) wait(k int) string { return b.names.Wait(k, b.delays[k-1]) }

func (b backoff) objects() []Object {
	objects := b.retryExchanges()
	for k := 1; k <= b.rungs(); k++ {
		objects = append(objects,
			b.exchange(b.names.Return(k), Fanout, nil),
			b.waitQueue(b.wait(k), b.delays[k-1], b.names.Return(k)))
	}
	return objects
}

func (b backoff) bindings() []Object {
	var objects []Object
	for k := 1; k <= b.rungs(); k++ {
		objects = append(objects, b.bindQueue(b.names.Return(k), b.names.Work, nil))
	}
	for k := 1; k < b.rungs(); k++ {
		objects = append(objects, b.bindQueue(b.names.Retry(), b.wait(k+1), cameThrough(b.names.Return(k))))
	}
	// The top rung parks, and so does every rung that an earlier, longer
	// ladder had: what still waits there comes back through its exchange.
	for k := b.rungs(); k <= max(b.rungs(), b.in.Ladder.HighestRung); k++ {
		objects = append(objects, b.bindExchange(b.names.Retry(), b.names.Park(), cameThrough(b.names.Return(k))))
	}
	return append(objects, b.firstRung(b.wait(1))...)
}

func (b backoff) routes() []Route {
	routes := []Route{dying("a first rejection", b.names.Work, "rejected", "", b.wait(1))}
	for k := 1; k <= b.rungs(); k++ {
		next, means := b.names.Parking, "a rejection after the last delay"
		if k < b.rungs() {
			next, means = b.wait(k+1), fmt.Sprintf("a rejection after delay %d", k)
		}
		routes = append(routes,
			dying(fmt.Sprintf("the return after delay %d", k), b.wait(k), "expired", b.names.Retry(), b.names.Work),
			dying(means, b.names.Work, "rejected", b.names.Return(k), next))
	}
	return routes
}

func (b backoff) workArguments() Arguments { return nil }

func (b backoff) retries() int64 { return int64(len(b.delays)) }

func (b backoff) retry(limit int64) Retry {
	var sum time.Duration
	for _, d := range b.delays {
		sum += d
	}
	return Retry{
		Strategy:            "backoff " + joinDurations(b.delays),
		CountedBy:           v1alpha1.CountedByBroker,
		MaxDeliveries:       b.retries() + 1,
		WorstCaseDeliveries: b.worstCase(limit, b.retries()),
		TimeToParking:       sum,
	}
}

// worstCase is the most deliveries of a message that is rejected retries
// times and requeued in between as often as the delivery limit allows. Where the count
// comes along across hops there is one allowance for the whole way, else one
// for each stay in the work queue.
func (c *compiler) worstCase(limit, retries int64) int64 {
	if c.in.Broker.CarriesDeliveryCount() {
		return limit + retries + 1
	}
	return (limit + 1) * (retries + 1)
}
