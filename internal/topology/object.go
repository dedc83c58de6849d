package topology

import (
	"fmt"
	"maps"
)

// OwnerArgument is the argument that carries the owner's mark,
// <cluster id>/<namespace>/<name>. RabbitMQ keeps an argument that it does not
// know, shows it, and does not compare it when the object is declared again.
const OwnerArgument = "x-warren-owner"

// Kind says what an [Object] is.
type Kind string

// The kinds of object.
const (
	KindExchange Kind = "exchange"
	KindQueue    Kind = "queue"
	KindBinding  Kind = "binding"
	KindPolicy   Kind = "policy"
)

// Object is something that a broker has by declaration: [Exchange], [Queue],
// [Binding] or [Policy]. String names it as messages do.
type Object interface {
	Kind() Kind
	String() string
}

// Arguments of a queue, an exchange or a binding. Values are int64, string or bool.
type Arguments map[string]any

// With returns a copy with one more argument.
func (a Arguments) With(key string, value any) Arguments {
	c := maps.Clone(a)
	if c == nil {
		c = Arguments{}
	}
	c[key] = value
	return c
}

// Owner is the owner's mark, or "" where there is none.
func (a Arguments) Owner() string {
	owner, _ := a[OwnerArgument].(string)
	return owner
}

// Exchange types that Warren declares itself.
const (
	Fanout  = "fanout"
	Headers = "headers"
)

// Exchange is a durable exchange.
type Exchange struct {
	Name      string
	Type      string
	Arguments Arguments
}

// Kind is [KindExchange].
func (Exchange) Kind() Kind { return KindExchange }

func (e Exchange) String() string { return fmt.Sprintf("exchange %q", e.Name) }

// AlternateExchange is where unroutable messages go, or "".
func (e Exchange) AlternateExchange() string {
	name, _ := e.Arguments["alternate-exchange"].(string)
	return name
}

// Role says what a queue is for. What is good for one is a fault in another:
// a time-to-live is the point of a wait queue and the end of a parking queue.
type Role string

// The roles of a queue.
const (
	RoleWork       Role = "work"
	RoleWait       Role = "wait"
	RoleParking    Role = "parking"
	RoleUnroutable Role = "unroutable"
)

// Queue is a durable quorum queue.
type Queue struct {
	Name      string
	Role      Role
	Arguments Arguments
}

// Kind is [KindQueue].
func (Queue) Kind() Kind { return KindQueue }

func (q Queue) String() string { return fmt.Sprintf("queue %q", q.Name) }

// Binding leads from an exchange to a queue or to another exchange.
type Binding struct {
	Source          string
	Destination     string
	DestinationKind Kind
	RoutingKey      string
	Arguments       Arguments
}

// Kind is [KindBinding].
func (Binding) Kind() Kind { return KindBinding }

func (b Binding) String() string {
	s := fmt.Sprintf("binding of %s %q to exchange %q", b.DestinationKind, b.Destination, b.Source)
	if b.RoutingKey != "" {
		s += fmt.Sprintf(" with key %q", b.RoutingKey)
	}
	if m := b.matchArguments(); len(m) > 0 {
		s += fmt.Sprintf(" with %s", formatArguments(m))
	}
	return s
}

// Routes tells whether b and other send the same messages to the same place.
// The owner's mark does not count: no exchange type looks at it.
func (b Binding) Routes(other Binding) bool {
	return b.Source == other.Source && b.Destination == other.Destination &&
		b.DestinationKind == other.DestinationKind && b.RoutingKey == other.RoutingKey &&
		EqualArguments(b.matchArguments(), other.matchArguments())
}

func (b Binding) matchArguments() Arguments {
	m := maps.Clone(b.Arguments)
	delete(m, OwnerArgument)
	return m
}

// Policy sets arguments of the queues whose names its pattern matches.
type Policy struct {
	Name       string
	Pattern    string
	ApplyTo    string
	Priority   int
	Definition Arguments
}

// Kind is [KindPolicy].
func (Policy) Kind() Kind { return KindPolicy }

func (p Policy) String() string { return fmt.Sprintf("policy %q", p.Name) }
