package controllers

import (
	"context"
	"maps"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/warren-mq/warren/api/v1alpha1"
	"github.com/warren-mq/warren/internal/broker"
	"github.com/warren-mq/warren/internal/topology"
)

// Session is what the reconcilers need of a connection to a broker.
type Session interface {
	Observe(ctx context.Context, opts broker.ObserveOptions) (*broker.Observation, error)
	Declare(ctx context.Context, objects []topology.Object) error
	Unbind(ctx context.Context, b topology.Binding) error
	DeleteEmptyQueue(ctx context.Context, name string) error
	Count(ctx context.Context, queue string) (broker.QueueCount, error)
	Move(ctx context.Context, move broker.Move, progress *broker.MoveProgress) (broker.MoveEnd, error)
	DeletePolicy(ctx context.Context, name string) error
	DeleteQueue(ctx context.Context, name string) (messages int, err error)
	DeleteExchange(ctx context.Context, name string) error
	DeleteUnusedExchange(ctx context.Context, name string) error
	Account(ctx context.Context, name string) (*broker.SeenAccount, error)
	KeepAccount(ctx context.Context, account broker.Account) error
	DeleteAccount(ctx context.Context, name, tag string) error
	Close()
}

// View is what is known of a broker at a moment. It is not changed once it
// is published; a new reading is a new view.
type View struct {
	// Broker as it was when it was read.
	Broker  *v1alpha1.Broker
	Session Session
	// Endpoint is where applications reach it.
	Endpoint broker.Endpoint
	// Observation is the last reading, or nil when it failed.
	Observation *broker.Observation
	// Problem says why there is no reading that can be used.
	Problem *Problem
	// SyncPeriod from the beginning of one reading to that of the next.
	SyncPeriod time.Duration
	// Took is how long the reading did.
	Took time.Duration
}

// Brokers holds the view of every Broker resource. Its methods may be called
// by many goroutines at once.
type Brokers struct {
	mu    sync.RWMutex
	views map[types.NamespacedName]View
	// kickedAt is when a reading was last asked for.
	kickedAt map[types.NamespacedName]time.Time
	// readAt is when the last good reading was begun.
	readAt map[types.NamespacedName]time.Time
	// paces of the readings.
	paces map[types.NamespacedName]*pace

	// changed tells the reconcilers of topics and subscriptions that there is a new view.
	changed []chan keyEvent
	// kicked asks for a reading before the sync period is over.
	kicked chan keyEvent
}

// NewBrokers makes an empty set.
func NewBrokers() *Brokers {
	return &Brokers{
		views:    map[types.NamespacedName]View{},
		kickedAt: map[types.NamespacedName]time.Time{},
		readAt:   map[types.NamespacedName]time.Time{},
		paces:    map[types.NamespacedName]*pace{},
		kicked:   make(chan keyEvent, 1024),
	}
}

// Get gives the view of a Broker; false while it has not been read yet.
func (b *Brokers) Get(key types.NamespacedName) (View, bool) {
	b.mu.RLock()
	defer b.mu.RUnlock()
	v, ok := b.views[key]
	return v, ok
}

// all gives every view, and when each Broker was last read well.
func (b *Brokers) all() (views map[types.NamespacedName]View, readAt map[types.NamespacedName]time.Time) {
	b.mu.RLock()
	defer b.mu.RUnlock()
	return maps.Clone(b.views), maps.Clone(b.readAt)
}

// Kick asks for a new reading soon: something was written to the broker, or it refused.
func (b *Brokers) Kick(key types.NamespacedName) {
	b.mu.Lock()
	b.kickedAt[key] = time.Now()
	b.mu.Unlock()
	b.kicked <- keyEvent{Object: key}
}

// justWritten tells whether the counters of what was last declared may not be there yet.
func (b *Brokers) justWritten(key types.NamespacedName) bool {
	b.mu.RLock()
	defer b.mu.RUnlock()
	return time.Since(b.kickedAt[key]) < statisticsInterval
}

// paceOf is called with the lock held.
func (b *Brokers) paceOf(key types.NamespacedName) *pace {
	if b.paces[key] == nil {
		b.paces[key] = &pace{}
	}
	return b.paces[key]
}

// wasRead notes how long a reading took.
func (b *Brokers) wasRead(key types.NamespacedName, took, syncPeriod time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.paceOf(key).read(time.Now(), took, syncPeriod)
}

// rest is how long a reading has to wait for the broker's sake.
func (b *Brokers) rest(key types.NamespacedName) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.paceOf(key).rest(time.Now())
}

// act is called when a resource begins to be declared, and done at the end.
func (b *Brokers) act(key types.NamespacedName) (done func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	p := b.paceOf(key)
	p.begin()
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		p.end(time.Now())
	}
}

// wanted tells whether a reading was asked for since the last good one began.
func (b *Brokers) wanted(key types.NamespacedName) bool {
	b.mu.RLock()
	defer b.mu.RUnlock()
	return !b.kickedAt[key].Before(b.readAt[key])
}

// subscribe gives a channel that gets the key of every Broker with a new view.
// It is called while the reconcilers are set up, before any of them runs.
func (b *Brokers) subscribe() <-chan keyEvent {
	c := make(chan keyEvent, 1024)
	b.changed = append(b.changed, c)
	return c
}

func (b *Brokers) publish(key types.NamespacedName, v View) {
	b.mu.Lock()
	b.views[key] = v
	if v.Observation != nil {
		b.readAt[key] = v.Observation.Snapshot.TakenAt
	}
	b.mu.Unlock()
	b.notify(key)
}

func (b *Brokers) forget(key types.NamespacedName) {
	b.mu.Lock()
	delete(b.views, key)
	delete(b.kickedAt, key)
	delete(b.readAt, key)
	delete(b.paces, key)
	b.mu.Unlock()
	b.notify(key)
}

func (b *Brokers) notify(key types.NamespacedName) {
	for _, c := range b.changed {
		c <- keyEvent{Object: key}
	}
}

// brokerKey is the key of the Broker that a resource refers to.
func brokerKey(namespace string, ref v1alpha1.BrokerReference) types.NamespacedName {
	if ref.Namespace != "" {
		namespace = ref.Namespace
	}
	return types.NamespacedName{Namespace: namespace, Name: ref.Name}
}
