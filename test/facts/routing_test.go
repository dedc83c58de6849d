package facts

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/warren-mq/warren/test/amqptest"
)

// Fact 2: a headers exchange with x-match all-with-x can route a dying message
// by the reason, queue and exchange of its last and its first death, but
// neither by x-death nor by a count, whatever the type of the value.
//
// W.dead tells rejections from all else by x-last-death-reason, and W.retry
// tells the attempts apart by x-last-death-exchange. Could counts be matched,
// the ladder would need no exchange for each rung.
func TestFact02HeadersExchangeRoutesByReasonAndPlaceOfDeath(t *testing.T) {
	matching := []amqp.Table{
		{"x-last-death-reason": "rejected"},
		{"x-last-death-queue": "work"},
		{"x-last-death-exchange": "source"},
		{"x-first-death-reason": "rejected"},
		{"x-first-death-queue": "work"},
		{"x-first-death-exchange": "source"},
		{"x-last-death-reason": nil}, // a binding without a value asks for the header's presence
	}
	other := []amqp.Table{
		{"x-last-death-reason": "expired"}, {"x-last-death-exchange": ""},
		{"x-death": nil}, {"x-death": "rejected"},
		{"x-delivery-count": nil}, {"x-delivery-count": int64(1)}, {"x-delivery-count": int32(1)}, {"x-delivery-count": "1"},
		{"x-acquired-count": nil}, {"x-acquired-count": int64(1)}, {"x-acquired-count": int32(1)}, {"x-acquired-count": "1"},
	}
	onEachBroker(t, func(t *testing.T, l *lab) {
		l.exchange(t, "source", "fanout")
		l.exchange(t, "dead", "headers")
		l.queue(t, "work", deadLetters("dead"))
		l.bind(t, "work", "source", "")
		for _, headers := range slices.Concat(matching, other) {
			l.queue(t, queueFor(headers), classic()) // they are many, and classic ones are cheap
			l.bind(t, queueFor(headers), "dead", "", whereHeaders(headers))
		}
		// The requeue makes both counts 1 before the message dies.
		consumer := l.consume(t, "work", amqptest.InTurn(amqptest.RejectRequeue, amqptest.Reject))
		l.publish(t, "source", "key", amqptest.Message("dead"))
		consumer.Await(t, 2)

		for _, headers := range matching {
			l.awaitReady(t, queueFor(headers), 1)
		}
		// It was routed everywhere at once: what has not come would come behind this.
		for _, headers := range other {
			l.publish(t, "", queueFor(headers), amqptest.Message("control"))
			if id := l.take(t, queueFor(headers)).MessageId; id != "control" {
				t.Errorf("a dead letter was routed by %v", headers)
			}
		}
	})
}

func queueFor(headers amqp.Table) string { return fmt.Sprintf("where %#v", headers) }

// Fact 3: x-last-death-exchange is the exchange that a message went to before
// it came into the queue where it died. Passing from exchange to exchange, by
// bindings or as an alternate, does not change it.
//
// It is the heart of the ladder: every rung returns through an exchange of its
// own, W.return.k, so the next rejection says which attempt it was; no consumer
// counts, and no routing key is changed.
func TestFact03ExchangeOfLastDeathTellsTheAttempt(t *testing.T) {
	onEachBroker(t, func(t *testing.T, l *lab) {
		l.run(t, "LadderFromTopic", func(t *testing.T, l *lab) {
			r := l.ladder(t, 3, 20)
			l.exchange(t, "source", "topic")
			l.bind(t, "work", "source", "order.*")
			l.expectClimb(t, r, "source", "order.created", amqptest.Message("m"))
		})
		l.run(t, "LadderFromDefaultExchange", func(t *testing.T, l *lab) {
			l.expectClimb(t, l.ladder(t, 3, 20), "", "work", amqptest.Message("m"))
		})
		l.run(t, "LadderParksCrasherAtOnce", func(t *testing.T, l *lab) {
			l.ladder(t, 3, 20)
			consumer := l.consume(t, "work", amqptest.InTurn(amqptest.Crash))
			l.publish(t, "", "work", amqptest.Message("m"))
			l.expectParked(t, amqptest.Death{Reason: "delivery_limit", Queue: "work"})
			expectDeliveries(t, consumer, "m", 21)
		})
		l.run(t, "FirstOfLinkedExchangesStays", func(t *testing.T, l *lab) {
			l.exchange(t, "alternate", "fanout")
			l.exchange(t, "second", "topic", alternate("alternate"))
			l.exchange(t, "first", "fanout")
			l.link(t, "second", "first")
			l.queue(t, "work", deadLettersTo("parking"))
			l.queue(t, "parking")
			l.bind(t, "work", "second", "by binding")
			l.bind(t, "work", "alternate", "")
			for _, key := range []string{"by binding", "by alternate"} {
				l.publish(t, "first", key, amqptest.Message(key))
				l.rejectOne(t, "work")
				l.expectParked(t, amqptest.Death{Reason: "rejected", Queue: "work", Exchange: "first"})
			}
		})
	})
}

// Fact 4: death and count headers that a client publishes, forged or copied
// from a message that died before, are of no account. The broker overwrites
// them at the next death, and counts from nothing.
//
// So no publisher can send a message up the ladder or past it, a redriven
// message gets a fresh start, and a consumer that counts (fixedDelay) counts
// the broker's deaths.
func TestFact04ForgedDeathHeadersChangeNothing(t *testing.T) {
	onEachBroker(t, func(t *testing.T, l *lab) {
		l.run(t, "Forged", func(t *testing.T, l *lab) {
			r := l.ladder(t, 2, 20)
			consumer := l.expectClimb(t, r, "", "work", forged(r))
			expectDeathsCountedFromOne(t, consumer.DeliveriesOf("m")[1])
		})
		l.run(t, "Redriven", func(t *testing.T, l *lab) {
			r := l.ladder(t, 2, 20)
			l.publish(t, "", "work", amqptest.Message("m"))
			consumer := l.consume(t, "work", amqptest.InTurn(amqptest.Reject))
			parked := l.take(t, "parking")
			consumer.Stop()

			redriven := amqptest.Message("m")
			redriven.Headers = parked.Headers
			l.expectClimb(t, r, "", "work", redriven)
		})
		l.run(t, "Crashing", func(t *testing.T, l *lab) {
			r := l.ladder(t, 2, 3)
			consumer := l.consume(t, "work", amqptest.InTurn(amqptest.Crash))
			l.publish(t, "", "work", forged(r))
			l.expectParked(t, amqptest.Death{Reason: "delivery_limit", Queue: "work"})
			expectDeliveries(t, consumer, "m", 4)
		})
	})
}

// forged is a message that claims to come back from the last rung, after many
// deliveries and deaths.
func forged(r ladder) amqp.Publishing {
	message := amqptest.Message("m")
	message.Headers = amqp.Table{
		"x-last-death-reason":    "rejected",
		"x-last-death-queue":     "work",
		"x-last-death-exchange":  r.back(r.rungs),
		"x-first-death-reason":   "rejected",
		"x-first-death-queue":    "work",
		"x-first-death-exchange": r.back(r.rungs),
		"x-delivery-count":       int64(99),
		"x-acquired-count":       int64(99),
		"x-death": []any{amqp.Table{
			"count": int64(99), "exchange": r.back(r.rungs), "queue": "work", "reason": "rejected", "routing-keys": []any{"work"},
		}},
	}
	return message
}

// expectDeathsCountedFromOne looks at a message that died twice, in the work
// queue and on the first rung.
func expectDeathsCountedFromOne(t *testing.T, d amqptest.Delivery) {
	t.Helper()
	got := map[string]any{}
	deaths, _ := d.Headers["x-death"].([]any)
	for _, death := range deaths {
		entry := death.(amqp.Table)
		got[fmt.Sprint(entry["queue"], " ", entry["reason"])] = entry["count"]
	}
	want := map[string]any{"work rejected": int64(1), "wait.1 expired": int64(1)}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("deaths counted in x-death (-want +got):\n%s", diff)
	}
}

// Fact 11: a dead letter keeps its routing key, unless its queue has an
// x-dead-letter-routing-key.
//
// No queue of the topology has one, so a message is processed, parked and
// redriven with the key it was published with.
func TestFact11DeadLetterKeepsRoutingKey(t *testing.T) {
	onEachBroker(t, func(t *testing.T, l *lab) {
		l.exchange(t, "dead", "fanout")
		l.queue(t, "parking")
		l.bind(t, "parking", "dead", "")
		l.queue(t, "keeps", deadLetters("dead"))
		l.queue(t, "replaces", deadLetters("dead"), amqp.Table{"x-dead-letter-routing-key": "replaced"})

		for queue, want := range map[string]string{"keeps": "order.created", "replaces": "replaced"} {
			source := "to " + queue
			l.exchange(t, source, "fanout")
			l.bind(t, queue, source, "")
			l.publish(t, source, "order.created", amqptest.Message(queue))
			l.rejectOne(t, queue)
			if got := l.take(t, "parking").RoutingKey; got != want {
				t.Errorf("queue that %s the key: dead letter has key %q, want %q", queue, got, want)
			}
		}
	})
}

// expectClimb publishes a message with the id m that is rejected each time,
// and expects it on every rung once, then parked, always with its own key.
func (l *lab) expectClimb(t *testing.T, r ladder, exchange, key string, message amqp.Publishing) *amqptest.Consumer {
	t.Helper()
	consumer := l.consume(t, "work", amqptest.InTurn(amqptest.Reject))
	l.publish(t, exchange, key, message)
	parked := l.expectParked(t, r.givenUp())
	consumer.Stop()

	deliveries := consumer.DeliveriesOf("m")
	// What the first delivery says is the publisher's, who may claim anything.
	if diff := cmp.Diff(r.climb()[1:], lastDeaths(deliveries)[1:]); diff != "" {
		t.Errorf("last deaths of the redeliveries (-want +got):\n%s", diff)
	}
	for _, d := range append(deliveries, parked) {
		if d.RoutingKey != key {
			t.Errorf("delivery %d has key %q, want %q", d.Nth, d.RoutingKey, key)
		}
	}
	return consumer
}
