package broker

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/warren-mq/warren/hack/localenv"
	"github.com/warren-mq/warren/internal/topology"
	"github.com/warren-mq/warren/test/amqptest"
)

// What is parked comes back in its order and as it was published, less what
// was noted about its parking.
func TestMoveBringsBackWhatIsParked(t *testing.T) {
	onRemovals(t, Options{}, func(t *testing.T, r *removal) {
		message := amqp.Publishing{
			MessageId: "m-1", CorrelationId: "c", ContentType: "application/json", ContentEncoding: "identity", Type: "placed", AppId: "shop",
			ReplyTo: "answers", Priority: 4, DeliveryMode: amqp.Persistent, Timestamp: time.Unix(1_700_000_000, 0), Body: []byte(`{"n": 1}`),
			UserId:     r.vhost.App.Name,
			Expiration: "3600000",
			Headers: amqp.Table{
				"tenant": "a", "n": int64(7), "x-own": true, "CC": []any{"order.copied"}, "warren-redrives": int64(2),
				"warren-parked-reason": "no such order", "warren-parked-at": "2026-01-02T03:04:05Z",
				"nested": amqp.Table{"list": []any{int32(1), "two", nil, 1.5, []byte{3}}},
			},
		}
		r.park(t, append([]amqp.Publishing{message}, amqptest.Messages("other", 99)...)...)
		r.mustMove(t, r.all(func(m *Move) { m.Most = 100 }), MoveDone, MoveCounts{Moved: 100})
		r.assertReady(t, r.names.Parking, 0)

		got := amqptest.Take(t, r.app, r.names.Work, 1)[0]
		if got.RoutingKey != "order.placed" || got.Exchange != r.names.Redrive() {
			t.Errorf("it came with key %q through exchange %q", got.RoutingKey, got.Exchange)
		}
		want := message
		want.UserId, want.Expiration = "", ""
		want.Headers = amqp.Table{
			"tenant": "a", "n": int64(7), "x-own": true, "CC": []any{"order.copied"}, "warren-redrives": int64(3),
			"warren-user-id": r.vhost.App.Name, "warren-redrive": "test/1",
			"nested": message.Headers["nested"],
		}
		if diff := cmp.Diff(want, publishingOf(got.Delivery)); diff != "" {
			t.Errorf("the message (-published +brought back):\n%s", diff)
		}
		r.assertQueue(t, r.names.Work, ids("other", 99, nil))
	})
}

func publishingOf(d amqp.Delivery) amqp.Publishing {
	return amqp.Publishing{
		MessageId: d.MessageId, CorrelationId: d.CorrelationId, ContentType: d.ContentType, ContentEncoding: d.ContentEncoding,
		Type: d.Type, AppId: d.AppId, ReplyTo: d.ReplyTo, Priority: d.Priority, DeliveryMode: d.DeliveryMode, Timestamp: d.Timestamp,
		Body: d.Body, UserId: d.UserId, Expiration: d.Expiration, Headers: d.Headers,
	}
}

// What is not chosen stays in its order, and so it does the next time, when
// everything has been given back once: RabbitMQ keeps that apart.
func TestMoveKeepsTheOthersInOrder(t *testing.T) {
	onRemovals(t, Options{}, func(t *testing.T, r *removal) {
		const n = 3000
		r.park(t, amqptest.Messages("m", n)...)
		third := func(i int) bool { return i%3 == 0 }
		r.mustMove(t, r.all(only(ids("m", n, third)), func(m *Move) { m.Most = n }), MoveDone, MoveCounts{Moved: n / 3, Kept: n - n/3})
		r.assertQueue(t, r.names.Work, ids("m", n, third))
		fifth := func(i int) bool { return i%3 != 0 && i%5 == 0 }
		r.mustMove(t, r.all(only(ids("m", n, fifth)), func(m *Move) { m.Most = 2 * n / 3 }), MoveDone, MoveCounts{Moved: 400, Kept: 1600})
		r.assertQueue(t, r.names.Work, ids("m", n, fifth))
		r.mustMove(t, r.all(func(m *Move) { m.Quota = 600 }), MoveDone, MoveCounts{Moved: 600})
		rest := ids("m", n, func(i int) bool { return i%3 != 0 && i%5 != 0 })
		r.assertQueue(t, r.names.Work, rest[:600])
		r.assertQueue(t, r.names.Parking, rest[600:])
	})
}

// With more to be kept before the others than can be held, it moves what it has
// reached, and says so; nothing changes its order for it.
func TestMoveHoldsNoMoreThanItCan(t *testing.T) {
	onRemovals(t, Options{MaxHeld: 20}, func(t *testing.T, r *removal) {
		r.park(t, amqptest.Messages("m", 40)...)
		ends := func(i int) bool { return i <= 3 || i > 37 }
		begin := func(i int) bool { return i <= 3 }
		r.mustMove(t, r.all(only(ids("m", 40, ends)), func(m *Move) { m.Most = 40 }), MoveFull, MoveCounts{Moved: 3, Kept: 20})
		r.assertQueue(t, r.names.Work, ids("m", 40, begin))
		r.assertQueue(t, r.names.Parking, ids("m", 40, func(i int) bool { return !begin(i) }))
	})
}

func TestMoveIsBounded(t *testing.T) {
	keepAll := func(m *Move) { m.Selective = true; m.Judge = func(Parked) Verdict { return Keep } }
	cases := []struct {
		reason string
		change func(*Move)
		end    MoveEnd
		want   MoveCounts
		left   []string
	}{
		{"all there is", func(*Move) {}, MoveEmptied, MoveCounts{Moved: 50}, nil},
		{"as many as it may look at", func(m *Move) { m.Most = 30 }, MoveDone, MoveCounts{Moved: 30}, ids("m", 50, func(i int) bool { return i > 30 })},
		{"as many as it may move", func(m *Move) { m.Quota = 10 }, MoveDone, MoveCounts{Moved: 10}, ids("m", 50, func(i int) bool { return i > 10 })},
		{"dropping", func(m *Move) {
			m.Quota, m.Exchange = 10, ""
			m.Judge = func(Parked) Verdict { return Drop }
		}, MoveDone, MoveCounts{Dropped: 10}, ids("m", 50, func(i int) bool { return i > 10 })},
		{"a dry run", func(m *Move) { m.Dry, m.Selective, m.Most = true, true, 50 }, MoveDone, MoveCounts{Kept: 50, Matched: 50}, ids("m", 50, nil)},
		{"nothing that is chosen", func(m *Move) { keepAll(m); m.Most = 50 }, MoveDone, MoveCounts{Kept: 50}, ids("m", 50, nil)},
	}
	onRemovals(t, Options{}, func(t *testing.T, r *removal) {
		for _, tc := range cases {
			r.park(t, amqptest.Messages("m", 50)...)
			t.Log(tc.reason)
			r.mustMove(t, r.all(tc.change), tc.end, tc.want)
			r.assertQueue(t, r.names.Parking, tc.left)
			if tc.want.Moved > 0 {
				amqptest.Take(t, r.app, r.names.Work, int(tc.want.Moved))
			}
		}
	})
}

// Headers that have outgrown a frame by what RabbitMQ noted about the deaths
// end the connection of whoever reads them by the book.
func TestMoveOfHeadersNearTheFrameLimit(t *testing.T) {
	onRemovals(t, Options{}, func(t *testing.T, r *removal) {
		large := amqptest.Message("large")
		large.Headers = amqp.Table{"h": string(make([]byte, 131_000))}
		amqptest.Publish(t, r.app, "", r.names.Work, large)
		consumer := amqptest.Consume(t, r.app, r.names.Work, amqptest.InTurn(amqptest.Reject))
		consumer.Await(t, 1)
		r.assertReady(t, r.names.Parking, 1)
		consumer.Stop()
		r.park(t, amqptest.Messages("m", 3)...)

		r.mustMove(t, r.all(), MoveEmptied, MoveCounts{Moved: 4})
		r.assertQueue(t, r.names.Work, append([]string{"large"}, ids("m", 3, nil)...))
	})
}

// A message that no queue takes stays, and those beside it are counted exactly.
func TestMoveStopsWhereNoQueueIsBound(t *testing.T) {
	onRemovals(t, Options{}, func(t *testing.T, r *removal) {
		r.park(t, amqptest.Messages("m", 100)...)
		binding := topology.Binding{Source: r.names.Redrive(), Destination: r.names.Work, DestinationKind: topology.KindQueue}
		must(t, r.Unbind(t.Context(), binding))
		r.assertFails(t, Unroutable, `exchange "billing.redrive", which no queue is bound to`)

		must(t, r.DeleteExchange(t.Context(), r.names.Redrive()))
		r.assertFails(t, Unroutable, `exchange "billing.redrive" is not there`)
		r.assertQueue(t, r.names.Parking, ids("m", 100, nil))
	})
}

func TestMoveStopsWhereTheQueueRefuses(t *testing.T) {
	onRemovals(t, Options{}, func(t *testing.T, r *removal) {
		r.park(t, amqptest.Messages("m", 100)...)
		_, err := r.DeleteQueue(t.Context(), r.names.Work)
		must(t, err)
		mustDeclare(t, r.Session,
			quorum(r.names.Work, topology.Arguments{"x-max-length": 5, "x-overflow": "reject-publish"}),
			topology.Binding{Source: r.names.Redrive(), Destination: r.names.Work, DestinationKind: topology.KindQueue})
		var progress MoveProgress
		_, err = r.Move(t.Context(), r.all(func(m *Move) { m.PerSecond = 50 }), &progress)
		wantError(t, configOf(r.vhost), err, Nacked, `move what is in queue "billing.parking"`, `the queue behind exchange "billing.redrive" does not take a message`, "length limit")
		// A quorum queue takes some more than its limit before it refuses, hence the slow pace.
		taken, err := amqptest.Ready(r.app, r.names.Work)
		must(t, err)
		if got := progress.Counts().Moved; got != int64(taken) {
			t.Errorf("%d are counted as moved, and %d are in the work queue", got, taken)
		}
		r.assertReady(t, r.names.Parking, 100-taken)
	})
}

// assertFails wants a move to fail before any message has moved.
func (r *removal) assertFails(t *testing.T, class Class, words string) {
	t.Helper()
	var progress MoveProgress
	_, err := r.Move(t.Context(), r.all(), &progress)
	wantError(t, configOf(r.vhost), err, class, words)
	if moved := progress.Counts().Moved; moved != 0 {
		t.Errorf("%d are counted as moved, want none", moved)
	}
	r.assertReady(t, r.names.Parking, 100)
}

// A move that is stopped gives back what it holds, and what it has counted is exact.
func TestMoveStops(t *testing.T) {
	onRemovals(t, Options{}, func(t *testing.T, r *removal) {
		const n = 1000
		r.park(t, amqptest.Messages("m", n)...)
		m := r.start(t, r.all(func(m *Move) { m.PerSecond = 100 }))
		m.await(t, "some were moved", func(c MoveCounts) bool { return c.Moved >= 30 })
		m.stop()
		<-m.ended
		if m.err != nil || m.end != MoveStopped {
			t.Fatalf("it ended with %q, %v", m.end, m.err)
		}
		moved := int(m.Counts().Moved)
		r.assertQueue(t, r.names.Work, ids("m", moved, nil))
		r.assertQueue(t, r.names.Parking, ids("m", n, func(i int) bool { return i > moved }))
	})
}

// Under an alarm a move waits, stops when it is told to, and goes on afterwards.
func TestMoveUnderAnAlarm(t *testing.T) {
	t.Parallel()
	for _, series := range localenv.AllSeries() {
		t.Run(string(series), func(t *testing.T) {
			b, err := localenv.StartRabbitMQ(t.Context(), t.TempDir(), series, localenv.RabbitMQOptions{})
			must(t, err)
			t.Cleanup(func() { must(t, b.Kill()); must(t, b.Stop()) })
			r := newRemoval(t, b, Options{ConfirmTimeout: time.Second})
			r.park(t, amqptest.Messages("m", 300)...)
			must(t, b.SetMemoryAlarm(t.Context(), true))

			blocked := func(c MoveCounts) bool { return c.Blocked != "" }
			stopped := r.start(t, r.all())
			stopped.await(t, "it is blocked", blocked)
			stopped.stop()
			<-stopped.ended
			if stopped.err != nil || stopped.end != MoveStopped {
				t.Errorf("it ended with %q, %v; want %q", stopped.end, stopped.err, MoveStopped)
			}
			must(t, b.SetMemoryAlarm(t.Context(), false))
			must(t, b.SetDiskAlarm(t.Context(), true))
			again := r.start(t, r.all())
			again.await(t, "it is blocked", blocked)
			must(t, b.SetDiskAlarm(t.Context(), false))
			<-again.ended
			if again.err != nil || again.end != MoveEmptied {
				t.Errorf("it ended with %q, %v; want %q", again.end, again.err, MoveEmptied)
			}
			if c := again.Counts(); c.Blocked != "" || c.Moved == 0 {
				t.Errorf("counts are %+v", c)
			}
			r.assertReady(t, r.names.Parking, 0)
		})
	}
}
