package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/warren-mq/warren/hack/dashboard"
	"github.com/warren-mq/warren/hack/localenv"
	"github.com/warren-mq/warren/test/amqptest"
)

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

	prometheus := startPrometheus(t, s.metrics)
	variables := strings.NewReplacer("$__rate_interval", "30s", "$namespace", s.namespace, "$subscription", "billing")
	panels, err := dashboard.Read(filepath.Join("..", "..", "config", "prometheus", "dashboard.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range panels {
		for _, target := range p.Targets {
			expr := variables.Replace(target.Expr)
			amqptest.Eventually(t, within, func() error {
				found, err := prometheus.now(expr)
				if err == nil && len(found) == 0 {
					err = fmt.Errorf("panel %q shows nothing for %s", p.Title, expr)
				}
				return err
			})
		}
	}
	if path := os.Getenv("WARREN_DASHBOARD_PICTURE"); path != "" {
		s.picture(t, path, panels, func(expr string) ([]dashboard.Series, error) { return prometheus.lately(variables.Replace(expr)) })
	}
}

// startPrometheus scrapes an address every second.
func startPrometheus(t *testing.T, target string) prometheus {
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
	return prometheus{url: "http://" + address + "/api/v1/"}
}
