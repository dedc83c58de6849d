package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/warren-mq/warren/hack/localenv"
	"github.com/warren-mq/warren/test/amqptest"
)

// panel of the dashboard, as far as a query goes.
type panel struct {
	Title   string `json:"title"`
	Targets []struct {
		Expr string `json:"expr"`
	} `json:"targets"`
}

// Every panel of the dashboard shows something in a real Prometheus that
// scrapes a running operator with a subscription that has messages everywhere.
func TestDashboard(t *testing.T) {
	t.Parallel()
	s := &stage{tenant: newTenant(t, localenv.Broker(t, localenv.Series43)), t: t}
	s.app = s.application()
	s.establish(subscriptionManifest("billing", `workQueue: {name: billing}, retry: {backoff: {delays: [1h]}}`), "billing")
	s.publish("", "billing", amqptest.Message("done"), amqptest.Message("failed"), amqptest.Message("again"))
	s.publish("billing.park", "billing", amqptest.Message("parked"))
	s.consume("billing", amqptest.ByID(map[string]amqptest.Answer{
		"failed": amqptest.InTurn(amqptest.Reject), "again": amqptest.InTurn(amqptest.RejectRequeue, amqptest.Ack),
	}))

	query := startPrometheus(t, s.metrics)
	for _, p := range dashboard(t) {
		for _, target := range p.Targets {
			expr := strings.NewReplacer("$__rate_interval", "30s", "$namespace", s.namespace, "$subscription", "billing").Replace(target.Expr)
			amqptest.Eventually(t, within, func() error {
				n, err := query(expr)
				if err == nil && n == 0 {
					err = fmt.Errorf("panel %q shows nothing for %s", p.Title, expr)
				}
				return err
			})
		}
	}
}

func dashboard(t *testing.T) []panel {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("..", "..", "config", "prometheus", "dashboard.json"))
	if err != nil {
		t.Fatal(err)
	}
	var d struct {
		Panels []panel `json:"panels"`
	}
	if err := json.Unmarshal(content, &d); err != nil {
		t.Fatal(err)
	}
	return d.Panels
}

// startPrometheus scrapes an address every second. The query gives how many series an expression has.
func startPrometheus(t *testing.T, target string) (query func(expr string) (int, error)) {
	t.Helper()
	bin, err := localenv.Prometheus(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ports, err := localenv.FreePorts(1)
	if err != nil {
		t.Fatal(err)
	}
	dir, address := t.TempDir(), fmt.Sprintf("127.0.0.1:%d", ports[0])
	config := fmt.Sprintf("global: {scrape_interval: 1s}\nscrape_configs: [{job_name: warren, honor_labels: true, static_configs: [{targets: [%q]}]}]\n", target)
	if err := os.WriteFile(filepath.Join(dir, "prometheus.yml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	process, err := localenv.StartProcess(dir, "prometheus", exec.Command(filepath.Join(bin, "prometheus"),
		"--config.file="+filepath.Join(dir, "prometheus.yml"), "--storage.tsdb.path="+filepath.Join(dir, "data"), "--web.listen-address="+address))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := process.Stop(); err != nil {
			t.Error(err)
		}
	})
	return func(expr string) (int, error) {
		var answer struct {
			Status, Error string
			Data          struct{ Result []any }
		}
		response, err := http.Get("http://" + address + "/api/v1/query?query=" + url.QueryEscape(expr))
		if err != nil {
			return 0, err
		}
		defer response.Body.Close()
		if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
			return 0, err
		}
		if answer.Status != "success" {
			return 0, fmt.Errorf("%s: %s", expr, answer.Error)
		}
		return len(answer.Data.Result), nil
	}
}
