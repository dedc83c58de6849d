package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	amqp "github.com/rabbitmq/amqp091-go"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/warren-mq/warren/api/v1alpha1"
	"github.com/warren-mq/warren/test/amqptest"
)

// teamPolicy is what somebody puts on everything, without a thought of parking queues.
const teamPolicy = "team"

func (s *stage) putTeamPolicy(t *testing.T) {
	t.Helper()
	policy := map[string]any{"pattern": ".*", "apply-to": "all", "priority": 1000, "definition": map[string]any{"message-ttl": 1000}}
	if err := s.manage(http.MethodPut, policy, nil, "policies", teamPolicy); err != nil {
		t.Fatal(err)
	}
}

// withShield is the tenant's Broker with spec.shieldPolicy.
func (w *tenant) withShield(on bool) string {
	return w.brokerManifest("main", "1s") + fmt.Sprintf("  shieldPolicy: %t\n---\n", on)
}

// shieldName finds the shield's policy: its name begins with the cluster's id, which a test is not told.
func (s *stage) shieldName(t *testing.T) string {
	t.Helper()
	policies, err := s.management().ListPoliciesIn(s.vhost.Name)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range policies {
		if strings.HasPrefix(p.Name, "warren-shield.") && strings.HasSuffix(p.Name, "."+s.namespace+".main") {
			return p.Name
		}
	}
	t.Fatalf("there is no shield among %v", policies)
	return ""
}

// A policy on everything (D1 and A10 among the field's faults) does not reach
// what waits and what is parked while the shield is up. Somebody's queue that
// happens to have such a name goes on as before. Lowered, the shield goes, and
// what then wins is told.
func TestTheShieldKeepsPoliciesOff(t *testing.T) {
	onStages(t, func(t *testing.T, s *stage) {
		s.declareQueue("theirs.parking", amqp.Table{"x-queue-type": "quorum"})
		s.apply(s.withShield(true))
		s.await("broker/main", expected{v1alpha1.ConditionShielded, metav1.ConditionTrue, v1alpha1.ReasonPolicyInForce, "policies of others are kept off wait, parking and unroutable queues"})
		s.putTeamPolicy(t)
		s.establish(subscriptionManifest("billing", `workQueue: {name: billing}, retry: {backoff: {delays: [5s]}}`)+
			subscriptionManifest("shipping", `workQueue: {name: shipping}, retry: {immediate: {}}, parkingQueue: {name: shipping.dead-letter}`), "billing", "shipping")
		shield := s.shieldName(t)
		for queue, policy := range map[string]string{
			"billing.parking": shield, "billing.wait.1.5s": shield, "shipping.dead-letter": shield,
			"billing": teamPolicy, "theirs.parking": teamPolicy,
		} {
			s.awaitPolicy(t, queue, policy)
		}
		parked := map[string]string{"billing.parking": "billing.park", "shipping.dead-letter": "shipping.park"}
		for _, exchange := range parked {
			s.publish(exchange, "order.placed", amqptest.Message("kept"))
		}
		s.stays(threeSyncs, func() error {
			for queue := range parked {
				ready, err := amqptest.Ready(s.app, queue)
				if err == nil && ready != 1 {
					err = fmt.Errorf("queue %q has %d messages ready, want the one that was parked", queue, ready)
				}
				if err != nil {
					return err
				}
			}
			return nil
		})

		s.apply(s.withShield(false))
		s.await("broker/main", expected{v1alpha1.ConditionShielded, metav1.ConditionFalse, v1alpha1.ReasonDisabled, ""})
		s.awaitPolicy(t, "billing.parking", teamPolicy)
		s.await("rsub/billing", expected{v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonPolicyOverride, ""})
	})
}
