package topology_test

import (
	"testing"

	"github.com/warren-mq/warren/internal/topology"
)

func TestEqualValues(t *testing.T) {
	cases := []struct {
		reason string
		a, b   any
		want   bool
	}{
		{"the same", int64(20), int64(20), true},
		{"an integer's width does not matter", int32(20), int64(20), true},
		{"an int of Go's", 20, int64(20), true},
		{"a number of JSON's", float64(20), int64(20), true},
		{"a small integer", int8(-1), int64(-1), true},
		{"an unsigned one", uint8(20), int64(20), true},
		{"fractions differ", 20.5, int64(20), false},
		{"a number is not its text", "20", int64(20), false},
		{"nor the text of a switch", "true", true, false},
		{"switches", true, true, true},
		{"none and none", nil, nil, true},
		{"none is not empty", nil, "", false},
		{"none is not nought", nil, int64(0), false},
		{"tables by their text", map[string]any{"a": 1}, map[string]any{"a": 1}, true},
		{"lists by their text", []any{"a"}, []any{"b"}, false},
	}
	for _, tc := range cases {
		t.Run(tc.reason, func(t *testing.T) {
			if got := topology.EqualValues(tc.a, tc.b); got != tc.want {
				t.Errorf("EqualValues(%v, %v) = %t", tc.a, tc.b, got)
			}
			if got := topology.EqualValues(tc.b, tc.a); got != tc.want {
				t.Errorf("EqualValues(%v, %v) = %t", tc.b, tc.a, got)
			}
		})
	}
}

func TestEqualArguments(t *testing.T) {
	type arguments = topology.Arguments
	cases := []struct {
		reason string
		a, b   arguments
		want   bool
	}{
		{"none and empty", nil, arguments{}, true},
		{"by value", arguments{"x-delivery-limit": int64(20)}, arguments{"x-delivery-limit": float64(20)}, true},
		{"one more", arguments{"a": "1"}, arguments{"a": "1", "b": "2"}, false},
		{"one less", arguments{"a": "1", "b": "2"}, arguments{"a": "1"}, false},
		{"another name", arguments{"a": "1"}, arguments{"b": "1"}, false},
		{"none is not left out", arguments{"a": nil}, arguments{"b": nil}, false},
	}
	for _, tc := range cases {
		t.Run(tc.reason, func(t *testing.T) {
			if got := topology.EqualArguments(tc.a, tc.b); got != tc.want {
				t.Errorf("EqualArguments(%v, %v) = %t", tc.a, tc.b, got)
			}
		})
	}
}

func TestInteger(t *testing.T) {
	cases := []struct {
		in   any
		want int64
		ok   bool
	}{
		{int64(7), 7, true}, {float64(7), 7, true}, {int16(-1), -1, true},
		{7.5, 0, false}, {"7", 0, false}, {nil, 0, false}, {true, 0, false},
	}
	for _, tc := range cases {
		if got, ok := topology.Integer(tc.in); got != tc.want || ok != tc.ok {
			t.Errorf("Integer(%#v) = %d, %t", tc.in, got, ok)
		}
	}
}

func TestBindingsThatRouteAlike(t *testing.T) {
	base := topology.Binding{Source: "e", Destination: "q", DestinationKind: topology.KindQueue, RoutingKey: "k",
		Arguments: topology.Arguments{"x-match": "all", "type": "order"}}
	cases := []struct {
		reason string
		change func(*topology.Binding)
		want   bool
	}{
		{"the same", func(*topology.Binding) {}, true},
		{"the owner's mark does not count", func(b *topology.Binding) { b.Arguments = b.Arguments.With(topology.OwnerArgument, "o") }, true},
		{"another source", func(b *topology.Binding) { b.Source = "f" }, false},
		{"another queue", func(b *topology.Binding) { b.Destination = "r" }, false},
		{"an exchange of the queue's name", func(b *topology.Binding) { b.DestinationKind = topology.KindExchange }, false},
		{"another key", func(b *topology.Binding) { b.RoutingKey = "" }, false},
		{"another value", func(b *topology.Binding) { b.Arguments = b.Arguments.With("type", "refund") }, false},
		{"one more header", func(b *topology.Binding) { b.Arguments = b.Arguments.With("country", "de") }, false},
	}
	for _, tc := range cases {
		t.Run(tc.reason, func(t *testing.T) {
			other := base
			tc.change(&other)
			if base.Routes(other) != tc.want || other.Routes(base) != tc.want {
				t.Errorf("routes alike: %t, want %t", base.Routes(other), tc.want)
			}
		})
	}
}

// Objects are named in messages and Events as people would name them.
func TestObjectsHaveNames(t *testing.T) {
	cases := []struct {
		object topology.Object
		want   string
	}{
		{topology.Exchange{Name: "orders"}, `exchange "orders"`},
		{topology.Queue{Name: "orders.billing"}, `queue "orders.billing"`},
		{topology.Policy{Name: "warren.shop.billing"}, `policy "warren.shop.billing"`},
		{topology.Binding{Source: "e", Destination: "q", DestinationKind: topology.KindQueue}, `binding of queue "q" to exchange "e"`},
		{topology.Binding{Source: "e", Destination: "f", DestinationKind: topology.KindExchange, RoutingKey: "order.*"}, `binding of exchange "f" to exchange "e" with key "order.*"`},
		{topology.Binding{Source: "e", Destination: "q", DestinationKind: topology.KindQueue, Arguments: topology.Arguments{"x-match": "any", "type": "order", topology.OwnerArgument: "o"}},
			`binding of queue "q" to exchange "e" with {type: order, x-match: any}`},
	}
	for _, tc := range cases {
		if got := tc.object.String(); got != tc.want {
			t.Errorf("%s, want %s", got, tc.want)
		}
	}
}
