package broker

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/warren-mq/warren/hack/localenv"
	"github.com/warren-mq/warren/internal/topology"
)

var awkwardNames = []string{"a/b", "50%", "%2F", "two words", "what?", "a#b", "größe", "注文", `"quoted"`, "a&b=c;d", ".", ".."}

func TestDeclaredObjectsAreReadBackAtOnce(t *testing.T) {
	localenv.ForEachBroker(t, func(t *testing.T, b *localenv.RabbitMQ) {
		s := newSession(t, configOf(b.NewVhost(t)), Options{})
		for _, name := range awkwardNames {
			exchange := topology.Exchange{Name: name + " x", Type: topology.Headers, Arguments: topology.Arguments{
				"alternate-exchange": name + " alt", topology.OwnerArgument: "cluster/ns/" + name,
			}}
			alternate := topology.Exchange{Name: name + " alt", Type: topology.Fanout}
			policy := topology.Policy{
				Name: "warren." + strings.Trim(name, "."), Pattern: "^" + bytePattern(name) + "$", ApplyTo: "quorum_queues", Priority: 7,
				Definition: topology.Arguments{"max-length": int64(9), "delivery-limit": int64(4), "overflow": "reject-publish"},
			}
			queue := quorum(name, topology.Arguments{"x-delivery-limit": int64(50), topology.OwnerArgument: "cluster/ns/" + name})
			toQueue := topology.Binding{
				Source: exchange.Name, Destination: name, DestinationKind: topology.KindQueue, RoutingKey: name,
				Arguments: topology.Arguments{"x-match": "all", "größe": "7", topology.OwnerArgument: "cluster/ns/" + name},
			}
			toExchange := topology.Binding{
				Source: alternate.Name, Destination: exchange.Name, DestinationKind: topology.KindExchange, RoutingKey: "k " + name,
				Arguments: topology.Arguments{},
			}
			mustDeclare(t, s, alternate, exchange, policy, queue, toQueue, toExchange)
			// A second time is no change and no error.
			mustDeclare(t, s, alternate, exchange, policy, queue, toQueue, toExchange)

			got := mustObserve(t, s).Snapshot
			wantEqual(t, "exchange", got.Exchanges[exchange.Name], topology.SeenExchange{
				Name: exchange.Name, Type: topology.Headers, Durable: true, Arguments: exchange.Arguments,
			})
			limit := int64(4)
			// RabbitMQ counts every 5 s: the queue may have been counted, or not yet.
			wantEqual(t, "queue", got.Queues[name], topology.SeenQueue{
				Name: name, Type: "quorum", Durable: true, Arguments: queue.Arguments,
				State: "running", Members: got.Queues[name].Members, Online: got.Queues[name].Members,
				Policy: policy.Name, EffectivePolicy: policy.Definition, DeliveryLimit: &limit,
			}, withoutCounters)
			if len(got.Queues[name].Members) != 1 {
				t.Errorf("members of %q: %v", name, got.Queues[name].Members)
			}
			wantEqual(t, "bindings to the queue", got.BindingsTo(topology.KindQueue, name), []topology.Binding{toQueue})
			wantEqual(t, "bindings from the alternate exchange", got.BindingsFrom(alternate.Name), []topology.Binding{toExchange})
			if !containsPolicy(got.Policies, policy) {
				t.Errorf("policy %q is not among %v", policy.Name, got.Policies)
			}

			if err := s.Unbind(t.Context(), toQueue); err != nil {
				t.Error(err)
			}
			if err := s.Unbind(t.Context(), toExchange); err != nil {
				t.Error(err)
			}
			if got := mustObserve(t, s).Snapshot; len(got.BindingsTo(topology.KindQueue, name))+len(got.BindingsFrom(alternate.Name)) > 0 {
				t.Errorf("bindings of %q are still there", name)
			}
		}
	})
}

var withoutCounters = cmpopts.IgnoreFields(topology.SeenQueue{},
	"Messages", "Ready", "Unacknowledged", "DeadLettering", "Delayed", "Consumers",
	"Deliveries", "Redeliveries", "Acknowledgements", "Trouble")

func wantEqual[T any](t testing.TB, what string, got, want T, options ...cmp.Option) {
	t.Helper()
	if diff := cmp.Diff(want, got, options...); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func containsPolicy(policies []topology.Policy, want topology.Policy) bool {
	for _, p := range policies {
		if cmp.Equal(p, want) {
			return true
		}
	}
	return false
}

// bytePattern quotes what means something in a pattern.
func bytePattern(name string) string {
	return strings.NewReplacer("?", `\?`, ".", `\.`, "#", `\#`).Replace(name)
}

func TestDeclareErrors(t *testing.T) {
	existing := quorum("existing", topology.Arguments{"x-delivery-limit": int64(7)})
	cases := []struct {
		name   string
		reason string
		object topology.Object
		want   Class
		words  []string
	}{
		{
			name: "other argument", reason: "RabbitMQ's own words name the argument and both values",
			object: quorum("existing", topology.Arguments{"x-delivery-limit": int64(8)}), want: Precondition,
			words: []string{`declare queue "existing"`, "inequivalent arg 'x-delivery-limit'", "current is"},
		},
		{
			name: "other exchange type", reason: "the same for exchanges",
			object: topology.Exchange{Name: "amq.topic", Type: topology.Fanout}, want: Precondition,
			words: []string{`declare exchange "amq.topic"`, "inequivalent arg 'type'"},
		},
		{
			name: "reserved name", reason: "nobody may use it",
			object: quorum("amq.x", nil), want: AccessRefused, words: []string{`declare queue "amq.x"`, "reserved prefix"},
		},
		{
			name: "binding to nowhere", reason: "the exchange is missing",
			object: topology.Binding{Source: "missing", Destination: "existing", DestinationKind: topology.KindQueue, RoutingKey: "k"},
			want:   NotFound, words: []string{`declare binding of queue "existing" to exchange "missing" with key "k"`, "no exchange 'missing'"},
		},
		{
			name: "unknown exchange type", reason: "a plugin is not there",
			object: topology.Exchange{Name: "x", Type: "x-nope"}, want: Precondition, words: []string{"unknown exchange type"},
		},
		{
			name: "policy without sense", reason: "goes over HTTP, and is told in the same way",
			object: topology.Policy{Name: "p", Pattern: "(", ApplyTo: "queues", Definition: topology.Arguments{"max-length": int64(1)}},
			want:   Refused, words: []string{`declare policy "p"`, "pattern should be regular expression"},
		},
		{
			name: "key too long for AMQP", reason: "sending it would end the connection of everybody",
			object: topology.Binding{Source: "amq.topic", Destination: "existing", DestinationKind: topology.KindQueue, RoutingKey: strings.Repeat("ä", 128)},
			want:   Refused, words: []string{"256 bytes", "255"},
		},
		{
			name: "arguments too long for a frame", reason: "sending them would end the connection of everybody",
			object: topology.Binding{
				Source: "amq.headers", Destination: "existing", DestinationKind: topology.KindQueue,
				Arguments: topology.Arguments{"h": strings.Repeat("x", 130_000)},
			},
			want: Refused, words: []string{"its arguments have 130001 bytes"},
		},
	}
	localenv.ForEachBroker(t, func(t *testing.T, b *localenv.RabbitMQ) {
		config := configOf(b.NewVhost(t))
		var asked requests
		s := newSession(t, config, Options{OnRequest: asked.record})
		mustDeclare(t, s, existing)
		for _, c := range cases {
			t.Run(c.name, func(t *testing.T) {
				never := quorum("never", nil)
				err := s.Declare(t.Context(), []topology.Object{existing, c.object, never})
				wantError(t, config, err, c.want, c.words...)
				var e *Error
				if errors.As(err, &e) && e.Object != c.object.String() {
					t.Errorf("object is %s, want %s", e.Object, c.object)
				}
				if _, there := mustObserve(t, s).Snapshot.Queues["never"]; there {
					t.Error("it went on after the error")
				}
			})
		}
		if connects := asked.count("connect"); connects != 1 {
			t.Errorf("%d connections were made: an error about one object must not end the connection of all", connects)
		}
	})
}

func TestDeclareWithoutPermission(t *testing.T) {
	localenv.ForEachBroker(t, func(t *testing.T, b *localenv.RabbitMQ) {
		v := b.NewVhost(t)
		must(t, b.SetPermissions(t.Context(), v.Name, v.Operator.Name, "^mine", ".*", ".*"))
		s := newSession(t, configOf(v), Options{})
		mustDeclare(t, s, quorum("mine", nil))
		err := s.Declare(t.Context(), []topology.Object{quorum("theirs", nil)})
		wantError(t, configOf(v), err, AccessRefused, `declare queue "theirs"`, v.Operator.Name, "configure")
	})
}

func TestDeclareKeepsOrder(t *testing.T) {
	localenv.ForEachBroker(t, func(t *testing.T, b *localenv.RabbitMQ) {
		var asked requests
		s := newSession(t, configOf(b.NewVhost(t)), Options{OnRequest: asked.record})
		mustDeclare(t, s,
			topology.Exchange{Name: "x", Type: topology.Fanout},
			topology.Policy{Name: "p", Pattern: "^q$", ApplyTo: "quorum_queues", Definition: topology.Arguments{"max-length": int64(1)}},
			quorum("q", nil),
			topology.Binding{Source: "x", Destination: "q", DestinationKind: topology.KindQueue},
			topology.Exchange{Name: "y", Type: topology.Fanout},
		)
		wantEqual(t, "requests", asked.take(), []string{
			"connect", "declare_exchange", "declare_policy", "declare_queue", "declare_binding", "declare_exchange",
		})
	})
}

func TestDelete(t *testing.T) {
	localenv.ForEachBroker(t, func(t *testing.T, b *localenv.RabbitMQ) {
		v := b.NewVhost(t)
		s := newSession(t, configOf(v), Options{})
		policy := topology.Policy{Name: "p/1 %", Pattern: "^q$", ApplyTo: "quorum_queues", Definition: topology.Arguments{"max-length": int64(9)}}
		mustDeclare(t, s, policy, quorum("q", nil), topology.Exchange{Name: "x", Type: topology.Fanout})
		publish(t, v, "q", 3)

		for _, want := range []int{3, 0} { // The second time there is nothing left, which is no error.
			n, err := s.DeleteQueue(t.Context(), "q")
			if err != nil || n != want {
				t.Errorf("deleted with %d messages, error %v, want %d", n, err, want)
			}
			must(t, s.DeleteExchange(t.Context(), "x"))
			must(t, s.DeletePolicy(t.Context(), policy.Name))
		}
		got := mustObserve(t, s).Snapshot
		_, exchange := got.Exchanges["x"]
		if len(got.Queues) > 0 || exchange || len(got.Policies) > 0 {
			t.Errorf("left over: %v, exchange %v, %v", got.Queues, exchange, got.Policies)
		}
		err := s.DeleteExchange(t.Context(), "amq.direct")
		wantError(t, configOf(v), err, AccessRefused, `delete exchange "amq.direct"`)
	})
}

// Over AMQP a 32-bit and a 64-bit number make two bindings, of which the list
// shows no difference.
func TestUnbindWithNumbers(t *testing.T) {
	localenv.ForEachBroker(t, func(t *testing.T, b *localenv.RabbitMQ) {
		v := b.NewVhost(t)
		s := newSession(t, configOf(v), Options{})
		mustDeclare(t, s, quorum("q/1", nil), topology.Exchange{Name: "h %", Type: topology.Headers})
		channel := openChannel(t, v)
		for _, n := range []any{int32(5), int64(5), int32(6)} {
			must(t, channel.QueueBind("q/1", "", "h %", false, map[string]any{"x-match": "all", "n": n}))
		}
		must(t, s.Unbind(t.Context(), topology.Binding{
			Source: "h %", Destination: "q/1", DestinationKind: topology.KindQueue,
			Arguments: topology.Arguments{"x-match": "all", "n": int64(5)},
		}))
		left := mustObserve(t, s).Snapshot.BindingsFrom("h %")
		if len(left) != 1 || !topology.EqualValues(left[0].Arguments["n"], 6) {
			t.Errorf("left: %v", left)
		}
	})
}

func TestCannotDeclare(t *testing.T) {
	err := misfit(quorum(strings.Repeat("q", 256), nil))
	if !strings.Contains(err, "256 bytes") {
		t.Error(err)
	}
	if problem := misfit(quorum(strings.Repeat("q", 255), topology.Arguments{"n": int64(1), "b": true})); problem != "" {
		t.Error(problem)
	}
}
