package controllers

import (
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/warren-mq/warren/api/v1alpha1"
	"github.com/warren-mq/warren/internal/broker"
)

// brokerStatus says what was read. While the broker cannot be read, what was
// last known of it (version, name) stays, and its alarms are unknown. all are
// the Brokers that may be on the same vhost.
func brokerStatus(b *v1alpha1.Broker, v View, s *shield, all []v1alpha1.Broker) *v1alpha1.BrokerStatus {
	status := b.Status.DeepCopy()
	status.ObservedGeneration = b.Generation
	set := newConditionSet(b.Generation, b.Status.Conditions)
	setShielded(set, b, v, s)
	if v.Problem != nil {
		setNamesIsolated(set, b, status, all)
		set.set(v1alpha1.ConditionReady, metav1.ConditionFalse, v.Problem.Reason, v.Problem.Message)
		set.set(v1alpha1.ConditionResourceAlarm, metav1.ConditionUnknown, v.Problem.Reason, "the broker could not be read")
		status.Conditions = set.conditions
		return status
	}
	info := v.Observation.Info
	status.Version, status.ClusterName, status.Nodes = info.Version.String(), info.ClusterName, brokerNodes(info)
	setNamesIsolated(set, b, status, all)
	set.set(v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonConnected,
		fmt.Sprintf("RabbitMQ %s, cluster %q, vhost %q", info.Version, info.ClusterName, b.Spec.Vhost))
	if alarms := alarmSentence(status.Nodes); alarms != "" {
		set.set(v1alpha1.ConditionResourceAlarm, metav1.ConditionTrue, v1alpha1.ReasonPublishersBlocked,
			alarms+": RabbitMQ blocks every publisher of the cluster until it has memory and disk again; declares go on")
	} else {
		set.set(v1alpha1.ConditionResourceAlarm, metav1.ConditionFalse, v1alpha1.ReasonNoAlarm, "no node has a memory or disk alarm")
	}
	status.Conditions = set.conditions
	return status
}

func brokerNodes(info broker.Info) []v1alpha1.BrokerNode {
	nodes := make([]v1alpha1.BrokerNode, 0, len(info.Nodes))
	for _, n := range info.Nodes {
		nodes = append(nodes, v1alpha1.BrokerNode{Name: n.Name, Running: n.Running, Alarms: n.Alarms})
	}
	slices.SortFunc(nodes, func(a, b v1alpha1.BrokerNode) int { return strings.Compare(a.Name, b.Name) })
	return nodes
}

func alarmSentence(nodes []v1alpha1.BrokerNode) string {
	var parts []string
	for _, n := range nodes {
		for _, kind := range n.Alarms {
			parts = append(parts, fmt.Sprintf("%s alarm on node %s", kind, n.Name))
		}
	}
	return strings.Join(parts, ", ")
}
