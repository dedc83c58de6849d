package topology_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/warren-mq/warren/internal/topology"
)

// seenWith is a broker with these exchanges and bindings.
func seenWith(exchanges map[string]topology.SeenExchange, bindings ...topology.Binding) *topology.Snapshot {
	seen := &topology.Snapshot{Exchanges: exchanges}
	seen.Bindings = topology.NewBindings(bindings)
	return seen
}

func exchangeOf(kind string) topology.SeenExchange { return topology.SeenExchange{Type: kind} }

func withAlternate(kind, alternate string) topology.SeenExchange {
	return topology.SeenExchange{Type: kind, Arguments: topology.Arguments{"alternate-exchange": alternate}}
}

func toExchange(source, destination string) topology.Binding {
	return topology.Binding{Source: source, Destination: destination, DestinationKind: topology.KindExchange}
}

func matching(b topology.Binding, args topology.Arguments) topology.Binding {
	b.Arguments = args
	return b
}

func keyed(b topology.Binding, key string) topology.Binding {
	b.RoutingKey = key
	return b
}

func TestTheDefaultExchangeKnowsEveryQueueByItsName(t *testing.T) {
	seen := &topology.Snapshot{Queues: map[string]topology.SeenQueue{"billing": {}}}
	for key, want := range map[string][]string{"billing": {"billing"}, "shipping": {}} {
		if diff := cmp.Diff(want, topology.Resolve(seen, "", topology.Message{RoutingKey: key})); diff != "" {
			t.Errorf("queues for key %q (-want +got):\n%s", key, diff)
		}
	}
}

func TestMatchesTopic(t *testing.T) {
	cases := []struct {
		bindingKey string
		takes      []string
		leaves     []string
	}{
		{"order.placed", []string{"order.placed"}, []string{"", "order", "order.placed.twice", "order.paid"}},
		{"order.*", []string{"order.placed", "order."}, []string{"order", "order.a.b"}},
		{"order.#", []string{"order", "order.a", "order.a.b"}, []string{"orders", "a.order"}},
		{"#", []string{"", "a", "a.b.c"}, nil},
		{"#.placed", []string{"placed", "order.placed", "a.b.placed"}, []string{"placed.a", "a"}},
		{"#.a.#.b.#", []string{"a.b", "x.a.y.z.b.c", "a.a.b.b"}, []string{"b.a", "a", "a.c"}},
		{"*.*", []string{"a.b"}, []string{"a", "a.b.c"}},
		{"", []string{""}, []string{"a"}},
	}
	for _, tc := range cases {
		for _, key := range tc.takes {
			if !topology.MatchesTopic(tc.bindingKey, key) {
				t.Errorf("%q does not take %q", tc.bindingKey, key)
			}
		}
		for _, key := range tc.leaves {
			if topology.MatchesTopic(tc.bindingKey, key) {
				t.Errorf("%q takes %q", tc.bindingKey, key)
			}
		}
		if example := topology.ExampleOf(tc.bindingKey); !topology.MatchesTopic(tc.bindingKey, example) {
			t.Errorf("%q does not take its own example %q", tc.bindingKey, example)
		}
	}
}

func TestResolveFollowsTheBroker(t *testing.T) {
	type exchanges = map[string]topology.SeenExchange
	rejected := topology.Arguments{"x-match": "all-with-x", "x-last-death-reason": "rejected"}
	cases := []struct {
		reason string
		seen   *topology.Snapshot
		want   []string
	}{
		{"an exchange that is not there loses it", seenWith(exchanges{}), []string{}},
		{"no binding loses it", seenWith(exchanges{"e": exchangeOf("fanout")}), []string{}},
		{"a fanout exchange gives it to all, sorted", seenWith(exchanges{"e": exchangeOf("fanout")}, toQueue("e", "b"), toQueue("e", "a")),
			[]string{"a", "b"}},
		{"a queue gets it once", seenWith(exchanges{"e": exchangeOf("fanout")}, toQueue("e", "a"), toQueue("e", "a")),
			[]string{"a"}},
		{"from exchange to exchange", seenWith(exchanges{"e": exchangeOf("fanout"), "f": exchangeOf("fanout")}, toExchange("e", "f"), toQueue("f", "a")),
			[]string{"a"}},
		{"a ring of exchanges ends", seenWith(exchanges{"e": exchangeOf("fanout"), "f": exchangeOf("fanout")}, toExchange("e", "f"), toExchange("f", "e"), toQueue("f", "a")),
			[]string{"a"}},
		{"an exchange that is its own alternate ends", seenWith(exchanges{"e": withAlternate("headers", "e")}), []string{}},
		{"an alternate exchange gets what nobody takes", seenWith(exchanges{"e": withAlternate("fanout", "f"), "f": exchangeOf("fanout")}, toQueue("f", "a")),
			[]string{"a"}},
		{"an alternate exchange gets nothing that somebody takes", seenWith(exchanges{"e": withAlternate("fanout", "f"), "f": exchangeOf("fanout")}, toQueue("e", "a"), toQueue("f", "b")),
			[]string{"a"}},
		{"taken by an exchange that loses it is taken", seenWith(exchanges{"e": withAlternate("fanout", "f"), "f": exchangeOf("fanout"), "g": exchangeOf("fanout")}, toExchange("e", "g"), toQueue("f", "b")),
			[]string{}},
		{"an alternate exchange that is not there loses it", seenWith(exchanges{"e": withAlternate("fanout", "f")}), []string{}},
		{"a headers exchange takes what matches", seenWith(exchanges{"e": withAlternate("headers", "f"), "f": exchangeOf("fanout")},
			matching(toQueue("e", "a"), rejected), toQueue("f", "b")),
			[]string{"a"}},
		{"a direct exchange takes the same key", seenWith(exchanges{"e": exchangeOf("direct")}, keyed(toQueue("e", "a"), "order.placed"), keyed(toQueue("e", "b"), "order.*")),
			[]string{"a"}},
		{"a topic exchange takes a pattern", seenWith(exchanges{"e": exchangeOf("topic")}, keyed(toQueue("e", "a"), "order.*"), keyed(toQueue("e", "b"), "payment.*")),
			[]string{"a"}},
		{"types of plugins are not known: what comes to them counts as lost", seenWith(exchanges{"e": exchangeOf("x-random")}, toQueue("e", "a")), []string{}},
	}
	for _, tc := range cases {
		t.Run(tc.reason, func(t *testing.T) {
			got := topology.Resolve(tc.seen, "e", topology.Message{RoutingKey: "order.placed", Headers: map[string]string{"x-last-death-reason": "rejected"}})
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("queues (-want +got):\n%s", diff)
			}
		})
	}
}

func TestHeadersExchange(t *testing.T) {
	type arguments = topology.Arguments
	type headers = map[string]string
	cases := []struct {
		reason    string
		arguments arguments
		headers   headers
		want      bool
	}{
		{"all of nothing", arguments{"x-match": "all"}, headers{}, true},
		{"any of nothing", arguments{"x-match": "any"}, headers{"type": "order"}, false},
		{"no x-match means all", arguments{"type": "order", "country": "de"}, headers{"type": "order"}, false},
		{"all: each must match", arguments{"x-match": "all", "type": "order", "country": "de"}, headers{"type": "order", "country": "de", "more": "x"}, true},
		{"all: one value differs", arguments{"x-match": "all", "type": "order", "country": "de"}, headers{"type": "order", "country": "fr"}, false},
		{"any: one is enough", arguments{"x-match": "any", "type": "order", "country": "de"}, headers{"country": "de"}, true},
		{"any: none matches", arguments{"x-match": "any", "type": "order", "country": "de"}, headers{"type": "refund"}, false},
		{"a number is not its text", arguments{"x-match": "all", "n": int64(1)}, headers{"n": "1"}, false},
		{"all leaves x- aside", arguments{"x-match": "all", "x-last-death-reason": "rejected"}, headers{}, true},
		{"any leaves x- aside", arguments{"x-match": "any", "x-last-death-reason": "rejected"}, headers{"x-last-death-reason": "rejected"}, false},
		{"any and the owner's mark, which no header matches", arguments{"x-match": "any", topology.OwnerArgument: "o", "type": "order"}, headers{"type": "order"}, true},
		{"all-with-x looks at them", arguments{"x-match": "all-with-x", "x-last-death-reason": "rejected"}, headers{"x-last-death-reason": "expired"}, false},
		{"all-with-x finds them", arguments{"x-match": "all-with-x", "x-last-death-reason": "rejected"}, headers{"x-last-death-reason": "rejected"}, true},
		{"any-with-x finds one", arguments{"x-match": "any-with-x", "x-a": "1", "b": "2"}, headers{"x-a": "1"}, true},
		{"any-with-x finds none", arguments{"x-match": "any-with-x", "x-a": "1"}, headers{}, false},
		{"x-match itself is never looked for", arguments{"x-match": "all-with-x"}, headers{}, true},
	}
	for _, tc := range cases {
		t.Run(tc.reason, func(t *testing.T) {
			seen := seenWith(map[string]topology.SeenExchange{"e": exchangeOf("headers")}, matching(toQueue("e", "q"), tc.arguments))
			if got := len(topology.Resolve(seen, "e", topology.Message{Headers: tc.headers})) == 1; got != tc.want {
				t.Errorf("matches: %t, want %t", got, tc.want)
			}
		})
	}
}
