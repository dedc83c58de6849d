package broker

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/warren-mq/warren/api/v1alpha1"
	"github.com/warren-mq/warren/hack/localenv"
	"github.com/warren-mq/warren/internal/topology"
	"github.com/warren-mq/warren/test/amqptest"
)

// removal is a subscription's frame on a broker, from whose parking queue
// messages are moved, with an application's connection.
type removal struct {
	*Session
	vhost *localenv.Vhost
	app   *amqp.Connection
	names topology.Names
}

func onRemovals(t *testing.T, options Options, test func(t *testing.T, r *removal)) {
	t.Helper()
	t.Parallel()
	localenv.ForEachBroker(t, func(t *testing.T, b *localenv.RabbitMQ) {
		t.Parallel()
		test(t, newRemoval(t, b, options))
	})
}

func newRemoval(t *testing.T, b *localenv.RabbitMQ, options Options) *removal {
	t.Helper()
	vhost := b.NewVhost(t)
	r := &removal{Session: newSession(t, configOf(vhost), options), vhost: vhost, app: vhost.Dial(t, vhost.App)}
	spec := &v1alpha1.ReliableSubscriptionSpec{
		WorkQueue: &v1alpha1.WorkQueueSpec{Name: "billing"}, Retry: &v1alpha1.RetrySpec{Immediate: &v1alpha1.ImmediateRetry{}},
	}
	compiled, err := topology.Compile(topology.Subscription{Spec: spec, Broker: topology.MinimumVersion, Owner: "test/shop/billing"})
	if err != nil {
		t.Fatal(err)
	}
	mustDeclare(t, r.Session, compiled.Objects...)
	r.names = compiled.Names
	return r
}

// all is a move of everything that is parked.
func (r *removal) all(change ...func(*Move)) Move {
	const plenty = 1 << 40
	m := Move{
		Names: r.names, Queue: r.names.Parking, Exchange: r.names.Redrive(), Mark: "test",
		Judge: func(Parked) Verdict { return Take }, Most: plenty, Quota: plenty,
	}
	for _, f := range change {
		f(&m)
	}
	return m
}

func (r *removal) park(t *testing.T, messages ...amqp.Publishing) {
	t.Helper()
	amqptest.Publish(t, r.app, r.names.Park(), "order.placed", messages...)
}

// mustMove wants a move to end in a way, with counts.
func (r *removal) mustMove(t *testing.T, move Move, end MoveEnd, want MoveCounts) {
	t.Helper()
	var progress MoveProgress
	got, err := r.Move(t.Context(), move, &progress)
	if err != nil || got != end {
		t.Errorf("the move ended with %q, %v; want %q", got, err, end)
	}
	if diff := cmp.Diff(want, progress.Counts()); diff != "" {
		t.Errorf("counts (-want +got):\n%s", diff)
	}
}

func (r *removal) assertReady(t *testing.T, queue string, want int) {
	t.Helper()
	amqptest.AwaitReady(t, r.app, queue, want)
}

// assertQueue wants exactly these messages, in this order, and takes them out.
func (r *removal) assertQueue(t *testing.T, queue string, want []string) {
	t.Helper()
	r.assertReady(t, queue, len(want))
	var got []string
	for _, d := range amqptest.Take(t, r.app, queue, len(want)) {
		got = append(got, d.MessageId)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("messages in queue %q, in their order (-want +got):\n%s", queue, diff)
	}
}

func ids(prefix string, n int, chosen func(int) bool) []string {
	var list []string
	for i := 1; i <= n; i++ {
		if chosen == nil || chosen(i) {
			list = append(list, fmt.Sprintf("%s-%d", prefix, i))
		}
	}
	return list
}

// only takes the messages with these ids.
func only(chosen []string) func(*Move) {
	set := map[string]bool{}
	for _, id := range chosen {
		set[id] = true
	}
	return func(m *Move) {
		m.Selective = true
		m.Judge = func(p Parked) Verdict {
			if set[p.MessageID] {
				return Take
			}
			return Keep
		}
	}
}

// moving runs a move beside the test.
type moving struct {
	MoveProgress
	stop  context.CancelFunc
	ended chan struct{}
	end   MoveEnd
	err   error
}

func (r *removal) start(t *testing.T, move Move) *moving {
	ctx, stop := context.WithCancel(t.Context())
	m := &moving{stop: stop, ended: make(chan struct{})}
	go func() {
		defer close(m.ended)
		m.end, m.err = r.Move(ctx, move, &m.MoveProgress)
	}()
	t.Cleanup(func() { stop(); <-m.ended })
	return m
}

func (m *moving) await(t *testing.T, what string, check func(MoveCounts) bool) {
	t.Helper()
	amqptest.Eventually(t, amqptest.Deadline, func() error {
		if c := m.Counts(); !check(c) {
			return fmt.Errorf("counts are %+v, waiting until %s", c, what)
		}
		return nil
	})
}
