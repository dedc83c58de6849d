package v1alpha1_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// run calls kubectl as people do.
func (c *cluster) run(t *testing.T, args ...string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), c.kubectl, append([]string{"--kubeconfig", c.kubeconfig}, args...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("kubectl %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// One test for all of kubectl: the later steps look at what the first one made.
func TestKubectl(t *testing.T) {
	c := theCluster(t)
	c.run(t, "create", "namespace", "shop")

	want := `broker.warren.dev/main created
topic.warren.dev/orders created
reliablesubscription.warren.dev/billing created
reliablesubscription.warren.dev/shipping created
reliablesubscription.warren.dev/saga created
reliablesubscription.warren.dev/search created
`
	if diff := cmp.Diff(want, c.run(t, "apply", "--namespace", "shop", "--filename", "testdata/guide.yaml")); diff != "" {
		t.Errorf("applying the guide's manifests (-want +got):\n%s", diff)
	}

	want = `broker.warren.dev/main
reliablesubscription.warren.dev/billing
reliablesubscription.warren.dev/saga
reliablesubscription.warren.dev/search
reliablesubscription.warren.dev/shipping
topic.warren.dev/orders
`
	if diff := cmp.Diff(want, c.run(t, "get", "warren", "--namespace", "shop", "--output", "name")); diff != "" {
		t.Errorf("the category lists every kind (-want +got):\n%s", diff)
	}

	columns := map[string]string{
		"broker": "NAME READY STATUS VERSION VHOST ALARM AGE",
		"topic":  "NAME READY STATUS EXCHANGE TYPE SUBSCRIPTIONS ESTABLISHED UNROUTABLE AGE",
		"rsub":   "NAME READY STATUS MESSAGES CONSUMERS RETRYING PARKED DRIFT AGE",
	}
	for resource, want := range columns {
		header, _, _ := strings.Cut(c.run(t, "get", resource, "--namespace", "shop"), "\n")
		if got := strings.Join(strings.Fields(header), " "); got != want {
			t.Errorf("columns of %s:\n got %s\nwant %s", resource, got, want)
		}
	}
}
