package controllers

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/warren-mq/warren/internal/topology"
)

// attempts remembers what was last written to a broker for each resource.
type attempts struct {
	m sync.Map // types.NamespacedName -> attempt
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

// forget is for a resource that is gone.
func (t *attempts) forget(key types.NamespacedName) { t.m.Delete(key) }
