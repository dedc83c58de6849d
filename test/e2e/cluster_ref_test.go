package e2e

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/warren-mq/warren/api/v1alpha1"
	"github.com/warren-mq/warren/hack/localenv"
)

// rabbitmqClusterCRD has the shape of RabbitMQ's own operator's, as far as Warren reads it.
const rabbitmqClusterCRD = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: rabbitmqclusters.rabbitmq.com}
spec:
  group: rabbitmq.com
  scope: Namespaced
  names: {kind: RabbitmqCluster, listKind: RabbitmqClusterList, plural: rabbitmqclusters, singular: rabbitmqcluster, shortNames: [rmq]}
  versions:
    - name: v1beta1
      served: true
      storage: true
      subresources: {status: {}}
      schema:
        openAPIV3Schema:
          type: object
          properties:
            spec:
              type: object
              properties:
                tls: {type: object, properties: {secretName: {type: string}, caSecretName: {type: string}, disableNonTLSListeners: {type: boolean}}}
            status:
              type: object
              properties:
                binding: {type: object, properties: {name: {type: string}}}
                defaultUser:
                  type: object
                  properties:
                    secretReference: {type: object, properties: {name: {type: string}, namespace: {type: string}, keys: {type: object, additionalProperties: {type: string}}}}
                    serviceReference: {type: object, properties: {name: {type: string}, namespace: {type: string}}}
`

// clusterManifest has a spec in YAML's flow style.
func clusterManifest(spec string) string {
	return fmt.Sprintf(`
apiVersion: rabbitmq.com/v1beta1
kind: RabbitmqCluster
metadata: {name: rabbit}
spec: %s
---`, spec)
}

// defaultUserSecret has the keys that RabbitMQ's operator gives it.
func defaultUserSecret(host, port string, user localenv.User) string {
	return access{secret: map[string]string{
		"username": user.Name, "password": user.Password, "host": host, "port": port, "provider": "rabbitmq", "type": "rabbitmq",
		"default_user.conf": fmt.Sprintf("default_user = %s\ndefault_pass = %s\n", user.Name, user.Password),
	}}.secretManifest("rabbit-default-user")
}

// bindCluster writes the status that RabbitMQ's operator writes.
func (w *tenant) bindCluster() {
	w.t.Helper()
	status := fmt.Sprintf(`{"status": {"binding": {"name": "rabbit-default-user"}, "defaultUser": {
		"secretReference": {"name": "rabbit-default-user", "namespace": %q, "keys": {"username": "username", "password": "password"}},
		"serviceReference": {"name": "rabbit", "namespace": %[1]q}}}}`, w.namespace)
	w.mustKubectl("patch", "rabbitmqcluster", "rabbit", "-n", w.namespace, "--subresource=status", "--type=merge", "-p", status)
}

func brokerOfCluster(name, ref, vhost string) string {
	return fmt.Sprintf(`
apiVersion: warren.dev/v1alpha1
kind: Broker
metadata: {name: %s}
spec: {rabbitmqClusterRef: %s, vhost: %s, syncPeriod: 1s}
---`, name, reference(ref), quoted(vhost))
}

// atPorts gives an address of this machine where a broker is at the ports that
// a RabbitmqCluster has.
func atPorts(t testing.TB, urls map[string]string) string {
	t.Helper()
	host := fmt.Sprintf("127.%d.%d.%d", 1+rand.N(254), rand.N(256), 1+rand.N(254))
	for port, url := range urls {
		_, target, _ := strings.Cut(url, "://")
		listener, err := net.Listen("tcp", net.JoinHostPort(host, port))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = listener.Close() })
		go forward(listener, target)
	}
	return host
}

// forward ends with its listener.
func forward(listener net.Listener, target string) {
	for {
		client, err := listener.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", target)
		if err != nil {
			_ = client.Close()
			continue
		}
		for from, to := range map[net.Conn]net.Conn{client: server, server: client} {
			go func() {
				_, _ = io.Copy(to, from)
				_ = to.Close()
			}()
		}
	}
}

// A Broker of a RabbitmqCluster says what is missing at each step, from a
// cluster where nobody knows the kind to one whose operator has done its work, and
// works then without a restart. That of another namespace has to be allowed.
func TestABrokerOfARabbitmqCluster(t *testing.T) {
	t.Parallel()
	b := localenv.Broker(t, localenv.Series43)
	w, guest := newOrderTenant(t, b), newOrderTenant(t, b)
	told := func(of *tenant, reason, message string) {
		t.Helper()
		of.await("broker/of-cluster", expected{v1alpha1.ConditionReady, metav1.ConditionFalse, reason, message})
	}
	if err := w.api.Get().AbsPath("apis/rabbitmq.com/v1beta1").Do(t.Context()).Error(); !apierrors.IsNotFound(err) {
		t.Fatalf("the API server knows rabbitmq.com/v1beta1 already (error: %v), and this test begins without it", err)
	}
	w.apply(brokerOfCluster("of-cluster", "rabbit", w.vhost.Name))
	guest.apply(brokerOfCluster("of-cluster", w.namespace+"/rabbit", guest.vhost.Name))
	told(w, v1alpha1.ReasonClusterNotFound, "this cluster knows no RabbitmqCluster: install RabbitMQ's cluster operator, or give amqp, management and credentialsSecretRef")

	w.apply(rabbitmqClusterCRD)
	told(w, v1alpha1.ReasonClusterNotFound, fmt.Sprintf("RabbitmqCluster %s/rabbit does not exist", w.namespace))
	notAllowed := fmt.Sprintf("RabbitmqCluster %s/rabbit does not exist or does not name namespace %q in its annotation rabbitmq.com/topology-allowed-namespaces", w.namespace, guest.namespace)
	told(guest, v1alpha1.ReasonNotAllowed, notAllowed)
	w.apply(clusterManifest("{}"))
	told(w, v1alpha1.ReasonClusterNotFound, "has no status.binding yet: its operator has not made the default user's Secret")
	w.bindCluster()
	told(w, v1alpha1.ReasonSecretNotFound, `Secret "rabbit-default-user" does not exist`)
	w.apply(defaultUserSecret(atPorts(t, map[string]string{"5672": b.AMQPURL(), "15672": b.ManagementURL()}), "5672", w.vhost.Operator))
	w.awaitReady("broker/of-cluster")
	w.apply(subscriptionManifestOn("of-cluster", "billing", "workQueue: {name: billing}, retry: {immediate: {}}"))
	w.awaitReady("rsub/billing")

	told(guest, v1alpha1.ReasonNotAllowed, notAllowed)
	w.mustKubectl("annotate", "rabbitmqcluster/rabbit", "-n", w.namespace, "rabbitmq.com/topology-allowed-namespaces=other, "+guest.namespace)
	told(guest, v1alpha1.ReasonAccessRefused, "no access to vhost") // it has come as far as RabbitMQ
	w.mustKubectl("annotate", "rabbitmqcluster/rabbit", "-n", w.namespace, "rabbitmq.com/topology-allowed-namespaces-")
	told(guest, v1alpha1.ReasonNotAllowed, notAllowed)
	guest.assertNoSecretShown(w.vhost.Operator)
}
