package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/warren-mq/warren/api/v1alpha1"
	"github.com/warren-mq/warren/test/amqptest"
)

// load imports a file of test/cases into the tenant's vhost, as its owner would have.
func (s *stage) load(t *testing.T, file string) {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("..", "cases", file))
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]any
	if err := json.Unmarshal(content, &all); err != nil {
		t.Fatal(err)
	}
	definitions := map[string]any{}
	for _, kind := range []string{"exchanges", "queues", "bindings", "policies"} {
		for _, o := range all[kind].([]any) {
			delete(o.(map[string]any), "vhost")
		}
		definitions[kind] = all[kind]
	}
	if err := s.manage(http.MethodPost, definitions, nil, "definitions"); err != nil {
		t.Fatal(err)
	}
}

// defect is an entry of status.drift: what it says is there begins so.
type defect struct {
	impact        v1alpha1.Impact
	object, field string
	observed      string
}

// The topologies of test/cases, as they were met in the field, each adopted
// by a manifest: every defect is named, and nothing is touched.
func TestAdoptingTopologiesOfTheField(t *testing.T) {
	const unsafe, tolerable = v1alpha1.ImpactUnsafe, v1alpha1.ImpactTolerable
	cases := []struct {
		name, file, spec string
		defects          []defect
	}{
		{"1-notify", "1-shared-topic-dlx-three-tiers.json",
			`sources: [{exchange: shop.events, routingKeys: ["order.*", "payment.*"]}], workQueue: {name: notify.order-events}, parkingQueue: {name: notify.failed.dlq}`,
			[]defect{
				{unsafe, `queue "notify.order-events"`, "x-queue-type", "classic"},
				{unsafe, `queue "notify.order-events"`, "dead-letter route", `no queue for key "order.*"`},
				{unsafe, `queue "notify.order-events"`, "dead-letter route", `queue "payment.failed.dlq" for key "payment.*"`},
				{unsafe, `queue "notify.failed.dlq"`, "dead-letter route", `only what is published to exchange "shop.dlx"`},
				{tolerable, `exchange "shop.events"`, "dead letters that come back", `what has waited in queues "wait.2m", "wait.30s", "wait.5s"`},
			}},
		{"1-report", "1-shared-topic-dlx-three-tiers.json",
			`sources: [{exchange: shop.events, routingKeys: ["#"]}], workQueue: {name: report.all-events}, parkingQueue: {name: report.failed.dlq}`,
			[]defect{
				{unsafe, `queue "report.all-events"`, "dead-letter route", `no queue for key "#", "order.*", "order.created"`},
				{unsafe, `queue "report.all-events"`, "dead-letter route", `queue "payment.failed.dlq" for key "payment.*"`},
			}},
		{"2-notice", "2-quorum-loop-wait-and-parking.json",
			`sources: [{exchange: bill.events, routingKeys: ["notice.#", "payment.*"]}], workQueue: {name: notice.send}, retry: {fixedDelay: {delay: 1m, maxAttempts: 20}}, parkingQueue: {name: notice.send.parking}`,
			[]defect{
				{unsafe, `queue "notice.send"`, "dead-letter cycle", "notice.send -> notice.send.wait -> notice.send"},
				{unsafe, `queue "notice.send.wait"`, "x-dead-letter-strategy", "none, with overflow none"},
				{unsafe, `queue "notice.send.parking"`, "x-delivery-limit", "none"},
				{unsafe, `queue "notice.send.parking"`, "dead-letter route", `only what is published to exchange "bill.parking"`},
				{tolerable, `queue "notice.send"`, "x-delivery-limit", "none"},
				{tolerable, `exchange "bill.events"`, "routing key", `queue "plan.renew" for key "payment.succeeded"`},
			}},
		{"3-workflow", "3-ttl-on-work-queues-one-shared-dlq.json",
			`sources: [{exchange: case.events, routingKeys: ["alert.#", "client.#", "file.#"]}], workQueue: {name: workflow.events}, parkingQueue: {name: workflow.events.dlq}`,
			[]defect{
				{tolerable, `queue "workflow.events"`, "x-message-ttl", "604800000"},
				{unsafe, `queue "workflow.events"`, "dead-letter route", `queue "case.dlq" for key "alert.#", "client.#", "file.#"`},
				{unsafe, `queue "workflow.events.dlq"`, "dead-letter route", "nothing is bound to it"},
				{unsafe, `queue "workflow.events.dlq"`, "x-queue-type", "classic"},
				{unsafe, `queue "workflow.events"`, "x-dead-letter-strategy", "none"},
				{unsafe, `queue "workflow.events"`, "x-overflow", "none"},
			}},
		{"3-alert", "3-ttl-on-work-queues-one-shared-dlq.json",
			`sources: [{exchange: case.events, routingKeys: ["alert.#"]}], workQueue: {name: alert.events}, parkingQueue: {name: case.dlq}`,
			[]defect{
				{tolerable, `queue "alert.events"`, "x-message-ttl", "86400000"},
				{unsafe, `queue "case.dlq"`, "dead-letter route", `also what dies in queues "client.events", "stats.all", "workflow.events"`},
			}},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			onStages(t, func(t *testing.T, s *stage) {
				s.load(t, tc.file)
				before := s.onBroker()
				s.apply(subscriptionManifest("adopter", "adoptionPolicy: Adopt, "+tc.spec))
				s.await("rsub/adopter",
					expected{v1alpha1.ConditionEstablished, metav1.ConditionFalse, v1alpha1.ReasonUnsafeToAdopt, "what is on the broker would cost messages as it is, and stays unbound: "},
					expected{v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonUnsafeToAdopt, ""})
				s.awaitDefects(t, tc.defects)
				s.stays(threeSyncs, func() error {
					if diff := cmp.Diff(before, s.onBroker()); diff != "" {
						return fmt.Errorf("the broker was changed (-before +after):\n%s", diff)
					}
					return nil
				})
			})
		})
	}
}

// awaitDefects waits, since an import comes into being object by object.
func (s *stage) awaitDefects(t *testing.T, defects []defect) {
	t.Helper()
	amqptest.Eventually(t, within, func() error {
		entries := s.subscription("adopter").Status.Drift
		for _, d := range defects {
			if !slices.ContainsFunc(entries, d.describes) {
				return fmt.Errorf("status.drift does not name %s %s of %s: %s\nit has %+v", d.impact, d.field, d.object, d.observed, entries)
			}
		}
		return nil
	})
}

func (d defect) describes(e v1alpha1.DriftEntry) bool {
	return e.Object == d.object && e.Field == d.field && e.Impact == d.impact && strings.HasPrefix(e.Observed, d.observed) && e.Remedy != ""
}
