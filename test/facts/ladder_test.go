package facts

import (
	"fmt"
	"testing"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/warren-mq/warren/test/amqptest"
)

// ladder is the frame of a subscription with backoff, as small as it can be:
// the work queue is "work", what is given up ends in "parking".
type ladder struct{ rungs int }

// ladder declares a ladder whose waits are tens of milliseconds long.
func (l *lab) ladder(t *testing.T, rungs, limit int) ladder {
	t.Helper()
	l.exchange(t, "park", "fanout")
	l.queue(t, "parking")
	l.bind(t, "parking", "park", "")
	l.exchange(t, "first", "fanout")
	l.exchange(t, "retry", "headers", alternate("first"))
	l.exchange(t, "dead", "headers", alternate("park"))
	l.queue(t, "work", deadLetters("dead"), deliveryLimit(limit))

	r := ladder{rungs: rungs}
	for k := 1; k <= rungs; k++ {
		l.queue(t, r.wait(k), deadLetters(r.back(k)), deliveryLimit(-1), ttl(30*k))
		l.exchange(t, r.back(k), "fanout")
		l.bind(t, "work", r.back(k), "")
	}
	l.bind(t, r.wait(1), "first", "")
	for k := 1; k < rungs; k++ {
		l.bind(t, r.wait(k+1), "retry", "", whereHeaders(amqp.Table{"x-last-death-exchange": r.back(k)}))
	}
	l.link(t, "park", "retry", whereHeaders(amqp.Table{"x-last-death-exchange": r.back(rungs)}))
	l.link(t, "retry", "dead", whereHeaders(amqp.Table{"x-last-death-reason": "rejected"}))
	return r
}

func (ladder) wait(k int) string { return fmt.Sprintf("wait.%d", k) }
func (ladder) back(k int) string { return fmt.Sprintf("return.%d", k) }

// climb is what the deliveries of a message that is rejected each time say of
// its last death: it went up rung by rung.
func (r ladder) climb() []amqptest.Death {
	climb := []amqptest.Death{{}}
	for k := 1; k <= r.rungs; k++ {
		climb = append(climb, amqptest.Death{Reason: "expired", Queue: r.wait(k), Exchange: "dead"})
	}
	return climb
}

// givenUp is the last death of a message that was rejected once too often.
func (r ladder) givenUp() amqptest.Death {
	return amqptest.Death{Reason: "rejected", Queue: "work", Exchange: r.back(r.rungs)}
}

// lastDeaths is what each delivery says of the last death before it.
func lastDeaths(deliveries []amqptest.Delivery) []amqptest.Death {
	deaths := make([]amqptest.Death, len(deliveries))
	for i, d := range deliveries {
		deaths[i] = d.LastDeath()
	}
	return deaths
}

// whereHeaders are the arguments of a binding that matches when all these
// headers do, the broker's own included.
func whereHeaders(headers amqp.Table) amqp.Table {
	return merged(headers, amqp.Table{"x-match": "all-with-x"})
}

func alternate(exchange string) amqp.Table { return amqp.Table{"alternate-exchange": exchange} }
