package e2e

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/warren-mq/warren/hack/localenv"
	"github.com/warren-mq/warren/test/amqptest"
)

// scrape reads the operator's metrics of the tenant's namespace, by name and
// labels as the endpoint has them, the namespace left out.
func (w *tenant) scrape() (map[string]string, error) {
	response, err := http.Get("http://" + w.metrics + "/metrics")
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	found := map[string]string{}
	label := fmt.Sprintf("namespace=%q", w.namespace)
	for line := range strings.Lines(string(content)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "} ")
		if !strings.HasPrefix(name, "warren_") || !strings.Contains(name, label) {
			continue
		}
		name = strings.ReplaceAll(strings.ReplaceAll(name+"}", label+",", ""), ","+label, "")
		found[name] = value
	}
	return found, nil
}

// awaitMetrics polls until there are these series, with these values.
func (w *tenant) awaitMetrics(want map[string]string) {
	w.t.Helper()
	amqptest.Eventually(w.t, within, func() error {
		found, err := w.scrape()
		if err != nil {
			return err
		}
		for name, value := range want {
			if found[name] != value {
				return fmt.Errorf("%s is %q, want %q, among %v", name, found[name], value, found)
			}
		}
		return nil
	})
}

// What the status tells of is there as metrics, and goes with its resource.
func TestMetrics(t *testing.T) {
	onStages(t, func(t *testing.T, s *stage) {
		s.apply(strings.Replace(s.brokerManifest("astray", "1s"), "username:", "username: nobody, was:", 1))
		s.establish(subscriptionManifest("billing", `workQueue: {name: billing}, retry: {backoff: {delays: [1h]}}`), "billing")
		s.publish("", "billing", amqptest.Message("done"), amqptest.Message("failed"), amqptest.Message("held"), amqptest.Message("held too"))
		s.publish("billing.park", "billing", amqptest.Message("parked"), amqptest.Message("parked too"))
		s.consume("billing", amqptest.ByID(map[string]amqptest.Answer{
			"failed": amqptest.InTurn(amqptest.Reject), "held": amqptest.InTurn(amqptest.Hang), "held too": amqptest.InTurn(amqptest.Hang),
		}), amqptest.Prefetch(10))

		s.awaitMetrics(map[string]string{
			`warren_broker_up{broker="main"}`:                                                           "1",
			`warren_broker_up{broker="astray"}`:                                                         "0",
			`warren_queue_messages{role="work",state="ready",subscription="billing"}`:                   "0",
			`warren_queue_messages{role="work",state="unacknowledged",subscription="billing"}`:          "2",
			`warren_queue_messages{role="work",state="dead_lettering",subscription="billing"}`:          "0",
			`warren_queue_messages{role="work",state="delayed",subscription="billing"}`:                 "0",
			`warren_queue_messages{role="retry",state="ready",subscription="billing"}`:                  "1",
			`warren_queue_messages{role="retry",state="unacknowledged",subscription="billing"}`:         "0",
			`warren_queue_messages{role="parking",state="ready",subscription="billing"}`:                "2",
			`warren_queue_messages{role="parking",state="dead_lettering",subscription="billing"}`:       "0",
			`warren_queue_consumers{subscription="billing"}`:                                            "1",
			`warren_queue_deliveries_total{subscription="billing"}`:                                     "4",
			`warren_queue_acknowledgements_total{subscription="billing"}`:                               "1",
			`warren_subscription_condition{status="True",subscription="billing",type="Ready"}`:          "1",
			`warren_subscription_condition{status="True",subscription="billing",type="ParkingBacklog"}`: "1",
			`warren_drift_entries{impact="Unsafe",subscription="billing"}`:                              "0",
			`warren_drift_entries{impact="Tolerable",subscription="billing"}`:                           "0",
		})
		found, err := s.scrape()
		if err != nil {
			t.Fatal(err)
		}
		if age := found[`warren_snapshot_age_seconds{broker="main"}`]; age == "" {
			t.Error("the age of the last reading is not told")
		}
		if age, told := found[`warren_snapshot_age_seconds{broker="astray"}`]; told {
			t.Errorf("the last reading of a broker that was never read is told to be %s s old", age)
		}

		s.mustKubectl("delete", "rsub/billing", "broker/astray", "-n", s.namespace)
		amqptest.Eventually(t, within, func() error {
			found, err := s.scrape()
			for name := range found {
				if strings.Contains(name, "billing") || strings.Contains(name, "astray") {
					err = fmt.Errorf("%s is still there", name)
				}
			}
			return err
		})
	})
}

// How long the broker takes is told by operation.
func TestRequestMetrics(t *testing.T) {
	t.Parallel()
	w := newTenant(t, localenv.Broker(t, localenv.Series43))
	w.apply(topicOn("orders", "main"))
	w.awaitReady("topic/orders")
	body := get(t, "http://"+w.metrics+"/metrics")
	for _, operation := range []string{"list_queues", "list_queue_statistics", "list_bindings", "declare_exchange"} {
		if name := fmt.Sprintf(`warren_broker_request_duration_seconds_count{operation=%q,outcome="success"}`, operation); !strings.Contains(body, name) {
			t.Errorf("there is no %s", name)
		}
	}
}

// A Redrive that has something before it is told, and what it has done is counted.
func TestRedriveMetrics(t *testing.T) {
	t.Parallel()
	s := newStage(t, localenv.Series43)
	s.establish(subscriptionManifest("billing", `workQueue: {name: billing}, retry: {immediate: {}}`), "billing")
	s.park(t, amqptest.Messages("parked", 50)...)
	s.apply(redriveManifest("slow", "messagesPerSecond: 5"))
	s.awaitMoved("slow", 5)
	remaining := func() (string, bool, error) {
		found, err := s.scrape()
		value, told := found[`warren_redrive_remaining_messages{redrive="slow"}`]
		return value, told, err
	}
	if value, told, err := remaining(); err != nil || !told || value == "0" {
		t.Errorf("of a Redrive under way %q messages are told to remain (told: %t, error: %v), want some", value, told, err)
	}
	if body := get(t, "http://"+s.metrics+"/metrics"); !strings.Contains(body, `warren_redrive_messages_total{outcome="moved"} `) || strings.Contains(body, `warren_redrive_messages_total{outcome="moved"} 0`+"\n") {
		t.Error("what was moved is not counted")
	}
	s.suspend("slow", true)
	amqptest.Eventually(t, within, func() error {
		_, told, err := remaining()
		if told {
			err = errors.New("a suspended Redrive is told to have messages before it")
		}
		return err
	})
}
