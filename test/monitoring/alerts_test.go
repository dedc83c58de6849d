package monitoring

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/warren-mq/warren/hack/localenv"
)

// repository is the top of the repository.
var repository = filepath.Join("..", "..")

// alerts reads the rules as the Prometheus operator gives them to Prometheus.
func alerts(t *testing.T) (groups []byte, names []string) {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(repository, "config", "prometheus", "rules.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var resource struct {
		Spec struct {
			Groups []struct {
				Name  string           `json:"name"`
				Rules []map[string]any `json:"rules"`
			} `json:"groups"`
		} `json:"spec"`
	}
	if err := yaml.UnmarshalStrict(content, &struct {
		APIVersion string         `json:"apiVersion"`
		Kind       string         `json:"kind"`
		Metadata   map[string]any `json:"metadata"`
		Spec       any            `json:"spec"`
	}{Spec: &resource.Spec}); err != nil {
		t.Fatal(err)
	}
	for _, g := range resource.Spec.Groups {
		for _, r := range g.Rules {
			names = append(names, fmt.Sprint(r["alert"]))
		}
	}
	groups, err = yaml.Marshal(resource.Spec)
	if err != nil {
		t.Fatal(err)
	}
	return groups, names
}

// promtool runs promtool in a directory that has the rules and the samples.
func promtool(t *testing.T, args ...string) {
	t.Helper()
	bin, err := localenv.Prometheus(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	groups, _ := alerts(t)
	samples, err := os.ReadFile(filepath.Join("testdata", "samples.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{"rules.yaml": groups, "samples.yaml": samples} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), filepath.Join(bin, "promtool"), args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

func TestRulesAreWellFormed(t *testing.T) {
	promtool(t, "check", "rules", "--lint-fatal", "rules.yaml")
}

// Each alert fires on what it is for, after its time, and not on what is right.
func TestAlertsFire(t *testing.T) { promtool(t, "test", "rules", "samples.yaml") }

// Samples are worth something for the alerts that they have.
func TestEachAlertHasSamplesAndARunbook(t *testing.T) {
	samples, err := os.ReadFile(filepath.Join("testdata", "samples.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	runbooks, err := filepath.Glob(filepath.Join(repository, "docs", "runbooks", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, names := alerts(t)
	for _, name := range names {
		if !slices.Contains(runbooks, filepath.Join(repository, "docs", "runbooks", name+".md")) {
			t.Errorf("alert %s has no page docs/runbooks/%[1]s.md", name)
		}
		for _, want := range []string{"exp_alerts: []", "exp_labels"} {
			if !sampled(string(samples), name, want) {
				t.Errorf("alert %s has no sample with %s", name, want)
			}
		}
	}
	for _, page := range runbooks {
		if name := strings.TrimSuffix(filepath.Base(page), ".md"); name != "README" && !slices.Contains(names, name) {
			t.Errorf("%s is of no alert", page)
		}
	}
}

// sampled tells whether some test of an alert expects this.
func sampled(samples, alert, expects string) bool {
	for _, part := range strings.Split(samples, "alertname: ")[1:] {
		name, rest, _ := strings.Cut(part, "\n")
		if strings.TrimSpace(name) == alert && strings.Contains(rest, expects) {
			return true
		}
	}
	return false
}
