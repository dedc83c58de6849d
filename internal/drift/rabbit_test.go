package drift_test

import (
	"maps"
	"regexp"
	"slices"
	"time"

	"github.com/warren-mq/warren/internal/drift"
	"github.com/warren-mq/warren/internal/topology"
)

var (
	rabbit40 = topology.Version{Major: 4, Minor: 0, Patch: 5}
	rabbit43 = topology.Version{Major: 4, Minor: 3, Patch: 6}
)

// now is when every snapshot of these tests is taken.
var now = time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)

// rabbit is what a broker has. Tests declare topologies on it, spoil something, and
// look at it through a snapshot.
type rabbit struct {
	version          topology.Version
	queues           map[string]topology.SeenQueue
	exchanges        map[string]topology.SeenExchange
	bindings         []topology.Binding
	policies         []topology.Policy
	operatorPolicies []topology.Policy
}

// newRabbit has RabbitMQ 4.3 and the topic exchange orders, which is somebody else's.
func newRabbit() *rabbit {
	r := &rabbit{version: rabbit43, queues: map[string]topology.SeenQueue{}, exchanges: map[string]topology.SeenExchange{}}
	r.exchanges["orders"] = topology.SeenExchange{Name: "orders", Type: "topic", Durable: true}
	return r
}

// rabbitWith has topologies as they were declared.
func rabbitWith(declared ...*topology.Topology) *rabbit {
	r := newRabbit()
	for _, t := range declared {
		for _, o := range t.Objects {
			r.declare(o)
		}
	}
	return r
}

// declare does what RabbitMQ does: what exists stays as it is, a policy is set.
func (r *rabbit) declare(o topology.Object) {
	switch o := o.(type) {
	case topology.Exchange:
		if _, there := r.exchanges[o.Name]; !there {
			r.exchanges[o.Name] = topology.SeenExchange{Name: o.Name, Type: o.Type, Durable: true, Arguments: maps.Clone(o.Arguments)}
		}
	case topology.Queue:
		if _, there := r.queues[o.Name]; !there {
			r.queues[o.Name] = topology.SeenQueue{Name: o.Name, Type: "quorum", Durable: true, State: "running", Arguments: maps.Clone(o.Arguments)}
		}
	case topology.Policy:
		r.policies = slices.DeleteFunc(r.policies, func(p topology.Policy) bool { return p.Name == o.Name })
		r.policies = append(r.policies, o)
	case topology.Binding:
		if !slices.ContainsFunc(r.bindings, func(b topology.Binding) bool { return sameBinding(b, o) }) {
			r.bindings = append(r.bindings, o)
		}
	}
}

// sameBinding compares as the broker does: the owner's mark is part of a binding.
func sameBinding(a, b topology.Binding) bool {
	return a.Routes(b) && a.Arguments.Owner() == b.Arguments.Owner()
}

// do carries out one action of a plan.
func (r *rabbit) do(action drift.Action) {
	switch a := action.(type) {
	case drift.Declare:
		r.declare(a.Object)
	case drift.Unbind:
		r.unbind(func(b topology.Binding) bool { return sameBinding(b, a.Binding) })
	case drift.DeletePolicy:
		r.policies = slices.DeleteFunc(r.policies, func(p topology.Policy) bool { return p.Name == a.Name })
	case drift.DeleteDrained:
		r.deleteQueue(a.Queue)
	case drift.DeleteQueue:
		r.deleteQueue(a.Queue)
	case drift.DeleteEmptyQueue:
		r.deleteQueue(a.Queue)
	case drift.DeleteExchange:
		r.deleteExchange(a.Name)
	}
}

func (r *rabbit) unbind(goes func(topology.Binding) bool) {
	r.bindings = slices.DeleteFunc(slices.Clone(r.bindings), goes)
}

func (r *rabbit) deleteQueue(name string) {
	delete(r.queues, name)
	r.unbind(func(b topology.Binding) bool { return b.DestinationKind == topology.KindQueue && b.Destination == name })
}

func (r *rabbit) deleteExchange(name string) {
	delete(r.exchanges, name)
	r.unbind(func(b topology.Binding) bool {
		return b.Source == name || (b.DestinationKind == topology.KindExchange && b.Destination == name)
	})
}

// setQueue changes a queue, as nobody can on a real broker: it stands for one that was declared so.
func (r *rabbit) setQueue(name string, change func(*topology.SeenQueue)) {
	q := r.queues[name]
	q.Arguments = maps.Clone(q.Arguments)
	change(&q)
	r.queues[name] = q
}

func (r *rabbit) setArgument(queue, argument string, value any) {
	r.setQueue(queue, func(q *topology.SeenQueue) {
		q.Arguments[argument] = value
		if value == nil {
			delete(q.Arguments, argument)
		}
	})
}

func (r *rabbit) setExchange(name string, change func(*topology.SeenExchange)) {
	e := r.exchanges[name]
	e.Arguments = maps.Clone(e.Arguments)
	change(&e)
	r.exchanges[name] = e
}

// snapshot reads everything back, with the policies that are in force.
func (r *rabbit) snapshot() *topology.Snapshot {
	seen := &topology.Snapshot{
		TakenAt: now, Broker: r.version,
		Queues: map[string]topology.SeenQueue{}, Exchanges: maps.Clone(r.exchanges),
		Policies: r.policies, OperatorPolicies: r.operatorPolicies,
	}
	seen.Bindings = topology.NewBindings(r.bindings)
	for name, q := range r.queues {
		policy, operator := inForce(r.policies, name), inForce(r.operatorPolicies, name)
		q.Policy, q.OperatorPolicy = policy.Name, operator.Name
		q.EffectivePolicy = merge(policy.Definition, operator.Definition)
		q.DeliveryLimit = r.deliveryLimit(q)
		seen.Queues[name] = q
	}
	return seen
}

// inForce finds the policy of a quorum queue that wins; of the same priority, the first one.
func inForce(policies []topology.Policy, queue string) topology.Policy {
	var best topology.Policy
	for _, p := range policies {
		applies := p.ApplyTo != "exchanges" && p.ApplyTo != "classic_queues" && regexp.MustCompile(p.Pattern).MatchString(queue)
		if applies && (best.Name == "" || p.Priority > best.Priority) {
			best = p
		}
	}
	return best
}

// merge lets an operator policy limit a policy.
func merge(policy, operator topology.Arguments) topology.Arguments {
	merged := topology.Arguments{}
	maps.Copy(merged, policy)
	for key, value := range operator {
		mine, ok := topology.Integer(merged[key])
		theirs, _ := topology.Integer(value)
		if !ok || theirs < mine {
			merged[key] = value
		}
	}
	return merged
}

func (r *rabbit) deliveryLimit(q topology.SeenQueue) *int64 {
	if q.Type != "quorum" {
		return nil
	}
	lowest := int64(20)
	argument, given := topology.Integer(q.Arguments["x-delivery-limit"])
	if given {
		lowest = argument
	}
	if fromPolicy, ok := topology.Integer(q.EffectivePolicy["delivery-limit"]); ok && (!given || lowest < 0 || fromPolicy < lowest) {
		lowest = fromPolicy
	}
	return &lowest
}
