package main

import (
	"fmt"
	"strings"

	"github.com/warren-mq/warren/api/v1alpha1"
	"github.com/warren-mq/warren/internal/topology"
)

// strategy of a workload's subscriptions.
type strategy string

const (
	fixedDelay strategy = "fixedDelay"
	backoff    strategy = "backoff"
)

// workload is a number of subscriptions to one Topic, each with a key of its own.
type workload struct {
	count    int
	strategy strategy
}

const (
	topicName  = "events"
	brokerName = "main"
	userName   = "warren"
	password   = "p@ss/w:rd%"
)

func (w workload) String() string { return fmt.Sprintf("%d %s", w.count, w.strategy) }

// namespace is also the name of the workload's vhost.
func (w workload) namespace() string {
	return fmt.Sprintf("bench-%s-%d", strings.ToLower(string(w.strategy)), w.count)
}

func subscriptionName(i int) string { return fmt.Sprintf("consumer-%05d", i) }

func routingKey(i int) string { return fmt.Sprintf("event.%05d", i) }

// retry as a manifest has it, and as the compiler takes it.
func (w workload) retry() (manifest string, spec *v1alpha1.RetrySpec) {
	if w.strategy == fixedDelay {
		return "fixedDelay: {delay: 30s, maxAttempts: 5}", &v1alpha1.RetrySpec{FixedDelay: &v1alpha1.FixedDelayRetry{Delay: "30s", MaxAttempts: 5}}
	}
	return "backoff: {delays: [5s, 30s, 5m]}", &v1alpha1.RetrySpec{Backoff: &v1alpha1.BackoffRetry{Delays: []v1alpha1.Duration{"5s", "30s", "5m"}}}
}

// manifests of the subscriptions.
func (w workload) manifests() string {
	var b strings.Builder
	retry, _ := w.retry()
	for i := range w.count {
		fmt.Fprintf(&b, `apiVersion: warren.dev/v1alpha1
kind: ReliableSubscription
metadata: {name: %s}
spec:
  brokerRef: {name: %s}
  sources: [{topicRef: {name: %s}, routingKeys: [%s]}]
  retry: {%s}
---
`, subscriptionName(i), brokerName, topicName, routingKey(i), retry)
	}
	return b.String()
}

// objects are what Warren declares for subscription i, in its order.
func (w workload) objects(i int) ([]topology.Object, error) {
	_, retry := w.retry()
	compiled, err := topology.Compile(topology.Subscription{
		Namespace: w.namespace(), Name: subscriptionName(i),
		Spec:    &v1alpha1.ReliableSubscriptionSpec{Retry: retry},
		Owner:   "bench/" + w.namespace() + "/" + subscriptionName(i),
		Sources: []topology.Source{{Exchange: topicName, Type: string(v1alpha1.ExchangeTopic), RoutingKeys: []string{routingKey(i)}}},
		Broker:  topology.Version{Major: 4, Minor: 3},
	})
	if err != nil {
		return nil, err
	}
	return compiled.Objects, nil
}

// brokerManifests make the namespace, the Broker with its Secret, and the Topic.
func (w workload) brokerManifests(amqpURL, managementURL, syncPeriod string) string {
	return fmt.Sprintf(`apiVersion: v1
kind: Namespace
metadata: {name: %[1]s}
---
apiVersion: v1
kind: Secret
metadata: {name: rabbitmq, namespace: %[1]s}
stringData: {username: %[2]q, password: %[3]q}
---
apiVersion: warren.dev/v1alpha1
kind: Broker
metadata: {name: %[4]s, namespace: %[1]s}
spec:
  amqp: {url: %[5]q}
  management: {url: %[6]q}
  vhost: %[1]s
  credentialsSecretRef: {name: rabbitmq}
  syncPeriod: %[7]s
---
apiVersion: warren.dev/v1alpha1
kind: Topic
metadata: {name: %[8]s, namespace: %[1]s}
spec:
  brokerRef: {name: %[4]s}
`, w.namespace(), userName, password, brokerName, amqpURL, managementURL, syncPeriod, topicName)
}
