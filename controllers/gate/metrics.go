package gate

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

var (
	gatedPods = prometheus.NewDesc("warren_gated_pods",
		"Pods that wait for Warren to remove their scheduling gate.", []string{"namespace"}, nil)
	oldestGatedPod = prometheus.NewDesc("warren_gated_pods_oldest_age_seconds",
		"Age of the pod that has waited longest for Warren to remove its scheduling gate.", []string{"namespace"}, nil)
)

// collector counts gated pods in the cache when it is asked.
type collector struct {
	pods client.Reader
	// leads is closed when this replica leads: of several one tells.
	leads <-chan struct{}
}

func newCollector(mgr ctrl.Manager) collector {
	return collector{pods: mgr.GetClient(), leads: mgr.Elected()}
}

// Describe implements prometheus.Collector.
func (c collector) Describe(descs chan<- *prometheus.Desc) {
	descs <- gatedPods
	descs <- oldestGatedPod
}

// Collect implements prometheus.Collector.
func (c collector) Collect(samples chan<- prometheus.Metric) {
	select {
	case <-c.leads:
	default:
		return
	}
	for namespace, g := range c.count() {
		samples <- prometheus.MustNewConstMetric(gatedPods, prometheus.GaugeValue, float64(g.pods), namespace)
		samples <- prometheus.MustNewConstMetric(oldestGatedPod, prometheus.GaugeValue, time.Since(g.oldest).Seconds(), namespace)
	}
}

type gated struct {
	pods   int
	oldest time.Time
}

func (c collector) count() map[string]gated {
	// The cache of one that has just begun to lead may not be filled yet.
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	var pods corev1.PodList
	if err := c.pods.List(ctx, &pods, client.UnsafeDisableDeepCopy); err != nil {
		return nil
	}
	counted := map[string]gated{}
	for i := range pods.Items {
		pod := &pods.Items[i]
		if !isGated(pod) {
			continue
		}
		g := counted[pod.Namespace]
		if created := pod.CreationTimestamp.Time; g.pods == 0 || created.Before(g.oldest) {
			g.oldest = created
		}
		g.pods++
		counted[pod.Namespace] = g
	}
	return counted
}
