package e2e

import (
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/warren-mq/warren/api/v1alpha1"
	"github.com/warren-mq/warren/hack/localenv"
	"github.com/warren-mq/warren/test/amqptest"
)

// muted is an address that takes connections and never says a word: the
// slowest way to be dead.
func muted(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() { _, _ = io.Copy(io.Discard, conn) }()
		}
	}()
	return listener.Addr().String()
}

// 200 subscriptions on a broker that does not answer delay one on a broker
// that lives by less than 10 s.
func TestADeadBrokerDelaysNoOther(t *testing.T) {
	t.Parallel()
	const dead, promised = 200, 10 * time.Second
	w := newTenant(t, localenv.Broker(t, localenv.Series43))
	w.awaitReady("broker/main")
	established := func(name string, long time.Duration) time.Duration {
		begun := time.Now()
		w.apply(subscriptionManifest(name, "retry: {immediate: {}}"))
		amqptest.Eventually(t, long, func() error {
			var o object
			if err := w.read("rsub/"+name, &o); err != nil {
				return err
			}
			return expected{Type: v1alpha1.ConditionEstablished, Status: metav1.ConditionTrue}.check(o)
		})
		return time.Since(begun)
	}
	alone := established("alone", within)

	address := muted(t)
	a := w.access()
	a.amqp, a.management = "amqp://"+address, "http://"+address
	var manifests strings.Builder
	manifests.WriteString(a.manifest("dead"))
	for i := range dead {
		manifests.WriteString(subscriptionManifestOn("dead", fmt.Sprintf("dead-%03d", i), "retry: {immediate: {}}"))
	}
	w.apply(manifests.String())
	for _, i := range []int{0, dead / 2, dead - 1} {
		w.await(fmt.Sprintf("rsub/dead-%03d", i), expected{v1alpha1.ConditionEstablished, metav1.ConditionUnknown, v1alpha1.ReasonBrokerUnreachable, "did not answer in time"})
	}
	beside := established("beside", alone+promised)
	t.Logf("Established after %s without, and %s beside %d subscriptions on a dead broker", alone.Round(time.Millisecond), beside.Round(time.Millisecond), dead)
}
