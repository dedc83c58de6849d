package binding

import (
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/warren-mq/warren/api/v1alpha1"
	"github.com/warren-mq/warren/internal/broker"
	"github.com/warren-mq/warren/internal/topology"
)

func subscription(name string) client.Object {
	return &v1alpha1.ReliableSubscription{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name}}
}

var names = topology.Names{Work: "orders.billing", Parking: "orders.billing.parking"}

func TestKeysOfAConsumer(t *testing.T) {
	o := Consumer("c1", subscription("billing"), broker.Endpoint{Host: "mq", Port: "5672", Vhost: "/"}, names)
	want := map[string]string{
		"type": "rabbitmq", "provider": "warren", "host": "mq", "port": "5672", "virtual-host": "/", "uri": "amqp://mq:5672/%2F",
		"work-queue": "orders.billing", "parking-exchange": "orders.billing.park", "parking-queue": "orders.billing.parking",
	}
	if diff := cmp.Diff(want, o.Connection); diff != "" {
		t.Errorf("ConfigMap (-want +got):\n%s", diff)
	}
	want["username"], want["password"] = o.User.Name, "p"
	want["uri"] = "amqp://" + o.User.Name + ":p@mq:5672/%2F"
	if diff := cmp.Diff(want, o.Secret("p")); diff != "" {
		t.Errorf("Secret (-want +got):\n%s", diff)
	}
}

func TestKeysOfAPublisher(t *testing.T) {
	o := Publisher("c1", subscription("orders"), broker.Endpoint{Host: "mq", Port: "5671", Secure: true, Vhost: "v"}, "orders")
	want := map[string]string{
		"type": "rabbitmq", "provider": "warren", "host": "mq", "port": "5671", "virtual-host": "v", "uri": "amqps://mq:5671/v", "exchange": "orders",
	}
	if diff := cmp.Diff(want, o.Connection); diff != "" {
		t.Errorf("ConfigMap (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(broker.Rights{Configure: `^\z`, Write: `^orders\z`, Read: `^\z`}, o.User.Rights); diff != "" {
		t.Errorf("rights (-want +got):\n%s", diff)
	}
}

func TestURIs(t *testing.T) {
	for _, tt := range []struct {
		reason string
		at     broker.Endpoint
		want   string
	}{
		{"a slash, a percent sign and a space in a vhost", broker.Endpoint{Host: "mq", Port: "5672", Vhost: "a/50% b"}, "amqp://u:p%40%2F%3A%25@mq:5672/a%2F50%25%20b"},
		{"TLS", broker.Endpoint{Host: "mq", Port: "5671", Secure: true, Vhost: "v"}, "amqps://u:p%40%2F%3A%25@mq:5671/v"},
		{"an IPv6 address", broker.Endpoint{Host: "::1", Port: "5672", Vhost: "v"}, "amqp://u:p%40%2F%3A%25@[::1]:5672/v"},
	} {
		if got := uri(tt.at, url.UserPassword("u", "p@/:%")); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.reason, got, tt.want)
		}
	}
}

func TestRightsMatchOneNameOnly(t *testing.T) {
	odd := topology.Names{Work: `a.b+(c)[d]\e$^`, Parking: "p"}
	rights := Consumer("c1", subscription("x"), broker.Endpoint{}, odd).User.Rights
	for _, tt := range []struct {
		reason, right, name string
		want                bool
	}{
		{"the work queue itself", rights.Read, odd.Work, true},
		{"a dot is no wildcard", rights.Read, strings.Replace(odd.Work, ".", "x", 1), false},
		{"nothing before it", rights.Read, "x" + odd.Work, false},
		{"nothing behind it", rights.Read, odd.Work + ".wait", false},
		{"not even a newline", rights.Read, odd.Work + "\n", false},
		{"its own parking exchange", rights.Write, odd.Park(), true},
		{"the default exchange", rights.Write, "amq.default", false},
		{"the work queue cannot be written", rights.Write, odd.Work, false},
		{"nothing is declared", rights.Configure, odd.Work, false},
	} {
		if got := regexp.MustCompile(tt.right).MatchString(tt.name); got != tt.want {
			t.Errorf("%s: %s matches %q: %v, want %v", tt.reason, tt.right, tt.name, got, tt.want)
		}
	}
}

func TestNames(t *testing.T) {
	long := strings.Repeat("n", 253)
	if got := objectName(long, "-binding"); len(got) > 253 || got == objectName(long[:252]+"m", "-binding") {
		t.Errorf("the name of a long name's ConfigMap is %q", got)
	}
	seen := map[string]string{}
	for reason, name := range map[string]string{
		"a consumer":            Username("c1", "ReliableSubscription", subscription("a")),
		"in another cluster":    Username("c2", "ReliableSubscription", subscription("a")),
		"a publisher":           Username("c1", "Topic", subscription("a")),
		"a long name":           Username("c1", "ReliableSubscription", subscription(long)),
		"another one like that": Username("c1", "ReliableSubscription", subscription(long[:252]+"m")),
	} {
		if other, taken := seen[name]; taken || len(name) > 255 {
			t.Errorf("%s has user %q of %d bytes, which is also that of %q", reason, name, len(name), other)
		}
		seen[name] = reason
	}
}

func TestPasswords(t *testing.T) {
	a, b := NewPassword(), NewPassword()
	if a == b || len(a) < 32 || url.QueryEscape(a) != a {
		t.Errorf("two passwords, the same: %v; of %d bytes", a == b, len(a))
	}
}

// Whatever they are called, a Topic and a subscription never want one object.
func TestTopicsAndSubscriptionsShareNoName(t *testing.T) {
	for _, sub := range []string{"orders", "orders-topic", "orders-topic-publisher", strings.Repeat("n", 253)} {
		consumer := Consumer("cluster", subscription(sub), broker.Endpoint{}, names)
		for _, topic := range []string{"orders", "orders-topic", strings.Repeat("n", 253)} {
			publisher := Publisher("cluster", &v1alpha1.Topic{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: topic}}, broker.Endpoint{}, "x")
			if consumer.Name == publisher.Name {
				t.Errorf("subscription %q and topic %q both have %q", sub, topic, consumer.Name)
			}
		}
	}
}

func TestTakenNamesTheOwner(t *testing.T) {
	seen := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: "orders-binding"}}
	if got, want := taken("ConfigMap", seen).Error(), `ConfigMap "orders-binding" exists and is not of this resource: it was left untouched; delete or rename it`; got != want {
		t.Errorf("says %s", got)
	}
	controller := true
	seen.OwnerReferences = []metav1.OwnerReference{{Kind: "Deployment", Name: "orders", Controller: &controller}}
	if got, want := taken("ConfigMap", seen).Error(), `ConfigMap "orders-binding" belongs to Deployment "orders" and was left untouched`; !strings.HasPrefix(got, want) {
		t.Errorf("says %s", got)
	}
}
