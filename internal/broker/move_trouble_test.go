package broker

import (
	"testing"
	"time"

	"github.com/warren-mq/warren/test/amqptest"
)

// behindProxy is the same removal, reached through a proxy.
func (r *removal) behindProxy(t *testing.T, options Options) (*removal, *proxy) {
	t.Helper()
	p := newProxy(t, r.vhost.Broker.AMQPURL(), nil)
	config := configOf(r.vhost)
	config.AMQPURL = p.url("amqp")
	far := *r
	far.Session = newSession(t, config, options)
	return &far, p
}

// Where no confirm comes in time, and where the connection breaks, what is in
// doubt stays: no message is lost, none is counted that has not arrived, and the
// next move brings back the rest.
func TestMoveInTrouble(t *testing.T) {
	const n = 400
	for _, trouble := range []struct {
		name  string
		class Class
		make  func(*proxy)
	}{
		{"no confirm", Unconfirmed, (*proxy).freeze},
		{"no connection", Unreachable, (*proxy).cut},
	} {
		t.Run(trouble.name, func(t *testing.T) {
			onRemovals(t, Options{}, func(t *testing.T, r *removal) {
				r.park(t, amqptest.Messages("m", n)...)
				far, proxy := r.behindProxy(t, Options{ConfirmTimeout: time.Second, RequestTimeout: 2 * time.Second})
				m := far.start(t, r.all(func(m *Move) { m.PerSecond = 100 }))
				// More than the first pass takes: at its end no confirm is due.
				m.await(t, "some were moved", func(c MoveCounts) bool { return c.Moved > 3*probe })
				trouble.make(proxy)
				<-m.ended
				proxy.thaw()
				proxy.cut()
				wantError(t, configOf(r.vhost), m.err, trouble.class, `move what is in queue "billing.parking"`)

				var again MoveProgress
				if end, err := r.Move(t.Context(), r.all(), &again); err != nil || end != MoveEmptied {
					t.Errorf("the next move ended with %q, %v", end, err)
				}
				arrived := int(m.Counts().Moved + again.Counts().Moved)
				if arrived < n {
					t.Errorf("%d and %d were moved of %d", m.Counts().Moved, again.Counts().Moved, n)
				}
				r.assertReady(t, r.names.Parking, 0)
				r.assertAllThere(t, ids("m", n, nil))
			})
		})
	}
}

func (r *removal) assertAllThere(t *testing.T, want []string) {
	t.Helper()
	ready, err := amqptest.Ready(r.app, r.names.Work)
	must(t, err)
	there := map[string]bool{}
	for _, d := range amqptest.Take(t, r.app, r.names.Work, ready) {
		there[d.MessageId] = true
	}
	for _, id := range want {
		if !there[id] {
			t.Errorf("message %q is lost", id)
		}
	}
}

// Large bodies that wait for their turn do not fill the memory: some are left
// to another pass, and nothing changes its order for it.
func TestMoveOfLargeBodies(t *testing.T) {
	const n, size = 90, 1 << 20
	onRemovals(t, Options{}, func(t *testing.T, r *removal) {
		messages := amqptest.Messages("m", n)
		for i := range messages {
			messages[i].Body = make([]byte, size)
		}
		r.park(t, messages...)
		chosen := func(i int) bool { return i%2 == 0 }
		r.mustMove(t, r.all(only(ids("m", n, chosen)), func(m *Move) { m.Most, m.PerSecond = n, 20 }), MoveDone, MoveCounts{Moved: n / 2, Kept: n / 2})
		r.assertQueue(t, r.names.Work, ids("m", n, chosen))
		r.assertQueue(t, r.names.Parking, ids("m", n, func(i int) bool { return !chosen(i) }))
	})
}

// Who looks at parked messages and dies in the middle has held them all. The
// broker gives them back, each once and in their order.
func TestALookThatIsCutOffChangesNothing(t *testing.T) {
	const n, judged = 300, 50
	onRemovals(t, Options{}, func(t *testing.T, r *removal) {
		r.park(t, amqptest.Messages("m", n)...)
		far, proxy := r.behindProxy(t, Options{})
		reached := make(chan struct{})
		seen := 0
		m := far.start(t, r.all(func(m *Move) {
			m.Selective, m.Dry, m.Most, m.Quota = true, true, n, n
			m.Judge = func(Parked) Verdict {
				if seen++; seen == judged {
					close(reached)
					proxy.cut()
				}
				return Keep
			}
		}))
		<-reached
		<-m.ended
		wantError(t, configOf(r.vhost), m.err, Unreachable, `move what is in queue "billing.parking"`)
		r.assertQueue(t, r.names.Parking, ids("m", n, nil))
		r.assertReady(t, r.names.Work, 0)
	})
}
