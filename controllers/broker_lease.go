package controllers

import (
	"context"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	coordinationv1 "k8s.io/client-go/applyconfigurations/coordination/v1"
	metav1apply "k8s.io/client-go/applyconfigurations/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/warren-mq/warren/api/v1alpha1"
	"github.com/warren-mq/warren/internal/freshness"
)

// +kubebuilder:rbac:groups=coordination.k8s.io,resources=leases,verbs=create;patch

// leases renews one Lease a Broker, in the Broker's namespace: who reads a
// condition sees by it that the condition was not left by an operator that
// has died since.
type leases struct {
	client client.Client
	// holder is who renews them.
	holder string
	// settled tells whether the conditions of a Broker's topics and
	// subscriptions are this process's own.
	settled func(context.Context, types.NamespacedName) (bool, error)

	mu    sync.Mutex
	known map[types.NamespacedName]leaseState
}

type leaseState struct {
	settled bool
	// calm is since when it has looked settled. What a topic says follows from
	// its subscriptions a moment later, so it must look so for that long.
	calm time.Time
	// since is when this process first read the Broker well.
	since time.Time
	// renewed is when the reading began with which the Lease was last written,
	// or could not be.
	renewed time.Time
}

// settleWithin bounds the wait for resources that cannot be told of, because
// the API server refuses say: they must not keep all others waiting for ever.
const settleWithin = time.Minute

const (
	// calmFor is longer than a topic takes to follow its subscriptions.
	calmFor = time.Second
	// settleDelay is how often it is looked whether a Broker is settled. That
	// asks the broker for nothing.
	settleDelay = calmFor / 2
)

// renew writes the Lease after a good reading, at most once a sync period.
func (l *leases) renew(ctx context.Context, b *v1alpha1.Broker, v View) {
	if v.Problem != nil {
		return
	}
	key := client.ObjectKeyFromObject(b)
	state := l.state(key)
	defer func() { l.keep(key, state) }()
	if !state.settled {
		l.settle(ctx, key, &state)
	}
	if !state.settled || v.Observation.Snapshot.TakenAt.Sub(state.renewed) < v.SyncPeriod {
		return
	}
	if err := l.client.Apply(ctx, l.lease(b, v), fieldOwner, client.ForceOwnership); err != nil {
		// The broker's own work goes on; who waits for the Lease says what is missing.
		log.FromContext(ctx).Error(err, "the Lease that says when the broker was read could not be renewed")
	}
	state.renewed = v.Observation.Snapshot.TakenAt
}

func (l *leases) settle(ctx context.Context, key types.NamespacedName, state *leaseState) {
	if state.since.IsZero() {
		state.since = time.Now()
	}
	calm, err := l.settled(ctx, key)
	if err != nil {
		log.FromContext(ctx).Error(err, "cannot list what is on the broker")
	}
	switch {
	case !calm:
		state.calm = time.Time{}
	case state.calm.IsZero():
		state.calm = time.Now()
	}
	state.settled = calm && time.Since(state.calm) >= calmFor || time.Since(state.since) > settleWithin
}

// settling tells whether a Broker has been read well, and what was read is not
// told of everywhere yet.
func (l *leases) settling(key types.NamespacedName) bool {
	state := l.state(key)
	return !state.settled && !state.since.IsZero()
}

// due is how long a reading may wait so that the Lease is renewed in time.
// A sync period is from the beginning of a reading to that of the next, unless
// reading takes more than half of it.
func (l *leases) due(key types.NamespacedName, v View) time.Duration {
	state := l.state(key)
	if !state.settled {
		return min(settleDelay, v.SyncPeriod)
	}
	return max(v.SyncPeriod-time.Since(state.renewed), v.Took, time.Millisecond)
}

func (l *leases) lease(b *v1alpha1.Broker, v View) *coordinationv1.LeaseApplyConfiguration {
	owner := metav1apply.OwnerReference().
		WithAPIVersion(v1alpha1.GroupVersion.String()).WithKind("Broker").WithName(b.Name).WithUID(b.UID)
	return coordinationv1.Lease(freshness.LeaseName(b.Name), b.Namespace).
		WithOwnerReferences(owner).
		WithSpec(coordinationv1.LeaseSpec().
			WithHolderIdentity(l.holder).
			WithLeaseDurationSeconds(freshness.LeaseSeconds(v.SyncPeriod)).
			// Not when it is written: what the reading shows is from its beginning.
			WithRenewTime(metav1.NewMicroTime(v.Observation.Snapshot.TakenAt)))
}

func (l *leases) state(key types.NamespacedName) leaseState {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.known[key]
}

func (l *leases) keep(key types.NamespacedName, s leaseState) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.known == nil {
		l.known = map[types.NamespacedName]leaseState{}
	}
	l.known[key] = s
}

// forget is for a Broker that is gone; its Lease goes by its owner reference.
func (l *leases) forget(key types.NamespacedName) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.known, key)
}
