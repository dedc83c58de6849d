package e2e

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	rabbithole "github.com/michaelklishin/rabbit-hole/v2"
	amqp "github.com/rabbitmq/amqp091-go"
	"sigs.k8s.io/yaml"

	"github.com/warren-mq/warren/hack/localenv"
)

// tenant is a namespace with a Broker "main" on a vhost of its own.
type tenant struct {
	*operator
	t         testing.TB
	namespace string
	vhost     *localenv.Vhost
}

// forEachBroker runs a test in a tenant on each series of RabbitMQ.
func forEachBroker(t *testing.T, test func(t *testing.T, w *tenant)) {
	localenv.ForEachBroker(t, func(t *testing.T, b *localenv.RabbitMQ) {
		t.Parallel()
		test(t, newTenant(t, b))
	})
}

// newTenant makes the namespace, the vhost, and the Broker, whose sync period is 1 s.
func newTenant(t testing.TB, b *localenv.RabbitMQ) *tenant {
	t.Helper()
	return newTenantOf(t, sharedOperator(t), b)
}

func newTenantOf(t testing.TB, o *operator, b *localenv.RabbitMQ) *tenant {
	t.Helper()
	w := &tenant{operator: o, t: t, namespace: "t-" + strings.ToLower(rand.Text()[:10]), vhost: b.NewVhost(t)}
	keepSecret(w.vhost.App)
	namespace := fmt.Sprintf(`{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": %q}}`, w.namespace)
	w.must(w.api.Post().AbsPath("api/v1/namespaces").Body([]byte(namespace)).Do(t.Context()).Error())
	w.apply(w.brokerManifest("main", "1s"))
	t.Cleanup(w.leave)
	return w
}

// leave shows what there was when the test has failed, and removes it. No test
// may have shown a password.
func (w *tenant) leave() {
	if w.t.Failed() {
		w.t.Logf("what is in namespace %s:\n%s", w.namespace, w.mustKubectl("get", "warren", "-n", w.namespace, "-o", "yaml"))
		w.t.Logf("what the operator logged about it:\n%s", strings.Join(w.logLines(""), "\n"))
	}
	w.assertNoSecretShown(w.vhost.Operator)
	for _, kind := range []string{"redrive", "rsub", "topic", "broker"} {
		w.must(w.api.Delete().AbsPath(w.path(kind)).Do(cleanupContext()).Error())
	}
}

// brokerManifest is a Broker on the tenant's vhost, with its Secret.
func (w *tenant) brokerManifest(name, syncPeriod string) string {
	return fmt.Sprintf(`
apiVersion: v1
kind: Secret
metadata: {name: %[1]s}
stringData: {username: %[2]s, password: %[3]s}
---
apiVersion: warren.dev/v1alpha1
kind: Broker
metadata: {name: %[1]s}
spec:
  amqp: {url: %[4]s}
  management: {url: %[5]s}
  vhost: %[6]s
  credentialsSecretRef: {name: %[1]s}
  syncPeriod: %[7]s
`, name, quoted(w.vhost.Operator.Name), quoted(w.vhost.Operator.Password),
		w.vhost.Broker.AMQPURL(), w.vhost.Broker.ManagementURL(), quoted(w.vhost.Name), syncPeriod)
}

// quoted is a YAML scalar.
func quoted(s string) string {
	out, err := yaml.Marshal(s)
	if err != nil {
		panic(err) // a string can always be encoded
	}
	return strings.TrimSpace(string(out))
}

// apply applies manifests in the tenant's namespace, as a user would.
func (w *tenant) apply(manifests string) {
	w.t.Helper()
	if out, err := w.tryApply(manifests); err != nil {
		w.t.Fatalf("kubectl apply: %v\n%s\n%s", err, out, manifests)
	}
}

func (w *tenant) tryApply(manifests string) (string, error) {
	return w.kubectl.run(w.t.Context(), manifests, "apply", "-n", w.namespace, "-f", "-")
}

func (w *tenant) mustKubectl(args ...string) string {
	w.t.Helper()
	// Not the test's context: it has ended when the test cleans up.
	out, err := w.kubectl.run(cleanupContext(), "", args...)
	if err != nil {
		w.t.Errorf("kubectl %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

// assertNoSecretShown looks for a password in all that people get to see:
// statuses, Events and the operator's log.
func (w *tenant) assertNoSecretShown(user localenv.User) {
	w.t.Helper()
	shown := map[string]string{"line of the log": w.log()}
	for _, kind := range []string{"redrive", "rsub", "topic", "broker", "event"} {
		content, err := w.api.Get().AbsPath(w.path(kind)).DoRaw(cleanupContext())
		w.must(err)
		// Decoded, since JSON escapes some characters.
		var list any
		w.must(json.Unmarshal(content, &list))
		shown[kind] = fmt.Sprint(list)
	}
	for _, form := range formsOf(keepSecret(user)) {
		for where, text := range shown {
			if strings.Contains(text, form) {
				w.t.Errorf("a %s shows the password of user %q, as %q", where, user.Name, form)
			}
		}
	}
}

func (w *tenant) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Error(err)
	}
}

// in gives the tenant to a subtest.
func (w *tenant) in(t testing.TB) *tenant {
	sub := *w
	sub.t = t
	return &sub
}

// management is the broker's administrator.
func (w *tenant) management() *rabbithole.Client {
	w.t.Helper()
	b := w.vhost.Broker
	client, err := rabbithole.NewClient(b.ManagementURL(), b.AdminUser, b.AdminPassword)
	if err != nil {
		w.t.Fatal(err)
	}
	return client
}

// publisher and consumer are applications: their user has no tag.
func (w *tenant) application() *amqp.Connection {
	w.t.Helper()
	return w.vhost.Dial(w.t, w.vhost.App)
}
