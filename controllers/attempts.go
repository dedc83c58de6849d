package controllers

import (
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/warren-mq/warren/internal/drift"
	"github.com/warren-mq/warren/internal/topology"
)

// attempts remembers what was last written to a broker for each resource.
type attempts struct {
	m sync.Map // types.NamespacedName -> attempt
	// known is, by resource, when the generation of its spec was first heard of.
	known sync.Map // types.NamespacedName -> generationAt
	// proved is, by resource, the generation that was last found to be established.
	proved sync.Map // types.NamespacedName -> int64
}

type generationAt struct {
	uid        types.UID
	generation int64
	at         time.Time
}

type attempt struct {
	at   time.Time
	plan string
	// problem that came in the way, or nil.
	problem *Problem
}

func (t *attempts) get(key types.NamespacedName) (attempt, bool) {
	v, ok := t.m.Load(key)
	if !ok {
		return attempt{}, false
	}
	return v.(attempt), true
}

// notIn tells whether a snapshot was begun before the last write, so that it
// cannot show it and says nothing. A write that failed is in doubt and does not count.
func (t *attempts) notIn(key types.NamespacedName, seen *topology.Snapshot) bool {
	last, ok := t.get(key)
	return ok && last.problem == nil && !seen.TakenAt.After(last.at)
}

// same gives the last attempt, if it was at the same plan and not long ago.
func (t *attempts) same(key types.NamespacedName, a *assessment) (attempt, bool) {
	last, ok := t.get(key)
	recent := time.Since(last.at) < a.view.SyncPeriod/2
	return last, ok && recent && last.plan == a.result.Plan.String()
}

func (t *attempts) note(key types.NamespacedName, a *assessment, err error) {
	last := attempt{at: time.Now(), plan: a.result.Plan.String()}
	if err != nil {
		last.problem = fromBroker(err)
	}
	t.m.Store(key, last)
}

// precedes tells whether a snapshot was begun before this generation of a spec
// was first heard of. Who declares a queue in between must not find it bound
// by somebody who has not looked.
func (t *attempts) precedes(seen *topology.Snapshot, o client.Object) bool {
	return !seen.TakenAt.After(t.meet(o))
}

// meet notes when a generation was first heard of, and gives that time. In a
// burst it is heard of long before its turn comes, and a reading in between will do.
func (t *attempts) meet(o client.Object) time.Time {
	key := client.ObjectKeyFromObject(o)
	if v, ok := t.known.Load(key); ok {
		if met := v.(generationAt); met.uid == o.GetUID() && met.generation == o.GetGeneration() {
			return met.at
		}
	}
	now := time.Now()
	t.known.Store(key, generationAt{uid: o.GetUID(), generation: o.GetGeneration(), at: now})
	return now
}

// prove notes that a generation is established.
func (t *attempts) prove(key types.NamespacedName, generation int64) { t.proved.Store(key, generation) }

// wasProved tells whether a generation was established before, as a condition
// says that was written then or, where that has turned since, as was noted.
func (t *attempts) wasProved(key types.NamespacedName, generation int64, condition metav1.Condition) bool {
	if noted, ok := t.proved.Load(key); ok && noted == generation {
		return true
	}
	return condition.Status == metav1.ConditionTrue && condition.ObservedGeneration == generation
}

// noteRemoval notes what was done to remove what a resource has.
func (t *attempts) noteRemoval(key types.NamespacedName, plan drift.Plan, problem *Problem) {
	t.m.Store(key, attempt{at: time.Now(), plan: plan.String(), problem: problem})
}

// quietSince is when something was last done for a resource, or when its
// generation was first heard of.
func (t *attempts) quietSince(key types.NamespacedName) time.Time {
	var since time.Time
	if v, ok := t.known.Load(key); ok {
		since = v.(generationAt).at
	}
	if last, ok := t.get(key); ok && last.at.After(since) {
		since = last.at
	}
	return since
}

// forget is for a resource that is gone.
func (t *attempts) forget(key types.NamespacedName) {
	t.m.Delete(key)
	t.known.Delete(key)
	t.proved.Delete(key)
}
