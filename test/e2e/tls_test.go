package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/warren-mq/warren/api/v1alpha1"
	"github.com/warren-mq/warren/hack/localenv"
	"github.com/warren-mq/warren/test/amqptest"
)

const (
	// serverName is all that the broker's certificate bears; its address is not in it.
	serverName = "rabbit"
	anHour     = time.Hour
	anHourAgo  = -time.Hour
)

// secured is a tenant on a broker that speaks TLS, beside plain AMQP and HTTP,
// at ports of their own, and asks for a certificate of its clients.
type secured struct {
	*tenant
	ours, foreign *authority
}

func newSecured(t *testing.T) *secured {
	ours, foreign := newAuthority(t, "ours"), newAuthority(t, "foreign")
	files := ours.server(ours.pem(), anHour)
	b, err := localenv.StartRabbitMQ(t.Context(), t.TempDir(), localenv.Series43, localenv.RabbitMQOptions{TLS: &files})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = b.Kill()
		_ = b.Stop()
	})
	w := newTenant(t, b)
	w.apply(caSecret("ca", ours.pem()) + caSecret("foreign-ca", foreign.pem()) +
		ours.clientSecret("client", anHour) + ours.clientSecret("expired-client", anHourAgo) + foreign.clientSecret("foreign-client", anHour))
	return &secured{w, ours, foreign}
}

// restart gives the broker other files.
func (w *secured) restart(files localenv.TLSFiles) {
	w.t.Helper()
	if err := w.vhost.Broker.ReplaceTLS(files); err != nil {
		w.t.Fatal(err)
	}
	if err := w.vhost.Broker.Restart(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
}

// side is the protocol that goes over TLS, where the other one does not.
type side struct{ name, protocol, amqp, management string }

func (w *secured) sides() []side {
	b := w.vhost.Broker
	return []side{
		{"amqp", "AMQP at " + strings.TrimPrefix(b.AMQPSURL(), "amqps://"), b.AMQPSURL(), b.ManagementURL()},
		{"management", "the management API at " + strings.TrimPrefix(b.HTTPSURL(), "https://"), b.AMQPURL(), b.HTTPSURL()},
	}
}

func (w *secured) both() side {
	return side{name: "both", amqp: w.vhost.Broker.AMQPSURL(), management: w.vhost.Broker.HTTPSURL()}
}

// brokerWith is a Broker over TLS, as user, with spec.tls in YAML's flow style.
func (s side) brokerWith(w *secured, name string, user localenv.User, tls string) string {
	a := access{amqp: s.amqp, management: s.management, vhost: w.vhost.Name, secret: credentials(user)}
	return strings.Replace(a.manifest(name), "  syncPeriod: 1s\n", "  syncPeriod: 1s\n  tls: "+tls+"\n", 1)
}

const trusting = "{caSecretRef: {name: ca}, clientCertificateSecretRef: {name: client}, serverName: rabbit}"

func (w *secured) awaitTLSFailed(name, message string) {
	w.t.Helper()
	w.await("broker/"+name, expected{v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonTLSFailed, message})
}

// Over TLS for both protocols, everything is as without it; what is wrong with
// TLS is told apart, with the address of the protocol that it is about; what changes in a
// Secret is picked up by the operator that runs; and plain text is never tried.
func TestTLS(t *testing.T) {
	t.Parallel()
	w := newSecured(t)
	user := w.newUser("secured", "p@ss/w:rd over TLS", ".*", "policymaker", "monitoring")
	w.apply(w.both().brokerWith(w, "both", user, trusting))
	w.await("broker/both", expected{v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonConnected, "RabbitMQ 4.3"})
	w.awaitReady("rsub/both")

	w.tellsFaultsApart()
	w.takesTheClustersCA()
	w.followsSecrets()
	w.followsTheBrokersCertificate()
	w.assertOnlyTLS(user)
	w.assertNoSecretShown(user)
}

// tellsFaultsApart, on each side.
func (w *secured) tellsFaultsApart() {
	w.t.Helper()
	faults := map[string]struct{ tls, message string }{
		"no-ca":          {"{clientCertificateSecretRef: {name: client}, serverName: rabbit}", "its certificate is signed by an authority that is not trusted; give the authority's certificate as CA"},
		"foreign-ca":     {"{caSecretRef: {name: foreign-ca}, clientCertificateSecretRef: {name: client}, serverName: rabbit}", "its certificate is signed by an authority that is not trusted"},
		"no-name":        {"{caSecretRef: {name: ca}, clientCertificateSecretRef: {name: client}}", "127.0.0.1"},
		"other-name":     {"{caSecretRef: {name: ca}, clientCertificateSecretRef: {name: client}, serverName: hare}", "certificate is valid for rabbit, not hare; use a host name that the certificate has, or set the server name"},
		"no-client":      {"{caSecretRef: {name: ca}, serverName: rabbit}", "it refuses our side of TLS (tls: certificate required); give the client certificate that it asks for"},
		"foreign-client": {"{caSecretRef: {name: ca}, clientCertificateSecretRef: {name: foreign-client}, serverName: rabbit}", "it refuses our side of TLS (tls: unknown certificate authority)"},
		"expired-client": {"{caSecretRef: {name: ca}, clientCertificateSecretRef: {name: expired-client}, serverName: rabbit}", "it refuses our side of TLS (tls: expired certificate)"},
	}
	var manifests strings.Builder
	for _, s := range w.sides() {
		for name, f := range faults {
			manifests.WriteString(s.brokerWith(w, s.name+"-"+name, w.vhost.Operator, f.tls))
		}
	}
	plain := side{amqp: strings.Replace(w.vhost.Broker.AMQPSURL(), "amqps", "amqp", 1), management: w.vhost.Broker.ManagementURL()}
	w.apply(manifests.String() + plain.brokerWith(w, "plain-amqp", w.vhost.Operator, trusting))
	for _, s := range w.sides() {
		for name, f := range faults {
			w.awaitTLSFailed(s.name+"-"+name, "no trust with "+s.protocol+": ")
			w.awaitTLSFailed(s.name+"-"+name, f.message)
		}
	}
	w.awaitTLSFailed("plain-amqp", "speaks TLS; use an amqps:// URL")
}

// takesTheClustersCA: a RabbitmqCluster with TLS leads to the ports that speak
// it, and to the authority that came with its certificate.
func (w *secured) takesTheClustersCA() {
	w.t.Helper()
	w.apply(rabbitmqClusterCRD)
	w.mustKubectl("wait", "--for=condition=Established", "crd/rabbitmqclusters.rabbitmq.com")
	b := w.vhost.Broker
	host := atPorts(w.t, map[string]string{"5671": b.AMQPSURL(), "15671": b.HTTPSURL()})
	w.apply(clusterManifest("{tls: {secretName: rabbit-tls}}") + caSecret("rabbit-tls", w.ours.pem()) + "\n" + defaultUserSecret(host, "5671", w.vhost.Operator))
	w.bindCluster()
	w.apply(strings.Replace(brokerOfCluster("of-cluster", "rabbit", w.vhost.Name), "syncPeriod: 1s",
		"syncPeriod: 1s, tls: {clientCertificateSecretRef: {name: client}, serverName: rabbit}", 1))
	w.awaitReady("broker/of-cluster")
	w.apply(caSecret("rabbit-tls", w.foreign.pem()))
	w.awaitTLSFailed("of-cluster", fmt.Sprintf("no trust with AMQP at %s:5671: its certificate is signed by an authority that is not trusted", host))
}

// followsSecrets: a wrong CA or client certificate closes what was open, and the right one is enough.
func (w *secured) followsSecrets() {
	w.t.Helper()
	w.apply(caSecret("ca", w.foreign.pem()))
	w.awaitTLSFailed("both", "authority that is not trusted")
	w.apply(caSecret("ca", w.ours.pem()))
	w.awaitReady("broker/both")
	w.apply(w.foreign.clientSecret("client", anHour))
	w.awaitTLSFailed("both", "unknown certificate authority")
	w.apply(w.ours.clientSecret("client", anHour))
	w.awaitReady("broker/both")
	w.mustKubectl("patch", "secret", "client", "-n", w.namespace, "--type=merge", "-p", `{"stringData": {"tls.key": "no key"}}`)
	w.await("broker/both", expected{v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonSecretInvalid, "spec.tls: the client certificate and its key cannot be used"})
	w.apply(w.ours.clientSecret("client", anHour))
	w.awaitReady("broker/both")
}

// followsTheBrokersCertificate: it expires, and comes back from another
// authority, which the CA bundle gets beside the old one.
func (w *secured) followsTheBrokersCertificate() {
	w.t.Helper()
	w.restart(w.ours.server(w.ours.pem(), anHourAgo))
	w.awaitTLSFailed("both", "its certificate is valid from ")
	for _, s := range w.sides() {
		w.apply(s.brokerWith(w, s.name, w.vhost.Operator, trusting))
		w.awaitTLSFailed(s.name, "no trust with "+s.protocol+": its certificate is valid from ")
	}
	w.restart(w.foreign.server(w.ours.pem(), anHour))
	w.awaitTLSFailed("both", "authority that is not trusted")
	w.apply(caSecret("ca", w.ours.pem(), w.foreign.pem()))
	w.awaitReady("broker/both")
	w.awaitReady("rsub/both")
}

// assertOnlyTLS looks at a user's connections as the broker has them.
func (w *secured) assertOnlyTLS(user localenv.User) {
	w.t.Helper()
	amqptest.Eventually(w.t, within, func() error {
		connections, err := w.management().ListConnections()
		if err != nil {
			return err
		}
		n := 0
		for _, c := range connections {
			if c.User != user.Name {
				continue
			}
			if n++; !c.UsesTLS {
				w.t.Errorf("connection %s of user %q is not over TLS", c.Name, c.User)
			}
		}
		if n == 0 {
			return fmt.Errorf("no connection of user %q shows yet", user.Name)
		}
		return nil
	})
}
