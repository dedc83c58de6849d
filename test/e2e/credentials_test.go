package e2e

import (
	"fmt"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/warren-mq/warren/api/v1alpha1"
	"github.com/warren-mq/warren/hack/localenv"
	"github.com/warren-mq/warren/test/amqptest"
)

// statisticsDelay is how late what the broker tells of connections may be.
const statisticsDelay = 5 * time.Second

// connectionsOf are a user's, as the broker's statistics have them, some seconds late.
func (w *tenant) connectionsOf(user localenv.User) ([]string, error) {
	all, err := w.management().ListConnections()
	var names []string
	for _, c := range all {
		if c.User == user.Name {
			names = append(names, c.Name)
		}
	}
	return names, err
}

// New credentials are tried beside the old connection, which goes on until
// they have proved right, and is closed then.
func TestAWrongNewPasswordCutsNothing(t *testing.T) {
	t.Parallel()
	w := newTenant(t, localenv.Broker(t, localenv.Series43))
	w.awaitReady("broker/main")
	user := w.vhost.Operator
	var old []string
	amqptest.Eventually(t, within, func() (err error) {
		if old, err = w.connectionsOf(user); err == nil && len(old) != 1 {
			err = fmt.Errorf("user %q has the connections %q, want one", user.Name, old)
		}
		return err
	})
	lives := func() error {
		now, err := w.connectionsOf(user)
		if err == nil && !slices.Contains(now, old[0]) {
			err = fmt.Errorf("the old connection %q is gone: there are %q", old[0], now)
		}
		return err
	}
	user.Password = "n3w p@ss:w/rd% " + w.namespace
	a := w.access()
	a.secret = credentials(user)
	w.apply(a.secretManifest("main"))
	w.await("broker/main", expected{v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonBadCredentials, ""})
	w.stays(threeSyncs+statisticsDelay, lives)

	if err := w.vhost.Broker.CreateUser(t.Context(), user.Name, user.Password, "policymaker", "monitoring"); err != nil {
		t.Fatal(err)
	}
	w.awaitReady("broker/main")
	amqptest.Eventually(t, within, func() error {
		now, err := w.connectionsOf(user)
		if err == nil && (len(now) != 1 || now[0] == old[0]) {
			err = fmt.Errorf("user %q has the connections %q, want one other than %q", user.Name, now, old[0])
		}
		return err
	})
	w.assertNoSecretShown(user)
}
