package e2e

import (
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/warren-mq/warren/api/v1alpha1"
)

// A user who may read the vhost and not declare in it makes a Broker that is
// Ready and subscriptions that are not; they say what was refused, and heal
// when the right is granted.
func TestAUserWhoMayNotDeclare(t *testing.T) {
	t.Parallel()
	forEachBroker(t, func(t *testing.T, w *tenant) {
		reader := w.newUser("reader", "s3cret-reader", "^$", "policymaker", "monitoring")
		a := w.access()
		a.secret = credentials(reader)
		w.apply(a.manifest("reader"))

		w.await("broker/reader", expected{v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonConnected, ""})
		w.await("topic/reader", expected{v1alpha1.ConditionDeclared, metav1.ConditionFalse, v1alpha1.ReasonAccessRefused,
			fmt.Sprintf(`declare exchange "reader": RabbitMQ does not let user %q do this: ACCESS_REFUSED - `, reader.Name)})
		queue := w.namespace + ".reader"
		w.await("rsub/reader", blocked(metav1.ConditionFalse, v1alpha1.ReasonAccessRefused,
			fmt.Sprintf(`declare exchange "%s.park": RabbitMQ does not let user %q do this: ACCESS_REFUSED - `, queue, reader.Name), helpsItself,
			expected{v1alpha1.ConditionInSync, metav1.ConditionFalse, v1alpha1.ReasonAccessRefused, "not everything is declared and bound"})...)

		if err := w.vhost.Broker.SetPermissions(t.Context(), w.vhost.Name, reader.Name, ".*", ".*", ".*"); err != nil {
			t.Fatal(err)
		}
		w.awaitReady("topic/reader")
		w.awaitReady("rsub/reader")
	})
}
