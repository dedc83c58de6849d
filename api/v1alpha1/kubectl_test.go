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
redrive.warren.dev/billing-after-fix-417 created
`
	if diff := cmp.Diff(want, c.run(t, "apply", "--namespace", "shop", "--filename", "testdata/guide.yaml")); diff != "" {
		t.Errorf("applying the guide's manifests (-want +got):\n%s", diff)
	}

	want = `broker.warren.dev/main
redrive.warren.dev/billing-after-fix-417
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
		"broker":  "NAME READY STATUS VERSION VHOST ALARM AGE CLUSTER MESSAGE",
		"topic":   "NAME READY STATUS EXCHANGE TYPE SUBSCRIPTIONS ESTABLISHED UNROUTABLE AGE MESSAGE",
		"rsub":    "NAME READY STATUS MESSAGES CONSUMERS RETRYING PARKED DRIFT AGE QUEUE RETRY TIMETOPARKING MESSAGE",
		"redrive": "NAME STATUS MOVED TOTAL AGE SUBSCRIPTION ACTION SKIPPED DISCARDED MESSAGE",
	}
	for resource, wide := range columns {
		narrow, _, _ := strings.Cut(wide, " AGE")
		if got, want := c.header(t, resource), narrow+" AGE"; got != want {
			t.Errorf("columns of %s:\n got %s\nwant %s", resource, got, want)
		}
		if got := c.header(t, resource, "--output", "wide"); got != wide {
			t.Errorf("wide columns of %s:\n got %s\nwant %s", resource, got, wide)
		}
	}
}

// header gives the names of the columns that kubectl get prints.
func (c *cluster) header(t *testing.T, resource string, args ...string) string {
	t.Helper()
	first, _, _ := strings.Cut(c.run(t, append([]string{"get", resource, "--namespace", "shop"}, args...)...), "\n")
	return strings.Join(strings.Fields(first), " ")
}
