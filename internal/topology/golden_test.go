package topology_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/warren-mq/warren/api/v1alpha1"
	"github.com/warren-mq/warren/internal/topology"
)

var update = flag.Bool("update", false, "write testdata/*.golden anew")

// Whole topologies as text, to be read in a review.
func TestGoldenSubscriptions(t *testing.T) {
	cases := []struct {
		file, reason string
		spec         string
		sources      []topology.Source
	}{
		{file: "backoff-three-delays", reason: "the guide's example",
			spec: `{workQueue: {name: orders.billing, deliveryLimit: 20}, retry: {backoff: {delays: [5s, 30s, 5m]}}}`},
		{file: "backoff-one-delay", reason: "the first rung is also the last",
			spec: `{workQueue: {name: orders.billing}, retry: {backoff: {delays: [90s]}}}`},
		{file: "fixed-delay", reason: "one wait queue, no rungs",
			spec: `{workQueue: {name: orders.billing}, retry: {fixedDelay: {delay: 30s, maxAttempts: 5}}}`},
		{file: "native", reason: "arguments of the work queue, no object",
			spec: `{workQueue: {name: orders.billing, deliveryLimit: 8}, retry: {native: {minDelay: 1s, maxDelay: 1m, on: All}}}`},
		{file: "immediate", reason: "the frame alone, under default names",
			spec: `retry: {immediate: {}}`},
		{file: "policy", reason: "the type and the mark are all that is left in the work queue's arguments",
			spec: `{settings: Policy, workQueue: {name: orders.billing+v2, deliveryLimit: 30, leaderLocator: Balanced, consumerTimeout: 1h}, retry: {backoff: {delays: [5s]}}}`},
		{file: "policy-native", reason: "what has no policy key stays an argument",
			spec: `{settings: Policy, workQueue: {name: orders.billing, singleActiveConsumer: true, replicas: 5, maxLength: 1000}, retry: {native: {minDelay: 1s, maxDelay: 1m}}}`},
		{file: "at-most-once", reason: "rejects publishes above a length all the same; the parking side stays at least once",
			spec: `{workQueue: {name: orders.billing, deadLetterStrategy: AtMostOnce}, retry: {backoff: {delays: [5s]}}}`},
		{file: "all-work-queue-options", reason: "replicas and locator hold for every queue, the rest for the work queue",
			spec: `{workQueue: {name: orders.billing, deliveryLimit: 101, singleActiveConsumer: true, consumerTimeout: 1h30m, maxLength: 1000, replicas: 5, leaderLocator: ClientLocal}, retry: {immediate: {}}, parkingQueue: {name: orders.billing.dead-letter}}`},
		{file: "several-sources", reason: "each type of exchange is bound its own way, and nothing twice",
			spec: `{workQueue: {name: orders.billing}, retry: {immediate: {}}}`,
			sources: []topology.Source{
				{Exchange: "orders", Type: "topic", RoutingKeys: []string{"order.*", "refund.#"}},
				{Exchange: "orders", Type: "topic", RoutingKeys: []string{"order.*", "invoice.paid"}},
				{Exchange: "jobs", Type: "direct", RoutingKeys: []string{""}},
				{Exchange: "everything", Type: "fanout"},
				{Exchange: "by-header", Type: "headers", Headers: map[string]v1alpha1.HeaderValue{"type": "order", "country": "de"}},
				{Exchange: "by-any-header", Type: "headers", Headers: map[string]v1alpha1.HeaderValue{"type": "order"}, Match: v1alpha1.HeaderMatchAny},
				{Exchange: "of-a-plugin", Type: "x-delayed-message", RoutingKeys: []string{"later"}},
				{Exchange: "not-there-yet"},
			}},
	}
	for _, tc := range cases {
		t.Run(tc.file, func(t *testing.T) {
			in := subscription(t, tc.spec)
			if tc.sources != nil {
				in.Sources = tc.sources
			}
			assertGolden(t, tc.file, tc.reason, render(compile(t, in)))
		})
	}
}

func TestGoldenTopics(t *testing.T) {
	cases := []struct {
		file, reason string
		spec         v1alpha1.TopicSpec
	}{
		{file: "topic", reason: "an exchange and nothing else, under default names"},
		{file: "topic-unroutable", reason: "the catch-all comes before the exchange whose messages it catches",
			spec: v1alpha1.TopicSpec{Exchange: "shop.orders", Type: v1alpha1.ExchangeHeaders, Unroutable: &v1alpha1.UnroutableSpec{}}},
		{file: "topic-unroutable-named", reason: "queue and alternate exchange have the same name",
			spec: v1alpha1.TopicSpec{Type: v1alpha1.ExchangeFanout, Unroutable: &v1alpha1.UnroutableSpec{Queue: "lost and found"}}},
	}
	for _, tc := range cases {
		t.Run(tc.file, func(t *testing.T) {
			compiled, err := topology.CompileTopic(topology.Topic{Name: "orders", Spec: &tc.spec, Owner: "cluster/shop/orders"})
			if err != nil {
				t.Fatal(err)
			}
			assertGolden(t, tc.file, tc.reason, render(compiled))
		})
	}
}

func assertGolden(t *testing.T, file, reason, got string) {
	t.Helper()
	got = "# " + reason + "\n" + got
	path := filepath.Join("testdata", file+".golden")
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s differs; run with -update if that is meant (-want +got):\n%s", path, diff)
	}
}

// render writes a topology as text: one line an object, in declare order, then its routes.
func render(compiled *topology.Topology) string {
	var b strings.Builder
	for _, o := range compiled.Objects {
		b.WriteString(line(o) + "\n")
	}
	for _, r := range compiled.Routes {
		start := fmt.Sprintf("exchange %s", r.Exchange)
		if r.Queue != "" {
			start = fmt.Sprintf("queue %s, %s", r.Queue, r.Headers["x-last-death-reason"])
		}
		if through := r.Headers["x-last-death-exchange"]; through != "" {
			start += ", came through " + through
		}
		fmt.Fprintf(&b, "route    %s: from %s to %s\n", r.Means, start, r.To)
	}
	return b.String()
}

func line(o topology.Object) string {
	switch o := o.(type) {
	case topology.Exchange:
		return fmt.Sprintf("exchange %s (%s)%s", o.Name, o.Type, arguments(o.Arguments))
	case topology.Queue:
		return fmt.Sprintf("queue    %s (%s)%s", o.Name, o.Role, arguments(o.Arguments))
	case topology.Policy:
		return fmt.Sprintf("policy   %s (%s of %s, priority %d)%s", o.Name, o.Pattern, o.ApplyTo, o.Priority, arguments(o.Definition))
	case topology.Binding:
		key := ""
		if o.RoutingKey != "" {
			key = fmt.Sprintf(" %q", o.RoutingKey)
		}
		return fmt.Sprintf("binding  %s -> %s %s%s%s", o.Source, o.DestinationKind, o.Destination, key, arguments(o.Arguments))
	}
	return fmt.Sprintf("%T", o)
}

func arguments(args topology.Arguments) string {
	var list []string
	for key, value := range args {
		list = append(list, fmt.Sprintf(" %s=%v", key, value))
	}
	slices.Sort(list)
	return strings.Join(list, "")
}
