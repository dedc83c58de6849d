package drift_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/warren-mq/warren/api/v1alpha1"
	"github.com/warren-mq/warren/internal/drift"
	"github.com/warren-mq/warren/internal/topology"
)

// marked gives everything that has a mark another one; "" takes it away.
func (r *rabbit) marked(owner string) *rabbit {
	for name := range r.queues {
		r.setArgument(name, topology.OwnerArgument, orNil(owner))
	}
	for name := range r.exchanges {
		r.setExchange(name, func(e *topology.SeenExchange) {
			if e.Arguments.Owner() == "" {
				return
			}
			e.Arguments[topology.OwnerArgument] = owner
			if owner == "" {
				delete(e.Arguments, topology.OwnerArgument)
			}
		})
	}
	return r
}

func orNil(owner string) any {
	if owner == "" {
		return nil
	}
	return owner
}

// Redeclaring with another mark succeeds and changes nothing, so marks are
// compared. What is not ours stays as it is, and unbound.
func TestOwnership(t *testing.T) {
	abandoned := func(owner string) bool { return owner == other }
	inUse := func(string) bool { return false }
	cases := []struct {
		reason string
		owner  string
		claims drift.Claims
		// trespass is the owner that stands in the way of every object.
		trespass *string
	}{
		{"our own", mark, drift.Claims{}, nil},
		{"our own, under Adopt", mark, drift.Claims{Adopt: true}, nil},
		{"nobody's, and we do not adopt", "", drift.Claims{}, new("")},
		{"nobody's, and we adopt", "", drift.Claims{Adopt: true}, nil},
		{"another resource's", other, drift.Claims{}, new(other)},
		{"another resource's cannot be adopted", other, drift.Claims{Adopt: true, Abandoned: inUse}, new(other)},
		{"another resource's, of which nothing is known", other, drift.Claims{Adopt: true}, new(other)},
		{"a resource that is gone, and we adopt", other, drift.Claims{Adopt: true, Abandoned: abandoned}, nil},
		{"a resource that is gone, and we do not adopt", other, drift.Claims{Abandoned: abandoned}, new(other)},
		{"our own under the id of a cluster that we inherit from", "old/shop/billing", drift.Claims{Inherited: []string{"older/shop/billing", "old/shop/billing"}}, nil},
		{"another's under that id", "old/shop/shipping", drift.Claims{Inherited: []string{"old/shop/billing"}}, new("old/shop/shipping")},
		{"a mark that only begins like ours", mark + "2", drift.Claims{}, new(mark + "2")},
	}
	for _, tc := range cases {
		t.Run(tc.reason, func(t *testing.T) {
			want := subscription(t, threeDelays)
			r := rabbitWith(want).marked(tc.owner)
			r.deleteExchange("W.redrive") // so that there is something to do
			got := drift.Compare(want, r.snapshot(), tc.claims)

			if tc.trespass == nil {
				if len(got.Trespass) > 0 {
					t.Errorf("trespass: %v", got.Trespass)
				}
				assertPlan(t, got.Plan, "declare exchange \"W.redrive\"\ndeclare binding of queue \"W\" to exchange \"W.redrive\"")
				return
			}
			var expected []drift.Trespass
			for _, o := range want.Objects {
				if o.Kind() != topology.KindBinding && o.String() != `exchange "W.redrive"` {
					expected = append(expected, drift.Trespass{Object: o, Owner: *tc.trespass, Abandoned: tc.claims.Abandoned != nil && tc.claims.Abandoned(*tc.trespass)})
				}
			}
			if diff := cmp.Diff(expected, got.Trespass); diff != "" {
				t.Errorf("trespass (-want +got):\n%s", diff)
			}
			assertPlan(t, got.Plan, "")
			if len(got.Differences) > 0 {
				t.Errorf("what is not ours is not compared: %v", got.Differences)
			}
		})
	}
}

// One object of somebody else's stops the whole subscription.
func TestOneTrespassStopsEverything(t *testing.T) {
	want := subscription(t, threeDelays)
	r := newRabbit()
	r.queues["W"] = topology.SeenQueue{Name: "W", Type: "quorum", Durable: true, Arguments: topology.Arguments{"x-queue-type": "quorum"}}
	got := drift.Compare(want, r.snapshot(), nothingOwned)
	if diff := cmp.Diff([]string{`queue "W"`}, trespassed(got)); diff != "" {
		t.Errorf("trespass (-want +got):\n%s", diff)
	}
	assertPlan(t, got.Plan, "")
}

func trespassed(r drift.Result) []string {
	var list []string
	for _, t := range r.Trespass {
		list = append(list, t.Object.String())
	}
	return list
}

// What is adopted as it is must not cost messages: else it stays unbound.
func TestAdoption(t *testing.T) {
	cases := []struct {
		reason string
		spoil  func(*rabbit)
		unsafe bool
	}{
		{"as declared", func(*rabbit) {}, false},
		{"another delivery limit", func(r *rabbit) { r.setArgument("W", "x-delivery-limit", int64(5)) }, false},
		{"no way out for dying messages", func(r *rabbit) { r.setArgument("W", "x-dead-letter-exchange", nil) }, true},
		{"a classic queue", func(r *rabbit) { r.setQueue("W", func(q *topology.SeenQueue) { q.Type = "classic" }) }, true},
		{"a parking queue that forgets after 21 looks", func(r *rabbit) { r.setArgument("W.parking", "x-delivery-limit", nil) }, true},
		{"a second retry mechanism", func(r *rabbit) { r.setArgument("W", "x-delayed-retry-type", "all") }, true},
		{"a policy that empties the parking queue", func(r *rabbit) {
			r.policies = append(r.policies, topology.Policy{Name: "stray", Pattern: "parking$", ApplyTo: "queues", Definition: topology.Arguments{"message-ttl": int64(1)}})
		}, true},
		{"an exchange of another type", func(r *rabbit) { r.setExchange("W.dead", func(e *topology.SeenExchange) { e.Type = "fanout" }) }, true},
	}
	for _, tc := range cases {
		t.Run(tc.reason, func(t *testing.T) {
			want := subscription(t, threeDelays)
			r := rabbitWith(want).marked("")
			tc.spoil(r)
			// The sources are not bound yet.
			r.unbind(func(b topology.Binding) bool { return b.Source == "orders" })

			got := drift.Compare(want, r.snapshot(), drift.Claims{Adopt: true})
			if got.UnsafeToAdopt() != tc.unsafe {
				t.Errorf("unsafe to adopt: %t, want %t; %v", got.UnsafeToAdopt(), tc.unsafe, got.Differences)
			}
			for _, d := range got.Differences {
				if !d.Adopted {
					t.Errorf("%s of %s is not told to be adopted", d.Field, d.Object)
				}
			}
			plan := "declare binding of queue \"W\" to exchange \"orders\" with key \"order.placed\"\ndeclare binding of queue \"W\" to exchange \"orders\" with key \"order.cancelled\""
			if tc.unsafe {
				plan = ""
			}
			assertPlan(t, got.Plan, plan)
		})
	}
}

// Our own queue with an unsafe setting goes on: its messages are nowhere better off.
func TestUnsafeDriftOfOurOwnStopsNothing(t *testing.T) {
	want := subscription(t, threeDelays)
	r := rabbitWith(want)
	r.setArgument("W", "x-dead-letter-strategy", nil)
	r.deleteQueue("W.parking")
	got := drift.Compare(want, r.snapshot(), nothingOwned)
	if got.UnsafeToAdopt() {
		t.Error("nothing was adopted")
	}
	assertPlan(t, got.Plan, "declare queue \"W.parking\"\ndeclare binding of queue \"W.parking\" to exchange \"W.park\"")
}

// A topic's exchange that is there as wanted is adopted without a word.
func TestATopicAdoptsItsExchange(t *testing.T) {
	want := topic(t, v1alpha1.TopicSpec{})
	r := newRabbit()
	r.exchanges["events"] = topology.SeenExchange{Name: "events", Type: "topic", Durable: true}
	assertInSync(t, drift.Compare(want, r.snapshot(), drift.Claims{Adopt: true}))
	if diff := cmp.Diff([]string{`exchange "events"`}, trespassed(drift.Compare(want, r.snapshot(), drift.Claims{}))); diff != "" {
		t.Errorf("trespass (-want +got):\n%s", diff)
	}
}
