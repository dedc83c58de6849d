package controllers_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/warren-mq/warren/api/v1alpha1"
	"github.com/warren-mq/warren/controllers"
	"github.com/warren-mq/warren/hack/localenv"
	"github.com/warren-mq/warren/internal/broker"
	"github.com/warren-mq/warren/internal/topology"
)

// recorder is a session that remembers what it was told to do to the broker, in order.
type recorder struct {
	controllers.Session

	mutex    sync.Mutex
	declared []topology.Object
	writes   []string
	readings int
}

// newRecorder gives a recorder, and a way to connect through it.
func newRecorder() (*recorder, func(broker.Config) controllers.Session) {
	r := &recorder{}
	return r, func(c broker.Config) controllers.Session {
		r.Session = broker.NewSession(c, broker.Options{})
		return r
	}
}

func (r *recorder) Observe(ctx context.Context, opts broker.ObserveOptions) (*broker.Observation, error) {
	seen, err := r.Session.Observe(ctx, opts)
	r.note(func() { r.readings++ })
	return seen, err
}

func (r *recorder) Declare(ctx context.Context, objects []topology.Object) error {
	r.note(func() {
		r.declared = append(r.declared, objects...)
		for _, o := range objects {
			r.writes = append(r.writes, "declare "+o.String())
		}
	})
	return r.Session.Declare(ctx, objects)
}

func (r *recorder) Unbind(ctx context.Context, b topology.Binding) error {
	r.note(func() { r.writes = append(r.writes, "unbind "+b.String()) })
	return r.Session.Unbind(ctx, b)
}

func (r *recorder) DeleteEmptyQueue(ctx context.Context, name string) error {
	r.note(func() { r.writes = append(r.writes, "delete queue "+name) })
	return r.Session.DeleteEmptyQueue(ctx, name)
}

func (r *recorder) note(f func()) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	f()
}

func (r *recorder) seen() (declared []topology.Object, writes []string, readings int) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return slices.Clone(r.declared), slices.Clone(r.writes), r.readings
}

// forget forgets what was declared so far.
func (r *recorder) forget() {
	r.note(func() { r.declared, r.writes = nil, nil })
}

// awaitReadings waits for n more readings of the broker.
func (r *recorder) awaitReadings(w *world, n int) {
	w.t.Helper()
	_, _, before := r.seen()
	w.eventually(func() error {
		if _, _, now := r.seen(); now < before+n {
			return fmt.Errorf("the broker was read %d times, want %d", now-before, n)
		}
		return nil
	})
}

func configOf(v *localenv.Vhost) broker.Config {
	return broker.Config{
		AMQPURL: v.Broker.AMQPURL(), ManagementURL: v.Broker.ManagementURL(),
		Vhost: v.Name, Username: v.Operator.Name, Password: v.Operator.Password,
	}
}

type strategy struct {
	name   string
	change func(*v1alpha1.ReliableSubscriptionSpec)
	// since43: RabbitMQ 4.3 or newer only.
	since43 bool
}

func strategies() []strategy {
	retry := func(r *v1alpha1.RetrySpec) func(*v1alpha1.ReliableSubscriptionSpec) {
		return func(s *v1alpha1.ReliableSubscriptionSpec) { s.Retry = r }
	}
	return []strategy{
		{name: "backoff", change: retry(&v1alpha1.RetrySpec{Backoff: &v1alpha1.BackoffRetry{Delays: []v1alpha1.Duration{"5s", "30s", "5m"}}})},
		{name: "backoff-by-policy", change: func(s *v1alpha1.ReliableSubscriptionSpec) { s.Settings = v1alpha1.SettingsPolicy }},
		{name: "fixed-delay", change: retry(&v1alpha1.RetrySpec{FixedDelay: &v1alpha1.FixedDelayRetry{Delay: "30s", MaxAttempts: 5}})},
		{name: "immediate", change: retry(&v1alpha1.RetrySpec{Immediate: &v1alpha1.ImmediateRetry{}})},
		{name: "native", change: retry(&v1alpha1.RetrySpec{Native: &v1alpha1.NativeRetry{MinDelay: "1s", MaxDelay: "1m"}}), since43: true},
	}
}

// No message can come in before its way out exists: what the broker is told
// begins with the parking side and ends with the bindings to the sources, the
// policy of a queue comes before the queue, and everything after what it leads to.
func TestTheSourcesAreBoundLast(t *testing.T) {
	localenv.ForEachBroker(t, func(t *testing.T, b *localenv.RabbitMQ) {
		for _, s := range strategies() {
			if s.since43 && strings.HasPrefix(b.Version, "4.0.") {
				continue
			}
			t.Run(s.name, func(t *testing.T) {
				t.Parallel()
				vhost := b.NewVhost(t)
				recorder, newSession := newRecorder()
				w := newWorld(t, newSession)
				w.createBroker(configOf(vhost))
				orders := topic("orders")
				w.create(orders)
				w.awaitCondition(orders, v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonNoSubscriptions)
				recorder.forget()

				sub := subscription("billing", s.change)
				w.create(sub)
				w.awaitCondition(sub, v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonReliable)
				declared, writes, _ := recorder.seen()
				assertOrder(t, declared)
				if len(writes) != len(declared) {
					t.Errorf("not all that was done to the broker is declaring:\n%s", strings.Join(writes, "\n"))
				}
			})
		}
	})
}

func assertOrder(t *testing.T, declared []topology.Object) {
	t.Helper()
	var names []string
	at := map[string]int{}
	for i, o := range declared {
		names = append(names, o.String())
		if first, again := at[o.String()]; again {
			t.Errorf("%s was declared twice, as number %d and %d", o, first, i)
		}
		at[o.String()] = i
	}
	defer func() {
		if t.Failed() {
			t.Logf("declared in this order:\n%s", strings.Join(names, "\n"))
		}
	}()
	for i, want := range []string{`exchange "billing.park"`, `queue "billing.parking"`, `binding of queue "billing.parking" to exchange "billing.park"`} {
		if i >= len(names) || names[i] != want {
			t.Fatalf("number %d is another than %s", i, want)
		}
	}
	after := func(later int, earlier, why string) {
		t.Helper()
		if earlier == `exchange ""` || earlier == `exchange "orders"` {
			return
		}
		if i, there := at[earlier]; !there || i > later {
			t.Errorf("%s came before %s, %s", names[later], earlier, why)
		}
	}
	for i, o := range declared {
		switch o := o.(type) {
		case topology.Exchange:
			after(i, topology.Exchange{Name: o.AlternateExchange()}.String(), "its alternate exchange")
		case topology.Queue:
			if deadLetters, ok := o.Arguments["x-dead-letter-exchange"].(string); ok {
				after(i, topology.Exchange{Name: deadLetters}.String(), "where its dead letters go")
			}
			if policy := `policy "warren.`; o.Role == topology.RoleWork {
				if j := slices.IndexFunc(names, func(n string) bool { return strings.HasPrefix(n, policy) }); j > i {
					t.Errorf("%s came before its %s", o, names[j])
				}
			}
		case topology.Binding:
			after(i, fmt.Sprintf("%s %q", o.DestinationKind, o.Destination), "where it leads to")
			after(i, fmt.Sprintf("exchange %q", o.Source), "where it begins")
		}
	}
	want := []string{
		`binding of queue "billing" to exchange "orders" with key "order.placed"`,
		`binding of queue "billing" to exchange "orders" with key "order.cancelled"`,
	}
	if last := names[len(names)-len(want):]; !slices.Equal(last, want) {
		t.Errorf("the last are\n%s\nwant\n%s", strings.Join(last, "\n"), strings.Join(want, "\n"))
	}
}

// Once all is there nothing is done to the broker any more, whatever is
// written to the resources, as long as it means the same.
func TestNothingIsDoneTwice(t *testing.T) {
	vhost := localenv.Broker(t, localenv.Series43).NewVhost(t)
	recorder, newSession := newRecorder()
	w := newWorld(t, newSession)
	w.createBroker(configOf(vhost))
	orders, sub := topic("orders"), subscription("billing")
	w.create(orders)
	w.create(sub)
	w.awaitCondition(sub, v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonReliable)
	w.awaitCondition(orders, v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonOpen)
	recorder.forget()

	// Three readings without a change, then three after changes that mean the same.
	recorder.awaitReadings(w, 3)
	for _, o := range []client.Object{orders, sub} {
		patch := client.MergeFrom(o.DeepCopyObject().(client.Object))
		o.SetAnnotations(map[string]string{"team": "shop"})
		if s, ok := o.(*v1alpha1.ReliableSubscription); ok {
			s.Spec.Retry = &v1alpha1.RetrySpec{Backoff: &v1alpha1.BackoffRetry{Delays: []v1alpha1.Duration{"5000ms", "0m30s", "300s"}}}
			s.Spec.WorkQueue.DeliveryLimit = ptr.To[int32](20) // the default
		}
		if err := w.Patch(t.Context(), o, patch); err != nil {
			t.Fatal(err)
		}
	}
	w.awaitCondition(sub, v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonReliable)
	recorder.awaitReadings(w, 3)
	if _, writes, _ := recorder.seen(); len(writes) > 0 {
		t.Errorf("the broker was told again:\n%s", strings.Join(writes, "\n"))
	}
}
