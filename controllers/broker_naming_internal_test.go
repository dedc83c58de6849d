package controllers

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/warren-mq/warren/api/v1alpha1"
)

const enforced = `{namespace}\..+`

// brokerAt makes a Broker that was read.
func brokerAt(namespace, naming string, from v1alpha1.NamespacesFrom, change ...func(*v1alpha1.Broker)) v1alpha1.Broker {
	b := v1alpha1.Broker{}
	b.Namespace, b.Name = namespace, "main"
	b.UID = types.UID(namespace)
	b.Spec.Vhost, b.Spec.Naming, b.Spec.AllowedNamespaces.From = "/", naming, from
	b.Status.ClusterName = "rabbit"
	b.Status.Nodes = []v1alpha1.BrokerNode{{Name: "rabbit@one"}, {Name: "rabbit@two"}}
	for _, c := range change {
		c(&b)
	}
	return b
}

func TestNamesIsolatedByVhost(t *testing.T) {
	const same, all = v1alpha1.NamespacesFromSame, v1alpha1.NamespacesFromAll
	nodes := func(names ...string) func(*v1alpha1.Broker) {
		return func(b *v1alpha1.Broker) {
			b.Status.Nodes = nil
			for _, n := range names {
				b.Status.Nodes = append(b.Status.Nodes, v1alpha1.BrokerNode{Name: n})
			}
		}
	}
	cases := []struct {
		name   string
		reason string
		broker v1alpha1.Broker
		others []v1alpha1.Broker
		status metav1.ConditionStatus
		want   string
		says   string
	}{
		{
			name: "alone", reason: "nobody else reaches the vhost",
			broker: brokerAt("a", "", same), status: metav1.ConditionTrue, want: v1alpha1.ReasonOwnNamespaceOnly,
		},
		{
			name: "open", reason: "fifty teams and no naming",
			broker: brokerAt("a", "", all), status: metav1.ConditionFalse, want: v1alpha1.ReasonNoNaming,
		},
		{
			name: "two owners of one vhost", reason: "each is private, both are on the same names",
			broker: brokerAt("a", "", same), others: []v1alpha1.Broker{brokerAt("b", "", same)},
			status: metav1.ConditionFalse, want: v1alpha1.ReasonSharedVhost, says: "a Broker of another namespace",
		},
		{
			name: "two of one owner", reason: "one namespace has one owner",
			broker: brokerAt("a", "", same),
			others: []v1alpha1.Broker{brokerAt("a", "", same, func(b *v1alpha1.Broker) { b.Name, b.UID = "second", "second" })},
			status: metav1.ConditionTrue, want: v1alpha1.ReasonOwnNamespaceOnly,
		},
		{
			name: "one naming for both", reason: "the same rule at each door",
			broker: brokerAt("a", enforced, all), others: []v1alpha1.Broker{brokerAt("b", enforced, all)},
			status: metav1.ConditionTrue, want: v1alpha1.ReasonNamingEnforced,
		},
		{
			name: "laxer beside", reason: "the back door has no rule; whoever may use it is told its name",
			broker: brokerAt("a", enforced, all), others: []v1alpha1.Broker{brokerAt("b", "", all)},
			status: metav1.ConditionFalse, want: v1alpha1.ReasonSharedVhost, says: `"b/main"`,
		},
		{
			name: "first by name is told", reason: "the message does not change with the order of a list",
			broker: brokerAt("a", enforced, all), others: []v1alpha1.Broker{brokerAt("c", "", all), brokerAt("b", "", all)},
			status: metav1.ConditionFalse, want: v1alpha1.ReasonSharedVhost, says: `"b/main"`,
		},
		{
			name: "another vhost", reason: "names are taken per vhost",
			broker: brokerAt("a", enforced, all),
			others: []v1alpha1.Broker{brokerAt("b", "", all, func(b *v1alpha1.Broker) { b.Spec.Vhost = "other" })},
			status: metav1.ConditionTrue, want: v1alpha1.ReasonNamingEnforced,
		},
		{
			name: "one node in common", reason: "a node joined since the other was read",
			broker: brokerAt("a", enforced, all), others: []v1alpha1.Broker{brokerAt("b", "", all, nodes("rabbit@two", "rabbit@three"))},
			status: metav1.ConditionFalse, want: v1alpha1.ReasonSharedVhost,
		},
		{
			name: "two clusters of one name", reason: "no node in common",
			broker: brokerAt("a", enforced, all), others: []v1alpha1.Broker{brokerAt("b", "", all, nodes("rabbit@far"))},
			status: metav1.ConditionTrue, want: v1alpha1.ReasonNamingEnforced,
		},
		{
			name: "never read", reason: "judged once it is",
			broker: brokerAt("a", enforced, all),
			others: []v1alpha1.Broker{brokerAt("b", "", all, nodes(), func(b *v1alpha1.Broker) { b.Status.ClusterName = "" })},
			status: metav1.ConditionTrue, want: v1alpha1.ReasonNamingEnforced,
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			set := newConditionSet(1, nil)
			setNamesIsolated(set, &c.broker, &c.broker.Status, append(c.others, c.broker))
			got := set.get(v1alpha1.ConditionNamesIsolated)
			if got.Status != c.status || got.Reason != c.want || !strings.Contains(got.Message, c.says) {
				t.Errorf("%s: got %s %s %q, want %s %s with %q", c.reason, got.Status, got.Reason, got.Message, c.status, c.want, c.says)
			}
		})
	}
}
