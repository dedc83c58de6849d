package controllers

import (
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/warren-mq/warren/internal/topology"
)

// settled remembers the resources for which everything is done, and with which
// reading: a new one that shows the same to them concerns them not.
type settled struct {
	m sync.Map // of *basis, by NamespacedName
	// unwatched, if set, tells whether something counts on a Broker whose
	// changes nobody tells of, so that each reading is a time to look.
	unwatched func(broker types.NamespacedName) bool
	// endpoints of Brokers, which applications are told.
	endpoints sync.Map // of broker.Endpoint, by NamespacedName
}

// basis of a resource's last reconcile.
type basis struct {
	part topology.Part
	seen *topology.Snapshot
}

// note is for a resource whose status has been written, or need not be. It is
// remembered only where nothing is left to do and nothing waits for time to pass.
func (s *settled) note(key types.NamespacedName, a *assessment) {
	if a.problem == nil && a.result != nil && len(a.result.Plan) == 0 && !restless(a) {
		s.m.Store(key, &basis{topology.PartOf(a.topology, a.result.Marks...), a.snapshot()})
	}
}

// restless: what may change by time alone.
func restless(a *assessment) bool {
	waits := func(q topology.SeenQueue) bool { return a.topology.Names.IsWait(q.Name) }
	return slices.ContainsFunc(a.result.Earlier, waits) ||
		slices.ContainsFunc(queuesOf(a.topology, a.snapshot()), func(q topology.SeenQueue) bool { return q.Trouble.Pressing() })
}

// forget is for a resource that is looked at anew.
func (s *settled) forget(key types.NamespacedName) { s.m.Delete(key) }

// without leaves out those to whom the newest reading of a Broker shows what
// they know: it proves the same again.
func (s *settled) without(brokers *Brokers, broker types.NamespacedName, all []reconcile.Request, proofs *proofs) []reconcile.Request {
	view, ok := brokers.Get(broker)
	if !ok || view.Observation == nil || s.unwatched != nil && s.unwatched(broker) {
		return all
	}
	if was, known := s.endpoints.Swap(broker, view.Endpoint); known && was != view.Endpoint {
		return all
	}
	now := view.Observation.Snapshot
	return slices.DeleteFunc(all, func(r reconcile.Request) bool {
		if !s.unchanged(r.NamespacedName, now) {
			return false
		}
		proofs.confirm(r.NamespacedName, now.TakenAt)
		return true
	})
}

// unchanged moves the basis on, so that an old snapshot is not kept for it.
func (s *settled) unchanged(key types.NamespacedName, now *topology.Snapshot) bool {
	v, ok := s.m.Load(key)
	if !ok {
		return false
	}
	was := v.(*basis)
	if !was.part.Same(was.seen, now) {
		return false
	}
	s.m.CompareAndSwap(key, was, &basis{was.part, now})
	return true
}
