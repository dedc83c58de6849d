package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/warren-mq/warren/api/v1alpha1"
	"github.com/warren-mq/warren/hack/localenv"
	"github.com/warren-mq/warren/test/amqptest"
)

// rights are verbs on resources, as "patch warren.dev/topics/status".
type rights map[string]bool

func right(verb, group, resource string) string {
	return verb + " " + strings.TrimPrefix(group+"/"+resource, "/")
}

// granted are the rights of a ClusterRole.
func (w *tenant) granted(role string) rights {
	w.t.Helper()
	content, err := w.api.Get().AbsPath("apis/rbac.authorization.k8s.io/v1/clusterroles", role).DoRaw(w.t.Context())
	w.must(err)
	var r rbacv1.ClusterRole
	w.must(json.Unmarshal(content, &r))
	all := rights{}
	for _, rule := range r.Rules {
		for _, group := range rule.APIGroups {
			for _, resource := range rule.Resources {
				for _, verb := range rule.Verbs {
					all[right(verb, group, resource)] = true
				}
			}
		}
	}
	return all
}

// brokerOfNoCluster refers to a RabbitmqCluster that does not exist.
const brokerOfNoCluster = rabbitmqClusterCRD + `
---
apiVersion: warren.dev/v1alpha1
kind: Broker
metadata: {name: of-cluster}
spec: {rabbitmqClusterRef: {name: rabbit}, syncPeriod: 1s}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: default}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: orders-topic-publisher}
---`

// The operator's ClusterRoles hold what it uses and nothing else: all that it
// does is done here, the API server's log tells what that took, and nothing was refused.
func TestTheOperatorUsesEachOfItsRights(t *testing.T) {
	t.Parallel()
	w := newTenant(t, localenv.Broker(t, localenv.Series43))
	unused := w.granted("warren-operator")
	maps.Copy(unused, w.granted("warren-gate"))
	maps.Copy(unused, w.granted("warren-credentials"))
	if len(unused) < 20 {
		t.Fatalf("the roles grant %v only", unused)
	}
	w.apply(brokerOfNoCluster + topicOn("orders", "main") + subscriptionTo("billing", "main", "orders") +
		redriveManifest("none", "ttlSecondsAfterFinished: 0") + "---" + pod("waits", forTopics("orders")))
	for _, resource := range []string{"topic/orders", "rsub/billing"} {
		w.mustKubectl("patch", resource, "-n", w.namespace, "--type=merge", `-p={"spec":{"deletionPolicy":"Delete"}}`)
	}
	w.awaitReady("rsub/billing")
	w.generateAndRevoke("billing")
	// What client-go's recorder does with an Event that repeats while its object
	// stays as it is. Warren tells nothing twice, so that this cannot be brought about from outside.
	delete(unused, right("patch", "events.k8s.io", "events"))
	amqptest.Eventually(t, within, func() error {
		requests, err := w.warrensRequests()
		for _, r := range requests {
			resource := strings.TrimSuffix(r.ObjectRef.Resource+"/"+r.ObjectRef.Subresource, "/")
			used := right(r.Verb, r.ObjectRef.APIGroup, resource)
			delete(unused, used)
			if r.ResponseStatus.Code == http.StatusCreated {
				delete(unused, right("create", r.ObjectRef.APIGroup, resource))
			}
			if r.Annotations["authorization.k8s.io/decision"] == "forbid" {
				t.Errorf("the operator was refused: %s in namespace %q", used, r.ObjectRef.Namespace)
			}
		}
		if err == nil && len(unused) > 0 {
			err = fmt.Errorf("granted and not used: %s", strings.Join(slices.Sorted(maps.Keys(unused)), ", "))
		}
		return err
	})
}

// generateAndRevoke has credentials generated, rotated and revoked, and a ConfigMap repaired.
func (w *tenant) generateAndRevoke(name string) {
	w.t.Helper()
	w.must(w.vhost.Broker.CreateUser(w.t.Context(), w.vhost.Operator.Name, w.vhost.Operator.Password, "administrator"))
	change := func(credentials string) {
		w.mustKubectl("patch", "rsub", name, "-n", w.namespace, "--type=merge", `-p={"spec":{"consumer":{"credentials":"`+credentials+`"}}}`)
	}
	awaitBinding := func(what string, good func(*v1alpha1.BindingStatus) bool) {
		amqptest.Eventually(w.t, within, func() error {
			if b := w.subscription(name).Status.Binding; !good(b) {
				return fmt.Errorf("%s: status.binding is %v", what, b)
			}
			return nil
		})
	}
	w.mustKubectl("annotate", "configmap", name+"-binding", "-n", w.namespace, "--overwrite", v1alpha1.RevisionAnnotation+"=another")
	change("Generate")
	awaitBinding("generated", func(b *v1alpha1.BindingStatus) bool { return b != nil })
	w.mustKubectl("annotate", "rsub", name, "-n", w.namespace, v1alpha1.RotateAnnotation+"=1")
	awaitBinding("rotated", func(b *v1alpha1.BindingStatus) bool { return b != nil && b.Rotation == "1" })
	change("None")
	awaitBinding("revoked", func(b *v1alpha1.BindingStatus) bool { return b == nil })
}

// Kubernetes' own roles for people say what they may do with Warren's kinds.
func TestPeoplesRoles(t *testing.T) {
	t.Parallel()
	w := newOrderTenant(t, localenv.Broker(t, localenv.Series43))
	for _, role := range []string{"view", "edit", "admin"} {
		w.mustKubectl("create", "rolebinding", role, "-n", w.namespace, "--clusterrole="+role, "--user="+w.namespace+"-"+role)
	}
	const teams = "topics reliablesubscriptions redrives"
	const all = teams + " brokers"
	for _, c := range []struct{ verbs, resources, who string }{
		{"get list watch", all, "view edit admin"},
		{"create update patch delete", teams, "edit admin"},
		{"create update patch delete", "brokers", "admin"},
		{"update patch", "topics/status reliablesubscriptions/status redrives/status brokers/status", ""},
	} {
		for _, role := range []string{"view", "edit", "admin"} {
			for resource := range strings.FieldsSeq(c.resources) {
				for verb := range strings.FieldsSeq(c.verbs) {
					w.awaitMay(role, verb, resource, slices.Contains(strings.Fields(c.who), role))
				}
			}
		}
	}
}

// awaitMay waits until somebody with a role may do something in the tenant's
// namespace, or may not: a controller gathers the rules of aggregated roles.
func (w *tenant) awaitMay(role, verb, resource string, want bool) {
	w.t.Helper()
	resource, subresource, _ := strings.Cut(resource, "/")
	review := authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User: w.namespace + "-" + role,
		ResourceAttributes: &authorizationv1.ResourceAttributes{
			Namespace: w.namespace, Verb: verb, Group: "warren.dev", Resource: resource, Subresource: subresource,
		},
	}}
	body, err := json.Marshal(review)
	w.must(err)
	amqptest.Eventually(w.t, within, func() error {
		content, err := w.api.Post().AbsPath("apis/authorization.k8s.io/v1/subjectaccessreviews").
			SetHeader("Content-Type", "application/json").Body(body).DoRaw(w.t.Context())
		if err == nil {
			err = json.Unmarshal(content, &review)
		}
		if err == nil && review.Status.Allowed != want {
			err = fmt.Errorf("%s may %s %s %s: %t, want %t", role, verb, resource, subresource, review.Status.Allowed, want)
		}
		return err
	})
}
