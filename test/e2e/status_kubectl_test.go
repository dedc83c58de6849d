package e2e

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/warren-mq/warren/api/v1alpha1"
	"github.com/warren-mq/warren/hack/localenv"
	"github.com/warren-mq/warren/test/amqptest"
)

// `kubectl get` shows at a glance what is wrong: one line a resource, and all
// kinds by their category.
func TestKubectlGet(t *testing.T) {
	t.Parallel()
	w := newTenant(t, localenv.Broker(t, localenv.Series43))
	w.apply(topicOn("orders", "main") + subscriptionWith("billing", `{topicRef: {name: orders}, routingKeys: ["order.*"]}`) +
		subscriptionWith("wrong", `{topicRef: {name: orders}}`))
	w.awaitSettled("broker/main", "rsub/billing")
	amqptest.Publish(t, w.application(), "billing.park", "order.placed", amqptest.Message("parked"))
	w.awaitCounts("billing", counts{parked: known(1)})
	w.await("rsub/wrong", expected{Type: v1alpha1.ConditionEstablished, Status: "False", Reason: v1alpha1.ReasonInvalidSource})

	version := w.vhost.Broker.Version
	for _, c := range []struct {
		args []string
		want [][]string
	}{
		{[]string{"rsub"}, [][]string{
			{"NAME", "READY", "STATUS", "MESSAGES", "CONSUMERS", "RETRYING", "PARKED", "DRIFT", "AGE"},
			{"billing", "True", "Reliable", "0", "0", "0", "1", "", "AGE"},
			{"wrong", "False", "InvalidSource", "", "", "", "", "", "AGE"},
		}},
		{[]string{"reliablesubscription", "billing", "-o", "wide"}, [][]string{
			{"NAME", "READY", "STATUS", "MESSAGES", "CONSUMERS", "RETRYING", "PARKED", "DRIFT", "AGE", "QUEUE", "RETRY", "TIMETOPARKING", "MESSAGE"},
			{"billing", "True", "Reliable", "0", "0", "0", "1", "", "AGE", "billing", "backoff 5s, 30s, 5m", "5m35s", "established, in force, nothing unsafe"},
		}},
		{[]string{"topic"}, [][]string{
			{"NAME", "READY", "STATUS", "EXCHANGE", "TYPE", "SUBSCRIPTIONS", "ESTABLISHED", "UNROUTABLE", "AGE"},
			{"orders", "False", "SubscriptionsNotEstablished", "orders", "topic", "2", "1", "", "AGE"},
		}},
		{[]string{"broker"}, [][]string{
			{"NAME", "READY", "STATUS", "VERSION", "VHOST", "ALARM", "AGE"},
			{"main", "True", "Connected", version, w.vhost.Name, "False", "AGE"},
		}},
	} {
		out := w.mustKubectl(append([]string{"get", "-n", w.namespace}, c.args...)...)
		if diff := cmp.Diff(c.want, table(out)); diff != "" {
			t.Errorf("kubectl get %s (-want +got):\n%s\n%s", strings.Join(c.args, " "), diff, out)
		}
	}

	out := w.mustKubectl("get", "warren", "-n", w.namespace, "-o", "name")
	want := []string{"broker.warren.dev/main", "reliablesubscription.warren.dev/billing", "reliablesubscription.warren.dev/wrong", "topic.warren.dev/orders"}
	if diff := cmp.Diff(want, strings.Fields(out)); diff != "" {
		t.Errorf("kubectl get warren (-want +got):\n%s", diff)
	}
}

// table cuts what kubectl prints at the columns of its heading. Every age is AGE.
func table(out string) [][]string {
	lines := strings.Split(strings.TrimRight(out, "\n"), "\n")
	starts := regexp.MustCompile(`\S+`).FindAllStringIndex(lines[0], -1)
	var rows [][]string
	for _, line := range lines {
		var row []string
		for i, start := range starts {
			end := len(line)
			if i+1 < len(starts) {
				end = min(end, starts[i+1][0])
			}
			cell := strings.TrimSpace(line[min(start[0], len(line)):end])
			if lines[0][start[0]:start[1]] == "AGE" {
				cell = "AGE"
			}
			row = append(row, cell)
		}
		rows = append(rows, row)
	}
	return rows
}

// `kubectl explain` is the manual.
func TestKubectlExplainTeaches(t *testing.T) {
	t.Parallel()
	o := sharedOperator(t)
	for _, c := range []struct {
		field string
		words []string
	}{
		{"rsub.spec.retry", []string{
			"backoff", "fixedDelay", "native", "immediate", // the strategies
			"the consumer rejects what failed (basic.reject or basic.nack, requeue=false)", // and what each asks of a consumer
			"counts its runs, and parks at maxAttempts itself",
			"the consumer requeues what failed (basic.reject, requeue=true)",
			"Choose this unless you know better",
		}},
		{"rsub.spec.retry.backoff.delays", []string{"delays"}},
		{"rsub.spec.workQueue.deliveryLimit", []string{"x-delivery-limit", "Default: max(20, retries + 5)"}},
		{"rsub.spec.adoptionPolicy", []string{"Refuse", "Adopt", "NotOwned"}},
		{"topic.spec.requiredSubscriptions", []string{"must be established before the topic is open for publishing"}},
		{"broker.spec.credentialsSecretRef", []string{"username and password", "policymaker and monitoring"}},
	} {
		var out string
		// kubectl may learn of a kind that was installed a moment ago at its second try.
		amqptest.Eventually(t, within, func() (err error) {
			if out, err = o.kubectl.run(t.Context(), "", "explain", c.field); err != nil {
				return fmt.Errorf("kubectl explain %s: %w\n%s", c.field, err, out)
			}
			return nil
		})
		text := strings.Join(strings.Fields(out), " ")
		for _, word := range c.words {
			if !strings.Contains(text, word) {
				t.Errorf("kubectl explain %s does not say %q:\n%s", c.field, word, out)
			}
		}
	}
}

// The samples are taken by the API server as they are.
func TestTheSamplesApply(t *testing.T) {
	t.Parallel()
	o := sharedOperator(t)
	const samples = repository + "/config/samples"
	// A namespace of a dry run does not exist for what is in it.
	for _, args := range [][]string{{"apply", "-f", samples + "/namespaces.yaml"}, {"apply", "-k", samples, "--dry-run=server"},
		{"apply", "-f", samples + "/publisher-gated.yaml", "-f", samples + "/init-container.yaml", "--dry-run=server"}} {
		if out, err := o.kubectl.run(t.Context(), "", args...); err != nil || strings.Contains(out, "Warning") {
			t.Fatalf("kubectl %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
}
