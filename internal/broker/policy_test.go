package broker

import (
	"net/url"
	"testing"

	"github.com/google/go-cmp/cmp"
	rabbithole "github.com/michaelklishin/rabbit-hole/v2"

	"github.com/warren-mq/warren/hack/localenv"
	"github.com/warren-mq/warren/internal/topology"
)

type definition = topology.Arguments

func policy(name, pattern string, priority int, d definition) topology.Policy {
	return topology.Policy{Name: name, Pattern: pattern, ApplyTo: "queues", Priority: priority, Definition: d}
}

// What a snapshot says right after a change must be what the broker's own
// statistics come to say, seconds later.
func TestPoliciesInForce(t *testing.T) {
	limit := func(n int64) *int64 { return &n }
	cases := []struct {
		name       string
		reason     string
		arguments  topology.Arguments
		policies   []topology.Policy
		operator   []topology.Policy
		wantPolicy string
		want       definition
		wantLimit  *int64
	}{
		{name: "none", reason: "known to be none, which is not the same as unknown", want: definition{}, wantLimit: limit(20)},
		{name: "argument", reason: "no policy", arguments: topology.Arguments{"x-delivery-limit": int64(7)}, want: definition{}, wantLimit: limit(7)},
		{name: "unlimited", reason: "the word is a number with us", arguments: topology.Arguments{"x-delivery-limit": int64(-1)}, want: definition{}, wantLimit: limit(-1)},
		{
			name: "policy lowers", reason: "the lower wins", arguments: topology.Arguments{"x-delivery-limit": int64(7)},
			policies:   []topology.Policy{policy("a", "^q$", 0, definition{"delivery-limit": int64(5)})},
			wantPolicy: "a", want: definition{"delivery-limit": int64(5)}, wantLimit: limit(5),
		},
		{
			name: "policy does not raise", reason: "the lower wins", arguments: topology.Arguments{"x-delivery-limit": int64(2)},
			policies:   []topology.Policy{policy("a", ".*", 0, definition{"delivery-limit": int64(99)})},
			wantPolicy: "a", want: definition{"delivery-limit": int64(99)}, wantLimit: limit(2),
		},
		{
			name: "policy ends what was unlimited", reason: "a stray policy wins over the parking queue's -1",
			arguments:  topology.Arguments{"x-delivery-limit": int64(-1)},
			policies:   []topology.Policy{policy("a", ".*", 0, definition{"delivery-limit": int64(5)})},
			wantPolicy: "a", want: definition{"delivery-limit": int64(5)}, wantLimit: limit(5),
		},
		{
			name: "priority", reason: "one policy counts, whole",
			policies: []topology.Policy{
				policy("low", "^q", 1, definition{"max-length": int64(5), "message-ttl": int64(60_000)}),
				policy("high", "^.$", 2, definition{"max-length": int64(9)}),
				policy("other", "^x", 3, definition{"max-length": int64(1)}),
			},
			wantPolicy: "high", want: definition{"max-length": int64(9)}, wantLimit: limit(20),
		},
		{
			name: "pattern of Erlang's own", reason: "a look-ahead, which Go does not know, needs no understanding here",
			policies:   []topology.Policy{policy("a", "^(?!x)q", 0, definition{"max-length": int64(5)})},
			wantPolicy: "a", want: definition{"max-length": int64(5)}, wantLimit: limit(20),
		},
		{
			name: "operator policy alone", reason: "it is in the effective definition",
			operator: []topology.Policy{policy("o", "^q$", 0, definition{"message-ttl": int64(60_000), "delivery-limit": int64(3)})},
			want:     definition{"message-ttl": int64(60_000), "delivery-limit": int64(3)}, wantLimit: limit(3),
		},
		{
			name: "operator policy limits a policy", reason: "the lower of each number wins",
			policies: []topology.Policy{policy("a", "^q$", 0, definition{"max-length": int64(5), "message-ttl": int64(60_000), "delivery-limit": int64(9), "overflow": "reject-publish"})},
			operator: []topology.Policy{
				policy("o", "^q$", 5, definition{"max-length": int64(9), "message-ttl": int64(50_000), "delivery-limit": int64(4)}),
				policy("lower", ".*", 1, definition{"max-length": int64(1)}),
			},
			wantPolicy: "a", wantLimit: limit(4),
			want: definition{"max-length": int64(5), "message-ttl": int64(50_000), "delivery-limit": int64(4), "overflow": "reject-publish"},
		},
	}
	localenv.ForEachBroker(t, func(t *testing.T, b *localenv.RabbitMQ) {
		t.Parallel()
		// All cases wait for the statistics together.
		var settled []func() string
		for _, c := range cases {
			v := b.NewVhost(t)
			s := newSession(t, configOf(v), Options{})
			mustDeclare(t, s, quorum("q", c.arguments))
			putOperatorPolicies(t, v, c.operator)
			for _, p := range c.policies {
				mustDeclare(t, s, p)
			}
			q := mustObserve(t, s).Snapshot.Queues["q"]
			wantEqual(t, c.name+": policy", q.Policy, c.wantPolicy)
			wantEqual(t, c.name+": effective policy", q.EffectivePolicy, c.want)
			wantEqual(t, c.name+": delivery limit", q.DeliveryLimit, c.wantLimit)
			if (q.OperatorPolicy == "o") != (len(c.operator) > 0) {
				t.Errorf("%s: operator policy %q", c.name, q.OperatorPolicy)
			}
			settled = append(settled, func() string {
				var own queueRecord
				must(t, s.management.get(t.Context(), task{op: "test"}, "queues/"+url.PathEscape(v.Name)+"/q", nil, &own))
				if diff := cmp.Diff(c.want, own.EffectivePolicy.get()) + cmp.Diff(c.wantLimit, (*int64)(own.DeliveryLimit)); diff != "" {
					return c.name + ": RabbitMQ itself says otherwise:\n" + diff
				}
				return ""
			})
		}
		for _, check := range settled {
			eventually(t, waitForBroker, check)
		}
	})
}

func putOperatorPolicies(t testing.TB, v *localenv.Vhost, policies []topology.Policy) {
	t.Helper()
	for _, p := range policies {
		response, err := admin(t, v.Broker).PutOperatorPolicy(v.Name, p.Name, rabbithole.OperatorPolicy{
			Vhost: v.Name, Name: p.Name, Pattern: p.Pattern, ApplyTo: p.ApplyTo, Priority: p.Priority,
			Definition: rabbithole.PolicyDefinition(p.Definition),
		})
		must(t, err)
		_ = response.Body.Close()
	}
}

func TestPolicyBook(t *testing.T) {
	five := definition{"max-length": int64(5)}
	book := func(operators ...topology.Policy) policyBook {
		return newPolicyBook([]topology.Policy{policy("a", "unused", 0, five)}, operators)
	}
	cases := []struct {
		name     string
		reason   string
		book     policyBook
		record   queueRecord
		want     definition // nil: not known
		operator string
	}{
		{name: "told by the broker", reason: "believed", book: book(), record: queueRecord{Name: "q", EffectivePolicy: object{value: definition{"max-length": int64(7)}}}, want: definition{"max-length": int64(7)}},
		{name: "none", reason: "known to be none", book: book(), record: queueRecord{Name: "q"}, want: definition{}},
		{name: "named", reason: "RabbitMQ 4.0 tells the name", book: book(), record: queueRecord{Name: "q", Policy: "a"}, want: five},
		{name: "named and unknown", reason: "set between the two lists", book: book(), record: queueRecord{Name: "q", Policy: "new"}, want: nil},
		{
			name: "operator policy for another type", reason: "does not apply",
			book: newPolicyBook(nil, []topology.Policy{{Name: "o", Pattern: ".*", ApplyTo: "classic_queues", Definition: five}}), record: queueRecord{Name: "q", Type: "quorum"}, want: definition{},
		},
		{
			name: "operator policy for this type", reason: "applies",
			book: newPolicyBook(nil, []topology.Policy{{Name: "o", Pattern: ".*", ApplyTo: "quorum_queues", Definition: five}}), record: queueRecord{Name: "q", Type: "quorum"}, want: five, operator: "o",
		},
		{name: "ties", reason: "either may win", book: book(policy("o", ".*", 1, five), policy("p", "^q", 1, five)), record: queueRecord{Name: "q"}, want: nil},
		{
			name: "tie below the winner", reason: "does not matter",
			book: book(policy("o", ".*", 1, five), policy("p", "^q", 1, five), policy("w", "^q", 2, definition{"max-length": int64(3)})), record: queueRecord{Name: "q"},
			want: definition{"max-length": int64(3)}, operator: "w",
		},
		{name: "pattern that Go does not know", reason: "it may match", book: book(policy("o", "^(?!x)", 1, five)), record: queueRecord{Name: "q"}, want: nil},
		{
			name: "pattern that Go does not know, of lower priority", reason: "whether it matches does not matter",
			book: book(policy("w", "^q", 2, five), policy("o", "^(?!x)", 1, definition{})), record: queueRecord{Name: "q"}, want: five, operator: "w",
		},
		{
			name: "pattern that Go does not know, of higher priority", reason: "it may win",
			book: book(policy("w", "^q", 2, five), policy("o", "^(?!x)", 3, definition{})), record: queueRecord{Name: "q"}, want: nil,
		},
		{name: "dot and umlaut", reason: "RabbitMQ's dot takes a byte", book: book(policy("o", "^..$", 1, five)), record: queueRecord{Name: "ü"}, want: five, operator: "o"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			seen := topology.SeenQueue{Name: c.record.Name, Type: c.record.Type}
			c.book.fillIn(&seen, c.record)
			wantEqual(t, "effective policy", seen.EffectivePolicy, c.want)
			wantEqual(t, "operator policy", seen.OperatorPolicy, c.operator)
		})
	}
}

func TestLowestLimit(t *testing.T) {
	cases := []struct {
		reason   string
		settings []any
		want     int64
	}{
		{reason: "RabbitMQ's default", settings: []any{nil, nil}, want: 20},
		{reason: "only one is set", settings: []any{nil, int64(99)}, want: 99},
		{reason: "the lower wins", settings: []any{int64(5), int64(9)}, want: 5},
		{reason: "unlimited is above all", settings: []any{int64(-1), int64(30)}, want: 30},
		{reason: "in either order", settings: []any{int64(30), int64(-1)}, want: 30},
		{reason: "unlimited by all", settings: []any{int64(-1), nil}, want: -1},
		{reason: "0 is a limit", settings: []any{int64(-1), int64(0)}, want: 0},
	}
	for _, c := range cases {
		if got := lowestLimit(c.settings...); got != c.want {
			t.Errorf("%s: %v gives %d, want %d", c.reason, c.settings, got, c.want)
		}
	}
}
