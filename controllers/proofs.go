package controllers

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// proofs remember which resources of a kind this process has seen to be on
// the broker as they must be, and when. A condition tells that too, but not
// whether it was written by another process, long ago.
type proofs struct {
	mu sync.RWMutex
	m  map[types.NamespacedName]proof
	// proved tells who has subscribed of what was not proved before.
	proved []chan keyEvent
}

type proof struct {
	generation int64
	// at is when the reading began that shows it; zero while none does.
	at time.Time
}

func newProofs() *proofs {
	return &proofs{m: map[types.NamespacedName]proof{}}
}

// subscribe gives a channel that gets the key of what becomes proved. It is
// called while the reconcilers are set up, before any of them runs.
func (p *proofs) subscribe() <-chan keyEvent {
	c := make(chan keyEvent, 1024)
	p.proved = append(p.proved, c)
	return c
}

// tell notes what was told in a resource's status.
func (p *proofs) tell(key types.NamespacedName, generation int64, a *assessment) {
	now := proof{generation: generation}
	if a.problem == nil {
		now.at = a.snapshot().TakenAt
	}
	p.mu.Lock()
	before := p.m[key]
	p.m[key] = now
	p.mu.Unlock()
	if !now.at.IsZero() && (before.at.IsZero() || before.generation != generation) {
		for _, c := range p.proved {
			c <- keyEvent{Object: key}
		}
	}
}

// confirm is for what a later reading shows as it was.
func (p *proofs) confirm(key types.NamespacedName, at time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if known := p.m[key]; !known.at.IsZero() && at.After(known.at) {
		known.at = at
		p.m[key] = known
	}
}

// doubt is for what was found amiss and is being mended: its status tells of
// it only if that fails, and until the next reading nothing is proved.
func (p *proofs) doubt(key types.NamespacedName) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if known, ok := p.m[key]; ok {
		known.at = time.Time{}
		p.m[key] = known
	}
}

// forget is for a resource that is gone.
func (p *proofs) forget(key types.NamespacedName) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.m, key)
}

// get gives false for a resource of which this process has told nothing yet.
func (p *proofs) get(key types.NamespacedName) (proof, bool) {
	p.mu.RLock()
	defer p.mu.RUnlock()
	known, ok := p.m[key]
	return known, ok
}

// told tells whether this process has told of a resource. One that is being
// deleted promises nothing any more.
func (p *proofs) told(o client.Object) bool {
	_, ok := p.get(client.ObjectKeyFromObject(o))
	return ok || !o.GetDeletionTimestamp().IsZero()
}
