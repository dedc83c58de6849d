package topology

import (
	"crypto/sha256"
	"slices"
	"sync"
	"time"
)

// Snapshot is what a broker had in one vhost, as read back. It is not changed
// once it is built, so that everybody may share it.
type Snapshot struct {
	// TakenAt is when the first read of it began: what was declared before is in it.
	TakenAt   time.Time
	Broker    Version
	Queues    map[string]SeenQueue
	Exchanges map[string]SeenExchange
	// Policies and OperatorPolicies of the vhost.
	Policies         []Policy
	OperatorPolicies []Policy

	// Bindings of the vhost; nil are none.
	Bindings *Bindings

	// Made when they are first asked for.
	indexOwners    sync.Once
	byOwner        map[string][]string
	digestPolicies sync.Once
	digest         [sha256.Size]byte
}

// QueuesOf lists the queues that bear an owner's mark, by name.
func (s *Snapshot) QueuesOf(owner string) []string {
	s.indexOwners.Do(func() {
		s.byOwner = map[string][]string{}
		for name, q := range s.Queues {
			if mark := q.Arguments.Owner(); mark != "" {
				s.byOwner[mark] = append(s.byOwner[mark], name)
			}
		}
		for _, names := range s.byOwner {
			slices.Sort(names)
		}
	})
	return s.byOwner[owner]
}

// SeenExchange is an exchange as read back.
type SeenExchange struct {
	Name       string
	Type       string
	Durable    bool
	AutoDelete bool
	Internal   bool
	Arguments  Arguments
}

// SeenQueue is a queue as read back. A nil counter is one that the broker did
// not tell: unknown, not 0.
type SeenQueue struct {
	Name       string
	Type       string
	Durable    bool
	AutoDelete bool
	Exclusive  bool
	Arguments  Arguments

	// State as the broker has it: running, down, minority, ... "" where it did not tell.
	State   string
	Members []string
	Online  []string

	// Policy and OperatorPolicy in force, by name.
	Policy         string
	OperatorPolicy string
	// EffectivePolicy is what the policies amount to for this queue.
	EffectivePolicy Arguments
	// DeliveryLimit in force; [Unlimited] when it is off.
	DeliveryLimit *int64

	Messages       *int64
	Ready          *int64
	Unacknowledged *int64
	// DeadLettering are messages that died and could not leave yet.
	DeadLettering *int64
	// Delayed are messages that wait for a native retry.
	Delayed   *int64
	Consumers *int64

	// Deliveries, Redeliveries among them, and Acknowledgements since the
	// broker's statistics began. Nil before the first one.
	Deliveries       *int64
	Redeliveries     *int64
	Acknowledgements *int64
	// Trouble is what has lasted over more than one reading.
	Trouble Trouble
}

// Trouble is what can be told from successive readings only.
type Trouble struct {
	// DeadLetteringSince is the first of the readings in a row, up to this
	// one, that found dead letters which could not leave; zero if this one did not.
	DeadLetteringSince time.Time
	// DeadLetteringEased: there were fewer of them than at the reading before.
	DeadLetteringEased bool
	// SpinningSince is the first of the readings in a row that found messages
	// which were redelivered, and are again or are held by a consumer, and no
	// acknowledgement; zero if this one did not.
	SpinningSince time.Time
	// RedeliveredAt is the last of those readings that found more
	// redeliveries than the one before; zero without SpinningSince.
	RedeliveredAt time.Time
	// ChangedAt is the last reading, as far as is known, that found more
	// messages than the one before, or fewer.
	ChangedAt time.Time
	// NonemptySince is the first of the readings in a row that found messages.
	NonemptySince time.Time
	// EmptySince is the first of the readings in a row that found the queue
	// known to be empty, in the same sense.
	EmptySince time.Time
	// DrainedSince is the first of the readings in a row that found the queue
	// known to be empty (ready, unacknowledged, dead-lettering, delayed where
	// the broker has it) and no binding that leads to it.
	DrainedSince time.Time
}

// Argument gives the value in force for a setting that can be an argument or
// a policy's key, for those where the argument beats the policy.
func (q SeenQueue) Argument(argument string) any {
	if v, ok := q.Arguments[argument]; ok {
		return v
	}
	if key, ok := policyKeys[argument]; ok {
		return q.EffectivePolicy[key]
	}
	return nil
}
