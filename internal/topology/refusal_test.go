package topology_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/warren-mq/warren/api/v1alpha1"
	"github.com/warren-mq/warren/internal/topology"
)

func assertRefusal(t *testing.T, err error, want topology.Refusal) {
	t.Helper()
	var refusal *topology.Refusal
	if !errors.As(err, &refusal) {
		t.Fatalf("not refused: %v", err)
	}
	if diff := cmp.Diff(want, *refusal); diff != "" {
		t.Errorf("refusal (-want +got):\n%s", diff)
	}
}

func invalidSpec(message string) topology.Refusal {
	return topology.Refusal{Reason: v1alpha1.ReasonInvalidSpec, Message: message}
}

func TestRefusedSpecs(t *testing.T) {
	cases := []struct {
		reason string
		spec   string
		want   topology.Refusal
	}{
		{"a limit under the default delays", `workQueue: {deliveryLimit: 2}`, invalidSpec(
			"spec.workQueue.deliveryLimit is 2 and there are 3 retries: RabbitMQ 4.3 counts each return from a wait queue and would park before the last one, so set it to at least 3")},
		{"a limit under the delays", `{workQueue: {deliveryLimit: 0}, retry: {backoff: {delays: [5s]}}}`, invalidSpec(
			"spec.workQueue.deliveryLimit is 0 and there are 1 retries: RabbitMQ 4.3 counts each return from a wait queue and would park before the last one, so set it to at least 1")},
		{"a limit under the attempts after the first", `{workQueue: {deliveryLimit: 3}, retry: {fixedDelay: {delay: 5s, maxAttempts: 5}}}`, invalidSpec(
			"spec.workQueue.deliveryLimit is 3 and there are 4 retries: RabbitMQ 4.3 counts each return from a wait queue and would park before the last one, so set it to at least 4")},

		{"a parking queue that is the work queue by default", `parkingQueue: {name: shop.billing}`, invalidSpec(
			`parking queue name "shop.billing" is the work queue's name or one that Warren derives from it: choose another for spec.parkingQueue.name`)},
		{"a parking queue named like an exchange by default", `parkingQueue: {name: shop.billing.dead}`, invalidSpec(
			`parking queue name "shop.billing.dead" is the work queue's name or one that Warren derives from it: choose another for spec.parkingQueue.name`)},
		{"a parking queue named like a wait queue by default", `parkingQueue: {name: shop.billing.wait.9.1h}`, invalidSpec(
			`parking queue name "shop.billing.wait.9.1h" is the work queue's name or one that Warren derives from it: choose another for spec.parkingQueue.name`)},

		// What follows does not pass the API server; it must not break Warren all the same.
		{"no strategy", `retry: {}`, invalidSpec(
			"spec.retry is empty: choose backoff, fixedDelay, native or immediate, or leave retry out")},
		{"no delays", `retry: {backoff: {delays: []}}`, invalidSpec(
			"spec.retry.backoff.delays is empty: give at least one delay, or leave retry out")},
		{"a delay that does not parse", `retry: {backoff: {delays: [5s, 1d]}}`, invalidSpec(
			`spec.retry.backoff.delays[1]: "1d" is not a duration: use h, m, s and ms, for example 1m30s`)},
		{"no delay at all", `retry: {fixedDelay: {delay: 0s, maxAttempts: 5}}`, invalidSpec(
			`spec.retry.fixedDelay.delay: "0s" is shorter than 1ms`)},
		{"a native delay of nothing", `retry: {native: {minDelay: 0s, maxDelay: 1m}}`, invalidSpec(
			`spec.retry.native.minDelay: "0s" is shorter than 1ms`)},
		{"a native delay that does not parse", `retry: {native: {minDelay: 1s, maxDelay: soon}}`, invalidSpec(
			`spec.retry.native.maxDelay: "soon" is not a duration: use h, m, s and ms, for example 1m30s`)},
		{"a consumer timeout that does not parse", `workQueue: {consumerTimeout: 1d}`, invalidSpec(
			`spec.workQueue.consumerTimeout: "1d" is not a duration: use h, m, s and ms, for example 1m30s`)},
	}
	for _, tc := range cases {
		t.Run(tc.reason, func(t *testing.T) {
			_, err := topology.Compile(subscription(t, tc.spec))
			assertRefusal(t, err, tc.want)
		})
	}
}

// Names by default are not seen by the API server.
func TestRefusedDefaultNames(t *testing.T) {
	long := strings.Repeat("n", 219) // and shop. before it: 224 bytes
	cases := []struct {
		reason          string
		namespace, name string
		spec            string
		want            topology.Refusal
	}{
		{"one byte too many", "shop", long + "1234567", `retry: {immediate: {}}`, invalidSpec(
			`work queue name "shop.` + long + `1234567" has 231 bytes, and the longest name derived from it ("shop.` + long + `1234567.retry.first.b") 245; RabbitMQ allows 255, so set spec.workQueue.name to at most 230 bytes`)},
		{"the longest wait queue's name is told", "shop", long + "1234567", `retry: {backoff: {delays: [1s, 23h59m59s]}}`, invalidSpec(
			`work queue name "shop.` + long + `1234567" has 231 bytes, and the longest name derived from it ("shop.` + long + `1234567.wait.2.23h59m59s") 248; RabbitMQ allows 255, so set spec.workQueue.name to at most 230 bytes`)},
		{"a namespace that makes it RabbitMQ's own", "amq", "billing", ``, invalidSpec(
			`work queue name "amq.billing" begins with amq., which RabbitMQ reserves: set spec.workQueue.name`)},
		{"a parking queue's name too long in itself", "shop", "billing", `parkingQueue: {name: ` + strings.Repeat("p", 256) + `}`, invalidSpec(
			`parking queue name "` + strings.Repeat("p", 256) + `" has 256 bytes; RabbitMQ allows 255: set spec.parkingQueue.name`)},
	}
	for _, tc := range cases {
		t.Run(tc.reason, func(t *testing.T) {
			in := subscription(t, tc.spec)
			in.Namespace, in.Name = tc.namespace, tc.name
			_, err := topology.Compile(in)
			assertRefusal(t, err, tc.want)
		})
	}
}

func TestNativeNeedsABrokerThatHasIt(t *testing.T) {
	in := subscription(t, `retry: {native: {minDelay: 1s, maxDelay: 1m}}`)
	for _, version := range []topology.Version{rabbit40, {Major: 4, Minor: 2, Patch: 9}, {}} {
		in.Broker = version
		_, err := topology.Compile(in)
		assertRefusal(t, err, topology.Refusal{
			Reason: v1alpha1.ReasonUnsupportedByBroker,
			Message: "spec.retry.native needs RabbitMQ 4.3 or newer and the broker is " + version.String() +
				", which takes the arguments and ignores them: nothing was declared; choose backoff, fixedDelay or immediate, or upgrade the broker",
		})
	}
	for _, version := range []topology.Version{rabbit43, {Major: 4, Minor: 10}, {Major: 5}} {
		in.Broker = version
		if _, err := topology.Compile(in); err != nil {
			t.Errorf("on %s: %v", version, err)
		}
	}
}

func TestRefusedSources(t *testing.T) {
	headers := map[string]v1alpha1.HeaderValue{"type": "order"}
	manyKeys := []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"}
	cases := []struct {
		reason  string
		source  topology.Source
		message string
	}{
		{"a fanout exchange ignores keys", topology.Source{Type: "fanout", RoutingKeys: []string{"order.*"}},
			`is of type fanout, which ignores routing keys, and routingKeys has "order.*": leave routingKeys out, or use a topic exchange`},
		{"at most ten keys are named", topology.Source{Type: "fanout", RoutingKeys: manyKeys},
			`is of type fanout, which ignores routing keys, and routingKeys has "a", "b", "c", "d", "e", "f", "g", "h", "i", "j" and 2 more: leave routingKeys out, or use a topic exchange`},
		{"a fanout exchange ignores headers", topology.Source{Type: "fanout", Headers: headers},
			`is of type fanout, which ignores headers: leave headers out, or use a headers exchange`},
		{"a topic exchange ignores headers", topology.Source{Type: "topic", Headers: headers},
			`is of type topic, which ignores headers: give routingKeys in place of headers, or use a headers exchange`},
		{"a topic exchange without keys lets nothing through", topology.Source{Type: "topic"},
			`is of type topic, which routes by key, and there are no routingKeys: give at least one`},
		{"a direct exchange ignores headers", topology.Source{Type: "direct", Headers: headers},
			`is of type direct, which ignores headers: give routingKeys in place of headers, or use a headers exchange`},
		{"a direct exchange without keys lets nothing through", topology.Source{Type: "direct"},
			`is of type direct, which routes by key, and there are no routingKeys: give at least one`},
		{"a headers exchange ignores keys", topology.Source{Type: "headers", RoutingKeys: []string{"a", "b"}},
			`is of type headers, which ignores routing keys, and routingKeys has "a", "b": give headers in place of routingKeys, or use a topic exchange`},
		{"a headers exchange without headers is a mistake", topology.Source{Type: "headers"},
			`is of type headers, which routes by headers, and there are none: give headers`},
	}
	for _, tc := range cases {
		t.Run(tc.reason, func(t *testing.T) {
			in := subscription(t, ``)
			tc.source.Exchange = "events"
			in.Sources = []topology.Source{orders, tc.source}
			_, err := topology.Compile(in)
			assertRefusal(t, err, topology.Refusal{
				Reason:  v1alpha1.ReasonInvalidSource,
				Message: `spec.sources[1]: exchange "events" ` + tc.message,
			})
		})
	}
}

// RabbitMQ cannot list the bindings of a vhost any more in which a key with a
// tilde has arguments beside it.
func TestAKeyThatBlindsTheVhost(t *testing.T) {
	in := subscription(t, ``)
	in.Sources = []topology.Source{orders, {Exchange: "events", RoutingKeys: []string{"a.b", "a~b"}}}
	_, err := topology.Compile(in)
	assertRefusal(t, err, topology.Refusal{
		Reason:  v1alpha1.ReasonInvalidSource,
		Message: `spec.sources[1]: routing key "a~b" has a ~: RabbitMQ then fails to list the bindings of the whole vhost, since Warren's bindings have an argument, so choose another key`,
	})
}

func TestRefusedTopics(t *testing.T) {
	cases := []struct {
		reason string
		name   string
		spec   v1alpha1.TopicSpec
		want   topology.Refusal
	}{
		{"a name by default that is RabbitMQ's own", "amq.orders", v1alpha1.TopicSpec{}, invalidSpec(
			`exchange name "amq.orders" begins with amq., which RabbitMQ reserves: set spec.exchange`)},
		{"a catch-all's name by default that is too long", strings.Repeat("t", 245), v1alpha1.TopicSpec{Unroutable: &v1alpha1.UnroutableSpec{}}, invalidSpec(
			`queue name "` + strings.Repeat("t", 245) + `.unroutable" has 256 bytes; RabbitMQ allows 255: set spec.unroutable.queue`)},
		{"a catch-all that would be the exchange itself", "orders", v1alpha1.TopicSpec{Unroutable: &v1alpha1.UnroutableSpec{Queue: "orders"}}, invalidSpec(
			`spec.unroutable.queue is "orders", and so is the exchange: the alternate exchange before the queue has the queue's name, so choose another`)},
	}
	for _, tc := range cases {
		t.Run(tc.reason, func(t *testing.T) {
			_, err := topology.CompileTopic(topology.Topic{Name: tc.name, Spec: &tc.spec, Owner: "cluster/shop/orders"})
			assertRefusal(t, err, tc.want)
		})
	}
}
