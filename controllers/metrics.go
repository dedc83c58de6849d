package controllers

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/warren-mq/warren/api/v1alpha1"
)

// collector gives, when it is asked, what is known at that moment: of brokers
// from their readings, of subscriptions from their status. Nothing is kept for
// it, so that the series of a resource go with it, and a count that is not
// known has none. It asks neither the broker nor the API server.
type collector struct {
	client  client.Reader
	brokers *Brokers
}

func described(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("warren_"+name, help, labels, nil)
}

// What the metrics are called. README and the alerts in config/prometheus go by these names.
var (
	brokerUp          = described("broker_up", "1 if the last reading of the broker succeeded, else 0.", "namespace", "broker")
	syncPeriodSeconds = described("broker_sync_period_seconds", "How often the broker is to be read back (Broker.spec.syncPeriod).", "namespace", "broker")
	snapshotAge       = described("snapshot_age_seconds", "Seconds since the broker was last read.", "namespace", "broker")

	queueMessages = described("queue_messages", "Messages of a subscription's queues, as of the last reading: in the work queue, in its wait queues together, in the parking queue. A count that is not known is absent.",
		"namespace", "subscription", "role", "state")
	queueConsumers        = described("queue_consumers", "Consumers of a subscription's work queue.", "namespace", "subscription")
	queueDeliveries       = described("queue_deliveries_total", "Deliveries of the work queue, by the broker's own statistics.", "namespace", "subscription")
	queueRedeliveries     = described("queue_redeliveries_total", "Redeliveries of the work queue, by the broker's own statistics.", "namespace", "subscription")
	queueAcknowledgements = described("queue_acknowledgements_total", "Acknowledgements of the work queue, by the broker's own statistics.", "namespace", "subscription")

	subscriptionCondition = described("subscription_condition", "1 for the status that each condition of a subscription has.", "namespace", "subscription", "type", "status")
	driftEntries          = described("drift_entries", "Entries of a subscription's status.drift.", "namespace", "subscription", "impact")
)

// Describe lists the metrics.
func (c *collector) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		brokerUp, syncPeriodSeconds, snapshotAge, queueMessages, queueConsumers, queueDeliveries, queueRedeliveries, queueAcknowledgements,
		subscriptionCondition, driftEntries,
	} {
		ch <- d
	}
}

// Collect gives nothing in an operator that does not lead: it reads no broker.
func (c *collector) Collect(ch chan<- prometheus.Metric) {
	views, readAt := c.brokers.all()
	if len(views) == 0 {
		return
	}
	for key, view := range views {
		collectBroker(ch, key, view, readAt[key])
	}
	var subs v1alpha1.ReliableSubscriptionList
	// Nothing here writes into what the cache has.
	if err := c.client.List(context.Background(), &subs, readOnly); err != nil {
		ch <- prometheus.NewInvalidMetric(subscriptionCondition, err)
		return
	}
	for i := range subs.Items {
		sub := &subs.Items[i]
		collectStatus(ch, sub)
		if view, ok := views[brokerKey(sub.Namespace, sub.Spec.BrokerRef)]; ok && view.Observation != nil {
			collectQueues(ch, sub, view.Observation.Snapshot)
		}
	}
}

func collectBroker(ch chan<- prometheus.Metric, key types.NamespacedName, view View, readAt time.Time) {
	up := 1.0
	if view.Problem != nil {
		up = 0
	}
	ch <- prometheus.MustNewConstMetric(brokerUp, prometheus.GaugeValue, up, key.Namespace, key.Name)
	ch <- prometheus.MustNewConstMetric(syncPeriodSeconds, prometheus.GaugeValue, view.SyncPeriod.Seconds(), key.Namespace, key.Name)
	if !readAt.IsZero() {
		ch <- prometheus.MustNewConstMetric(snapshotAge, prometheus.GaugeValue, time.Since(readAt).Seconds(), key.Namespace, key.Name)
	}
}

func collectStatus(ch chan<- prometheus.Metric, sub *v1alpha1.ReliableSubscription) {
	for _, c := range sub.Status.Conditions {
		ch <- prometheus.MustNewConstMetric(subscriptionCondition, prometheus.GaugeValue, 1, sub.Namespace, sub.Name, c.Type, string(c.Status))
	}
	entries := map[v1alpha1.Impact]int{v1alpha1.ImpactTolerable: 0, v1alpha1.ImpactUnsafe: 0}
	for _, e := range sub.Status.Drift {
		entries[e.Impact]++
	}
	for impact, n := range entries {
		ch <- prometheus.MustNewConstMetric(driftEntries, prometheus.GaugeValue, float64(n), sub.Namespace, sub.Name, string(impact))
	}
}
