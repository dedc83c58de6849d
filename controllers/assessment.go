package controllers

import (
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/warren-mq/warren/internal/drift"
	"github.com/warren-mq/warren/internal/topology"
)

// assessment is all that is known of a topic or a subscription at a moment,
// and what follows from it.
type assessment struct {
	view *View
	// problem keeps it from being declared, or established.
	problem *Problem
	// topology is nil where the spec could not be compiled.
	topology *topology.Topology
	// result is nil where nothing was compared.
	result *drift.Result
}

func (a *assessment) snapshot() *topology.Snapshot {
	if a.view == nil || a.view.Observation == nil {
		return nil
	}
	return a.view.Observation.Snapshot
}

func (a *assessment) compare(want *topology.Topology, claims drift.Claims) {
	result := drift.Compare(want, a.snapshot(), claims)
	a.topology, a.result = want, &result
}

// ownerMark says whose an object of the broker is.
func ownerMark(clusterID string, o client.Object) string {
	return clusterID + "/" + o.GetNamespace() + "/" + o.GetName()
}
