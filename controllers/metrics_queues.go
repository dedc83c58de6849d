package controllers

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/warren-mq/warren/api/v1alpha1"
	"github.com/warren-mq/warren/internal/topology"
)

// collectQueues gives the counts of a subscription's queues: of somebody
// else's none is told.
func collectQueues(ch chan<- prometheus.Metric, sub *v1alpha1.ReliableSubscription, seen *topology.Snapshot) {
	switch subscriptionReason(sub) {
	case "", v1alpha1.ReasonConflict, v1alpha1.ReasonNotOwned:
		return
	}
	names := topology.NamesOf(sub.Namespace, sub.Name, &sub.Spec)
	emit := func(role string, queues []topology.SeenQueue) {
		for _, s := range messageStates {
			if n := sumOf(queues, s.count); n != nil {
				ch <- prometheus.MustNewConstMetric(queueMessages, prometheus.GaugeValue, float64(*n), sub.Namespace, sub.Name, role, s.state)
			}
		}
	}
	emit("retry", waitQueues(names, seen))
	if parking, there := seen.Queues[names.Parking]; there {
		emit("parking", []topology.SeenQueue{parking})
	}
	if work, there := seen.Queues[names.Work]; there {
		emit("work", []topology.SeenQueue{work})
		collectWork(ch, sub, work)
	}
}

// messageStates are what a message in a queue can be.
var messageStates = []struct {
	state string
	count func(topology.SeenQueue) *int64
}{
	{"ready", func(q topology.SeenQueue) *int64 { return q.Ready }},
	{"unacknowledged", func(q topology.SeenQueue) *int64 { return q.Unacknowledged }},
	{"dead_lettering", func(q topology.SeenQueue) *int64 { return q.DeadLettering }},
	{"delayed", func(q topology.SeenQueue) *int64 { return q.Delayed }},
}

// waitQueues are those of the ladder that is there, and of earlier ones.
func waitQueues(names topology.Names, seen *topology.Snapshot) []topology.SeenQueue {
	var waits []topology.SeenQueue
	for _, name := range seen.QueuesOf(seen.Queues[names.Work].Arguments.Owner()) {
		if names.IsWait(name) {
			waits = append(waits, seen.Queues[name])
		}
	}
	return waits
}

func collectWork(ch chan<- prometheus.Metric, sub *v1alpha1.ReliableSubscription, work topology.SeenQueue) {
	give := func(d *prometheus.Desc, kind prometheus.ValueType, n *int64) {
		if n != nil {
			ch <- prometheus.MustNewConstMetric(d, kind, float64(*n), sub.Namespace, sub.Name)
		}
	}
	give(queueConsumers, prometheus.GaugeValue, work.Consumers)
	give(queueDeliveries, prometheus.CounterValue, work.Deliveries)
	give(queueRedeliveries, prometheus.CounterValue, work.Redeliveries)
	give(queueAcknowledgements, prometheus.CounterValue, work.Acknowledgements)
}
