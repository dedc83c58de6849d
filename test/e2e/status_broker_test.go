package e2e

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/warren-mq/warren/internal/topology"
	"github.com/warren-mq/warren/test/amqptest"
)

// threeSyncs are three sync periods of a tenant's Broker.
const threeSyncs = 3 * time.Second

// onBroker lists what the tenant's vhost has, named as Warren's messages do,
// with the arguments of queues and exchanges and all of a policy.
func (w *tenant) onBroker() map[string]topology.Arguments {
	w.t.Helper()
	objects, err := w.tryOnBroker()
	if err != nil {
		w.t.Fatal(err)
	}
	return objects
}

func (w *tenant) tryOnBroker() (map[string]topology.Arguments, error) {
	client := w.management()
	queues, err1 := client.ListQueuesIn(w.vhost.Name)
	exchanges, err2 := client.ListExchangesIn(w.vhost.Name)
	bindings, err3 := client.ListBindingsIn(w.vhost.Name)
	policies, err4 := client.ListPoliciesIn(w.vhost.Name)
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		return nil, err
	}
	objects := map[string]topology.Arguments{}
	for _, p := range policies {
		objects[topology.Policy{Name: p.Name}.String()] = topology.Arguments(p.Definition).
			With("pattern", p.Pattern).With("apply-to", p.ApplyTo).With("priority", p.Priority)
	}
	for _, q := range queues {
		objects[topology.Queue{Name: q.Name}.String()] = q.Arguments
	}
	for _, e := range exchanges {
		objects[topology.Exchange{Name: e.Name}.String()] = e.Arguments
	}
	for _, b := range bindings {
		if b.Source != "" { // every queue is bound to the default exchange
			binding := topology.Binding{Source: b.Source, Destination: b.Destination, DestinationKind: topology.Kind(b.DestinationType), RoutingKey: b.RoutingKey}
			if match := withoutMark(b.Arguments); len(match) > 0 {
				binding.Arguments = match
			}
			objects[binding.String()] = b.Arguments
		}
	}
	return objects, nil
}

func withoutMark(arguments map[string]any) topology.Arguments {
	match := topology.Arguments{}
	for k, v := range arguments {
		if k != topology.OwnerArgument {
			match[k] = v
		}
	}
	return match
}

// assertThere names objects as messages do: `queue "billing"`.
func (w *tenant) assertThere(names ...string) {
	w.t.Helper()
	objects := w.onBroker()
	for _, name := range names {
		if _, there := objects[name]; !there {
			w.t.Errorf("the broker has no %s; it has %v", name, slices.Sorted(maps.Keys(objects)))
		}
	}
}

func (w *tenant) assertNotThere(names ...string) {
	w.t.Helper()
	objects := w.onBroker()
	for _, name := range names {
		if _, there := objects[name]; there {
			w.t.Errorf("the broker has %s, and should not", name)
		}
	}
}

func (w *tenant) awaitThere(name string) {
	w.t.Helper()
	amqptest.Eventually(w.t, within, func() error {
		objects, err := w.tryOnBroker()
		if _, there := objects[name]; err == nil && !there {
			err = fmt.Errorf("the broker has no %s; it has %v", name, slices.Sorted(maps.Keys(objects)))
		}
		return err
	})
}

// onChannel does what an application, or a person by hand, does to the broker.
func (w *tenant) onChannel(do func(*amqp.Channel) error) {
	w.t.Helper()
	connection := w.application()
	defer connection.Close()
	ch, err := connection.Channel()
	if err != nil {
		w.t.Fatal(err)
	}
	if err := do(ch); err != nil {
		w.t.Fatal(err)
	}
}

func (w *tenant) declareExchange(name, kind string) {
	w.t.Helper()
	w.onChannel(func(ch *amqp.Channel) error { return ch.ExchangeDeclare(name, kind, true, false, false, false, nil) })
}

func (w *tenant) declareQueue(name string, arguments amqp.Table) {
	w.t.Helper()
	w.onChannel(func(ch *amqp.Channel) error {
		_, err := ch.QueueDeclare(name, true, false, false, false, arguments)
		return err
	})
}

// stays polls for a time, and fails when check does.
func (w *tenant) stays(d time.Duration, check func() error) {
	w.t.Helper()
	over := time.NewTimer(d)
	defer over.Stop()
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for {
		if err := check(); err != nil {
			w.t.Fatal(err)
		}
		select {
		case <-over.C:
			return
		case <-tick.C:
		}
	}
}

// took logs how long something took beside what is promised. It asserts
// nothing: on a busy machine everything may take longer, and the test has
// waited for it with a deadline.
func (w *tenant) took(what string, since time.Time, promised time.Duration) {
	w.t.Helper()
	took := time.Since(since)
	verdict := "as promised"
	if took > promised {
		verdict = "LATE"
	}
	w.t.Logf("%s took %s, %s: %s is promised", what, took.Round(time.Millisecond), verdict, promised)
}
