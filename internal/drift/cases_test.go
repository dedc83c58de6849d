package drift_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/warren-mq/warren/internal/drift"
	"github.com/warren-mq/warren/internal/topology"
)

// definitions of a vhost, as RabbitMQ exports them.
type definitions struct {
	Exchanges []struct{ Name, Type string }
	Queues    []struct {
		Name      string
		Arguments map[string]any
	}
	Bindings []struct {
		Source, Destination string
		DestinationType     string `json:"destination_type"`
		RoutingKey          string `json:"routing_key"`
	}
}

// loaded is a broker with the topology of a file of test/cases.
func loaded(t *testing.T, file string) *rabbit {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("..", "..", "test", "cases", file))
	if err != nil {
		t.Fatal(err)
	}
	var d definitions
	if err := json.Unmarshal(content, &d); err != nil {
		t.Fatal(err)
	}
	r := newRabbit()
	for _, e := range d.Exchanges {
		r.declare(topology.Exchange{Name: e.Name, Type: e.Type})
	}
	for _, q := range d.Queues {
		r.declare(topology.Queue{Name: q.Name, Arguments: q.Arguments})
		r.setQueue(q.Name, func(seen *topology.SeenQueue) {
			if q.Arguments["x-queue-type"] == nil { // the vhost's default
				seen.Type, seen.Messages = "classic", new(int64)
			}
		})
	}
	for _, b := range d.Bindings {
		r.declare(topology.Binding{Source: b.Source, Destination: b.Destination, DestinationKind: topology.Kind(b.DestinationType), RoutingKey: b.RoutingKey})
	}
	return r
}

// Topologies met in the field, each adopted as its owner would: every defect
// is named. The golden files are for reviewing as text.
func TestTopologiesOfTheField(t *testing.T) {
	cases := []struct {
		name, file, spec string
		source           topology.Source
	}{
		{"1-notify", "1-shared-topic-dlx-three-tiers.json",
			`{workQueue: {name: notify.order-events}, parkingQueue: {name: notify.failed.dlq}, adoptionPolicy: Adopt}`,
			topology.Source{Exchange: "shop.events", Type: "topic", RoutingKeys: []string{"order.*", "payment.*"}}},
		{"1-report", "1-shared-topic-dlx-three-tiers.json",
			`{workQueue: {name: report.all-events}, parkingQueue: {name: report.failed.dlq}, adoptionPolicy: Adopt}`,
			topology.Source{Exchange: "shop.events", Type: "topic", RoutingKeys: []string{"#"}}},
		{"2-notice", "2-quorum-loop-wait-and-parking.json",
			`{workQueue: {name: notice.send}, retry: {fixedDelay: {delay: 1m, maxAttempts: 20}}, parkingQueue: {name: notice.send.parking}, adoptionPolicy: Adopt}`,
			topology.Source{Exchange: "bill.events", Type: "topic", RoutingKeys: []string{"notice.#", "payment.*"}}},
		{"3-workflow", "3-ttl-on-work-queues-one-shared-dlq.json",
			`{workQueue: {name: workflow.events}, parkingQueue: {name: workflow.events.dlq}, adoptionPolicy: Adopt}`,
			topology.Source{Exchange: "case.events", Type: "topic", RoutingKeys: []string{"alert.#", "client.#", "file.#"}}},
		{"3-alert", "3-ttl-on-work-queues-one-shared-dlq.json",
			`{workQueue: {name: alert.events}, parkingQueue: {name: case.dlq}, adoptionPolicy: Adopt}`,
			topology.Source{Exchange: "case.events", Type: "topic", RoutingKeys: []string{"alert.#"}}},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			r := loaded(t, tc.file)
			got := drift.Compare(subscriptionOn(t, tc.spec, r, tc.source), r.snapshot(), drift.Claims{Adopt: true})
			if len(got.Plan) > 0 {
				t.Errorf("it is not safe as it is, and something would be done to it:\n%s", got.Plan)
			}
			assertGolden(t, "case-"+tc.name, entriesAsText(got.Differences))
		})
	}
}

func entriesAsText(differences []drift.Difference) string {
	var s strings.Builder
	for _, d := range differences {
		fmt.Fprintf(&s, "%s %s of %s\n  is     %s\n  wanted %s\n  %s\n", d.Impact, d.Field, d.Object, d.Observed, d.Desired, d.Remedy)
	}
	return s.String()
}
