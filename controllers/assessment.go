package controllers

import (
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/warren-mq/warren/api/v1alpha1"
	"github.com/warren-mq/warren/internal/drift"
	"github.com/warren-mq/warren/internal/topology"
)

// assessment is all that is known of a topic or a subscription at a moment,
// and what follows from it.
type assessment struct {
	// of is the resource.
	of client.Object
	// clusterID is the first part of its mark.
	clusterID string
	view      *View
	// problem keeps it from being declared, or established.
	problem *Problem
	// topology is nil where the spec could not be compiled.
	topology *topology.Topology
	// result is nil where nothing was compared.
	result *drift.Result
	// disturbed: a look at what is parked may show in the parking queue's counters.
	disturbed bool
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

// paused: whoever is in charge has asked Warren to read only.
func (a *assessment) paused() bool {
	return a.of.GetAnnotations()[v1alpha1.PausedAnnotation] == "true"
}
