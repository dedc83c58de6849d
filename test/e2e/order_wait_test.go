package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/warren-mq/warren/hack/localenv"
	"github.com/warren-mq/warren/test/amqptest"
)

// waiting is a `warren wait` that runs.
type waiting struct {
	t     testing.TB
	out   lines
	ended chan error
}

// lines may be written and read at once.
type lines struct {
	mutex sync.Mutex
	text  bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return l.text.Write(p)
}

func (l *lines) String() string {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return l.text.String()
}

// startWaiting runs `warren wait` with the rights that the sample of an init
// container gives, in the pod's namespace.
func (w *tenant) startWaiting(args ...string) *waiting {
	w.t.Helper()
	w.apply(w.initContainerSample())
	kubeconfig := filepath.Join(w.t.TempDir(), "web-shop.kubeconfig")
	if err := localenv.ServiceAccountKubeconfig(w.t.Context(), w.plane.Config, w.namespace, "web-shop", kubeconfig, time.Hour); err != nil {
		w.t.Fatal(err)
	}
	return w.startWaitingAs(kubeconfig, args...)
}

func (w *tenant) startWaitingAs(kubeconfig string, args ...string) *waiting {
	w.t.Helper()
	binary, err := buildWarren()
	if err != nil {
		w.t.Fatal(err)
	}
	r := &waiting{t: w.t, ended: make(chan error, 1)}
	cmd := exec.CommandContext(w.t.Context(), binary, append([]string{"wait", "--kubeconfig=" + kubeconfig}, args...)...)
	cmd.Stdout, cmd.Stderr = &r.out, &r.out
	if err := cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	go func() { r.ended <- cmd.Wait() }()
	return r
}

// initContainerSample is config/samples/init-container.yaml, where both of its
// namespaces are the tenant's.
func (w *tenant) initContainerSample() string {
	w.t.Helper()
	content, err := os.ReadFile(filepath.Join(repository, "config/samples/init-container.yaml"))
	if err != nil {
		w.t.Fatal(err)
	}
	return strings.NewReplacer("namespace: shop", "namespace: "+w.namespace, "namespace: messaging", "namespace: "+w.namespace).Replace(string(content))
}

// says waits until it has printed all parts.
func (r *waiting) says(parts ...string) {
	r.t.Helper()
	amqptest.Eventually(r.t, within, func() error {
		if out := r.out.String(); !containsAll(out, parts) {
			return fmt.Errorf("warren wait says %q, want all of %q", out, parts)
		}
		return nil
	})
}

// exits waits for its end, and checks its exit code and what it has printed.
func (r *waiting) exits(code int, parts ...string) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), within)
	defer cancel()
	var err error
	select {
	case err = <-r.ended:
	case <-ctx.Done():
		r.t.Fatalf("warren wait has not ended: %s", &r.out)
	}
	got := 0
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		got = exit.ExitCode()
	}
	if out := r.out.String(); got != code || !containsAll(out, parts) {
		r.t.Errorf("warren wait exits with %d and says\n%s\nwant %d and all of %q", got, out, code, parts)
	}
}

// runs checks that it has not ended.
func (r *waiting) runs() error {
	select {
	case err := <-r.ended:
		r.ended <- err
		return fmt.Errorf("warren wait has ended, %w:\n%s", err, &r.out)
	default:
		return nil
	}
}

// As an init container it waits for what does not exist yet, says what is
// missing whenever that changes, and ends with 0.
func TestWarrenWaitEndsWhenAllIsReady(t *testing.T) {
	t.Parallel()
	w := newTenant(t, localenv.Broker(t, localenv.Series43))
	r := w.startWaiting("--topic=orders", "--subscription=billing", "--timeout=10m")
	r.says(fmt.Sprintf("of 10m0s): Topic %s/orders: does not exist yet; ReliableSubscription %[1]s/billing: does not exist yet\n", w.namespace))
	w.apply(orderedTopic + hearsOrders("billing"))
	r.says(fmt.Sprintf("Topic %s/orders: Ready is False, SubscriptionsNotEstablished: 1 of 2 subscriptions are not established: %[1]s/shipping (NotFound)\n", w.namespace))
	w.apply(hearsOrders("shipping"))
	r.exits(0, fmt.Sprintf(": Topic %s/orders, ReliableSubscription %[1]s/billing\n", w.namespace), "ready after ")
}

// When the time is over it ends with 1 and says what was missing.
func TestWarrenWaitGivesUp(t *testing.T) {
	t.Parallel()
	w := newTenant(t, localenv.Broker(t, localenv.Series43))
	w.apply(orderedTopic + hearsOrders("billing"))
	w.awaitReady("rsub/billing")
	w.startWaiting("--topic=orders", "--timeout=3s").exits(1, "warren: gave up after 3", fmt.Sprintf(
		"Topic %s/orders: Ready is False, SubscriptionsNotEstablished: 1 of 2 subscriptions are not established: %[1]s/shipping (NotFound)", w.namespace))
	w.startWaiting("--topic=orders", "-n=elsewhere", "--timeout=3s").exits(1,
		"Topic elsewhere/orders: may not be read: grant get on Topic elsewhere/orders to this service account, as config/samples/init-container.yaml does")
	w.startWaiting("--topic=orders", "--timeout=0").exits(1, "--timeout is 0s, and must be longer than nothing")
	w.startWaiting("--topic=Orders", "--timeout=1m").exits(1, fmt.Sprintf("\"Orders\" in %q cannot be the name of a Topic", w.namespace))
	w.startWaiting("--topic=a/b/c", "--timeout=1m").exits(1, "\"b/c\" in \"a\" cannot be the name of a Topic")
	w.startWaiting("--timeout=1m").exits(1, "nothing to wait for: give --topic or --subscription")
	w.startWaitingAs(filepath.Join(t.TempDir(), "none"), "--topic=orders").exits(1, "no way to the API server")
}
