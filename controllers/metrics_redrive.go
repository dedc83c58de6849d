package controllers

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/warren-mq/warren/api/v1alpha1"
	"github.com/warren-mq/warren/internal/broker"
)

var (
	redriveMessages  = described("redrive_messages_total", "Messages that Redrives have moved or discarded since the operator started.", "outcome")
	redriveRemaining = described("redrive_remaining_messages", "Messages that a Redrive which is under way has before it. One that is suspended or finished is absent.", "namespace", "redrive")
)

// redriveCollector tells of Redrives, as collector does of subscriptions.
type redriveCollector struct {
	client client.Reader
	runs   *redriveRuns
}

func (c *redriveCollector) Describe(ch chan<- *prometheus.Desc) {
	ch <- redriveMessages
	ch <- redriveRemaining
}

func (c *redriveCollector) Collect(ch chan<- prometheus.Metric) {
	done := c.runs.done()
	ch <- prometheus.MustNewConstMetric(redriveMessages, prometheus.CounterValue, float64(done.Moved), "moved")
	ch <- prometheus.MustNewConstMetric(redriveMessages, prometheus.CounterValue, float64(done.Dropped), "discarded")
	var all v1alpha1.RedriveList
	// Nothing here writes into what the cache has.
	if err := c.client.List(context.Background(), &all, readOnly); err != nil {
		ch <- prometheus.NewInvalidMetric(redriveRemaining, err)
		return
	}
	for i := range all.Items {
		rd := &all.Items[i]
		if !finished(rd) && !rd.Spec.Suspend && rd.Status.Remaining != nil {
			ch <- prometheus.MustNewConstMetric(redriveRemaining, prometheus.GaugeValue, float64(*rd.Status.Remaining), rd.Namespace, rd.Name)
		}
	}
}

// done is what the runs of this process have done, those that are over included.
func (r *redriveRuns) done() broker.MoveCounts {
	r.mu.Lock()
	defer r.mu.Unlock()
	sum := r.past
	for _, run := range r.m {
		c := run.counts()
		sum.Moved += c.Moved
		sum.Dropped += c.Dropped
	}
	return sum
}
