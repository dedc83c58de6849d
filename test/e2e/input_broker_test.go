package e2e

import (
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/warren-mq/warren/api/v1alpha1"
	"github.com/warren-mq/warren/hack/localenv"
)

// access is what a user writes about the way to a broker.
type access struct {
	amqp, management, vhost string
	// secret is the Secret's content, nil where there is no Secret.
	secret map[string]string
}

// access is as it should be.
func (w *tenant) access() access {
	return access{
		amqp: w.vhost.Broker.AMQPURL(), management: w.vhost.Broker.ManagementURL(), vhost: w.vhost.Name,
		secret: credentials(w.vhost.Operator),
	}
}

func credentials(user localenv.User) map[string]string {
	return map[string]string{"username": user.Name, "password": user.Password}
}

// manifest is a Broker with a Topic and a ReliableSubscription on it, all of one name.
func (a access) manifest(name string) string {
	secret := ""
	if a.secret != nil {
		secret = a.secretManifest(name)
	}
	return secret + fmt.Sprintf(`
apiVersion: warren.dev/v1alpha1
kind: Broker
metadata: {name: %[1]s}
spec:
  amqp: {url: %[2]s}
  management: {url: %[3]s}
  vhost: %[4]s
  credentialsSecretRef: {name: %[1]s}
  syncPeriod: 1s
---
apiVersion: warren.dev/v1alpha1
kind: Topic
metadata: {name: %[1]s}
spec: {brokerRef: {name: %[1]s}}
---
apiVersion: warren.dev/v1alpha1
kind: ReliableSubscription
metadata: {name: %[1]s}
spec:
  brokerRef: {name: %[1]s}
  sources: [{topicRef: {name: %[1]s}, routingKeys: ["#"]}]
---`, name, quoted(a.amqp), quoted(a.management), quoted(a.vhost))
}

func (a access) secretManifest(name string) string {
	manifest := fmt.Sprintf("\napiVersion: v1\nkind: Secret\nmetadata: {name: %s}\nstringData:\n", name)
	for key, value := range a.secret {
		manifest += fmt.Sprintf("  %s: %q\n", key, value)
	}
	return manifest + "---"
}

// newUser makes a user of the tenant's broker, with all rights on the vhost
// where rights are ".*", and none at all where they are "".
func (w *tenant) newUser(name, password, rights string, tags ...string) localenv.User {
	w.t.Helper()
	user := keepSecret(localenv.User{Name: name + "-" + w.namespace, Password: password})
	b := w.vhost.Broker
	if err := b.CreateUser(w.t.Context(), user.Name, user.Password, tags...); err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() {
		if err := b.DeleteUser(cleanupContext(), user.Name); err != nil {
			w.t.Error(err)
		}
	})
	if rights != "" {
		if err := b.SetPermissions(w.t.Context(), w.vhost.Name, user.Name, rights, rights, rights); err != nil {
			w.t.Fatal(err)
		}
	}
	return user
}

// brokerFault is a way that leads nowhere, and what is told of it.
type brokerFault struct {
	name   string
	access access
	reason string
	// message of the Broker; topics and subscriptions say it, too.
	message string
	// unknown: whether the subscription is established cannot be told.
	unknown bool
}

func (w *tenant) brokerFaults() []brokerFault {
	b := w.vhost.Broker
	amqpAt, managementAt := fmt.Sprintf("127.0.0.1:%d", b.AMQPPort), fmt.Sprintf("127.0.0.1:%d", b.ManagementPort)
	closed := closedPort(w.t)
	with := func(change func(*access)) access {
		a := w.access()
		change(&a)
		return a
	}
	as := func(user localenv.User) access { return with(func(a *access) { a.secret = credentials(user) }) }
	stranger := w.newUser("stranger", "s3cret-stranger", "", "policymaker", "monitoring")
	untagged := w.newUser("untagged", "s3cret-untagged", ".*")
	policymaker := w.newUser("policymaker", "s3cret-policymaker", ".*", "policymaker")
	monitoring := w.newUser("monitoring", "s3cret-monitoring", ".*", "monitoring")

	return []brokerFault{
		{
			name:   "wrong-password",
			access: as(localenv.User{Name: w.vhost.Operator.Name, Password: "not-the-p@ssword"}),
			reason: v1alpha1.ReasonBadCredentials,
			message: fmt.Sprintf("connect: AMQP at %s does not accept user %q with this password; correct the username or the password",
				amqpAt, w.vhost.Operator.Name),
		},
		{
			name:   "unknown-user",
			access: as(localenv.User{Name: "nobody", Password: "s3cret-nobody"}),
			reason: v1alpha1.ReasonBadCredentials,
			message: fmt.Sprintf(`connect: AMQP at %s does not accept user "nobody" with this password; correct the username or the password`,
				amqpAt),
		},
		{
			name:    "amqp-port-closed",
			access:  with(func(a *access) { a.amqp = "amqp://" + closed }),
			reason:  v1alpha1.ReasonBrokerUnreachable,
			unknown: true,
			message: fmt.Sprintf("connect: cannot reach AMQP at %s: connection refused; check the address, that the broker runs, and that the network lets Warren through", closed),
		},
		{
			name:    "amqp-url-of-management",
			access:  with(func(a *access) { a.amqp = "amqp://" + managementAt }),
			reason:  v1alpha1.ReasonBrokerUnreachable,
			unknown: true,
			message: fmt.Sprintf("connect: %s speaks HTTP, not AMQP; give the AMQP port (5672, or 5671 for amqps) in the AMQP URL", managementAt),
		},
		{
			name:    "management-port-closed",
			access:  with(func(a *access) { a.management = "http://" + closed }),
			reason:  v1alpha1.ReasonBrokerUnreachable,
			unknown: true,
			message: fmt.Sprintf("read user tags: cannot reach the management API at %s: connection refused; check the address", closed),
		},
		{
			name:    "management-url-of-amqp",
			access:  with(func(a *access) { a.management = "http://" + amqpAt }),
			reason:  v1alpha1.ReasonBrokerUnreachable,
			unknown: true,
			message: fmt.Sprintf("read user tags: %s speaks AMQP, not HTTP; give the management port (15672, or 15671 for https) in the management URL", amqpAt),
		},
		{
			name:    "amqps-url-of-plain-port",
			access:  with(func(a *access) { a.amqp = "amqps://" + amqpAt }),
			reason:  v1alpha1.ReasonTLSFailed,
			message: fmt.Sprintf("connect: no trust with AMQP at %s: it does not speak TLS at this port; use the port that does (5671 for amqps), or a URL without TLS", amqpAt),
		},
		{
			name:    "vhost-missing",
			access:  with(func(a *access) { a.vhost = "no such vhost" }),
			reason:  v1alpha1.ReasonVhostMissing,
			message: fmt.Sprintf(`connect: AMQP at %s has no vhost "no such vhost"; create it or correct its name`, amqpAt),
		},
		{
			name:    "vhost-with-a-slash",
			access:  with(func(a *access) { a.vhost = "/orders" }),
			reason:  v1alpha1.ReasonVhostMissing,
			message: fmt.Sprintf(`connect: AMQP at %s has no vhost "/orders"; create it, or say "orders" if that is its name`, amqpAt),
		},
		{
			name:   "no-rights-on-the-vhost",
			access: as(stranger),
			reason: v1alpha1.ReasonAccessRefused,
			message: fmt.Sprintf("connect: AMQP at %s gives user %q no access to vhost %q; grant configure, write and read: rabbitmqctl set_permissions -p %[3]q %[2]q '.*' '.*' '.*'",
				amqpAt, stranger.Name, w.vhost.Name),
		},
		{
			name:   "no-tag-at-all",
			access: as(untagged),
			reason: v1alpha1.ReasonMissingTag,
			message: fmt.Sprintf("read user tags: user %q lacks the tag monitoring and the tag policymaker: Not management user; rabbitmqctl set_user_tags %[1]q monitoring policymaker",
				untagged.Name),
		},
		{
			name:   "tag-monitoring-missing",
			access: as(policymaker),
			reason: v1alpha1.ReasonMissingTag,
			message: fmt.Sprintf("read user tags: user %q lacks the tag monitoring; rabbitmqctl set_user_tags %[1]q policymaker monitoring",
				policymaker.Name),
		},
		{
			name:   "tag-policymaker-missing",
			access: as(monitoring),
			reason: v1alpha1.ReasonMissingTag,
			message: fmt.Sprintf("read user tags: user %q lacks the tag policymaker; rabbitmqctl set_user_tags %[1]q monitoring policymaker",
				monitoring.Name),
		},
		{
			name:    "secret-missing",
			access:  with(func(a *access) { a.secret = nil }),
			reason:  v1alpha1.ReasonSecretNotFound,
			message: fmt.Sprintf(`Secret "secret-missing" does not exist in namespace %q: create it with the keys username and password`, w.namespace),
		},
		{
			name:    "secret-without-password",
			access:  with(func(a *access) { delete(a.secret, "password") }),
			reason:  v1alpha1.ReasonSecretInvalid,
			message: fmt.Sprintf(`Secret "secret-without-password" in namespace %q has no key "password", or an empty one: it needs username and password`, w.namespace),
		},
		{
			name:   "username-with-a-colon",
			access: as(localenv.User{Name: "war:ren", Password: "s3cret-colon"}),
			reason: v1alpha1.ReasonSecretInvalid,
			message: fmt.Sprintf(`the username in Secret "username-with-a-colon" in namespace %q has a colon, at which the management API (HTTP Basic authentication) would end it: use a RabbitMQ user without one`,
				w.namespace),
		},
		{
			name:    "secret-with-empty-username",
			access:  with(func(a *access) { a.secret["username"] = "\n" }),
			reason:  v1alpha1.ReasonSecretInvalid,
			message: fmt.Sprintf(`Secret "secret-with-empty-username" in namespace %q has no key "username", or an empty one: it needs username and password`, w.namespace),
		},
	}
}

// closedPort is an address where nothing listens.
func closedPort(t testing.TB) string {
	t.Helper()
	ports, err := localenv.FreePorts(1)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("127.0.0.1:%d", ports[0])
}

// What keeps Warren from a broker is told by the Broker and by whatever is on
// it: the same reason, and a message that names what to mend. Nothing gives
// away a password.
func TestAWrongWayToTheBrokerIsTold(t *testing.T) {
	t.Parallel()
	forEachBroker(t, func(t *testing.T, w *tenant) {
		faults := w.brokerFaults()
		var manifests strings.Builder
		for _, f := range faults {
			manifests.WriteString(f.access.manifest(f.name))
		}
		w.apply(manifests.String())
		for _, f := range faults {
			t.Run(f.name, func(t *testing.T) { f.assertTold(w.in(t)) })
		}
		for _, f := range faults {
			if password := f.access.secret["password"]; password != "" {
				w.assertNoSecretShown(localenv.User{Name: f.access.secret["username"], Password: password})
			}
		}
	})
}

func (f brokerFault) assertTold(w *tenant) {
	w.t.Helper()
	w.await("broker/"+f.name,
		expected{v1alpha1.ConditionReady, metav1.ConditionFalse, f.reason, f.message},
		expected{v1alpha1.ConditionResourceAlarm, metav1.ConditionUnknown, f.reason, ""})
	status := metav1.ConditionFalse
	if f.unknown {
		status = metav1.ConditionUnknown
	}
	message := "Broker " + w.namespace + "/" + f.name + ": " + f.message
	w.await("topic/"+f.name,
		expected{v1alpha1.ConditionDeclared, status, f.reason, message},
		expected{v1alpha1.ConditionReady, status, f.reason, message})
	w.await("rsub/"+f.name, blocked(status, f.reason, message, helpsItself, expected{
		v1alpha1.ConditionInSync, metav1.ConditionUnknown, f.reason, "nothing was compared"})...)
}

// A Secret made by hand often ends its values with a newline, and a password
// may hold any character, a user's name any but the colon, at which HTTP ends it.
func TestAnyPasswordWorks(t *testing.T) {
	t.Parallel()
	forEachBroker(t, func(t *testing.T, w *tenant) {
		awkward := w.newUser("änne @/%#?&=+ \"'", "p@ss:w/rd %41#?&=+ \\ \"'`$(x){}\tümläut✓", ".*", "policymaker", "monitoring")
		newline, plain := w.access(), w.access()
		newline.secret["username"] += "\n"
		newline.secret["password"] += "\r\n"
		plain.secret = credentials(awkward)
		w.apply(newline.manifest("newline") + plain.manifest("awkward"))

		for _, name := range []string{"newline", "awkward"} {
			w.await("broker/"+name, expected{v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonConnected,
				fmt.Sprintf("RabbitMQ %s, cluster ", w.vhost.Broker.Version)})
			w.awaitReady("topic/" + name)
			w.awaitReady("rsub/" + name)
		}
		w.assertNoSecretShown(awkward)
	})
}
