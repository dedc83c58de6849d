package main

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// requestMetrics are of the operator's requests to brokers, over AMQP and HTTP alike.
type requestMetrics struct{ duration *prometheus.HistogramVec }

func newRequestMetrics(registry prometheus.Registerer) requestMetrics {
	m := requestMetrics{prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "warren_broker_request_duration_seconds",
		Help:    "How long requests to brokers took, by operation and whether they succeeded.",
		Buckets: prometheus.ExponentialBuckets(0.001, 4, 9), // 1 ms to 65 s: a time-out is 10 s, and 60 s for a long list
	}, []string{"operation", "outcome"})}
	registry.MustRegister(m.duration)
	return m
}

func (m requestMetrics) observe(operation string, took time.Duration, err error) {
	outcome := "success"
	if err != nil {
		outcome = "failure"
	}
	m.duration.WithLabelValues(operation, outcome).Observe(took.Seconds())
}
