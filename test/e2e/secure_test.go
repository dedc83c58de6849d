package e2e

import (
	"crypto/tls"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/warren-mq/warren/hack/localenv"
	"github.com/warren-mq/warren/test/amqptest"
)

// The Deployment's pod keeps to the pod security standard "restricted", which its
// namespace enforces; and a pod that does not is refused there.
func TestTheDeploymentsPodIsRestricted(t *testing.T) {
	t.Parallel()
	o := sharedOperator(t)
	content, err := o.api.Get().AbsPath("apis/apps/v1/namespaces", operatorNamespace, "deployments/warren-operator").DoRaw(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var deployment appsv1.Deployment
	if err := json.Unmarshal(content, &deployment); err != nil {
		t.Fatal(err)
	}
	template := deployment.Spec.Template
	p := corev1.Pod{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{Name: "operator", Labels: template.Labels}, Spec: template.Spec,
	}
	if err := o.tryPod(t, p); err != nil {
		t.Errorf("the pod is refused: %v", err)
	}
	p.Spec.Containers[0].SecurityContext.Capabilities = nil
	const refusal = `violates PodSecurity "restricted:latest": unrestricted capabilities`
	if err := o.tryPod(t, p); err == nil || !strings.Contains(err.Error(), refusal) {
		t.Errorf("with all capabilities the answer is %v, want %s", err, refusal)
	}
}

// tryPod asks for a pod beside the operator without storing it.
func (o *operator) tryPod(t *testing.T, p corev1.Pod) error {
	t.Helper()
	body, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	return o.api.Post().AbsPath("api/v1/namespaces", operatorNamespace, "pods").Param("dryRun", "All").
		SetHeader("Content-Type", "application/json").Body(body).Do(t.Context()).Error()
}

// With --metrics-secure, as config/manager has it, nobody reads the metrics
// but those whom ClusterRole warren-metrics-reader is bound to.
func TestMetricsNeedARight(t *testing.T) {
	t.Parallel()
	w := newTenantAlone(t, localenv.Broker(t, localenv.Series43))
	w.actAs(operatorNamespace, operatorAccount)
	o := w.startHere("--metrics-secure")
	w.mustKubectl("create", "serviceaccount", "reader", "-n", w.namespace)
	w.mustKubectl("create", "clusterrolebinding", w.namespace+"-reader", "--clusterrole=warren-metrics-reader", "--serviceaccount="+w.namespace+":reader")
	token := func(account string) string {
		return strings.TrimSpace(w.mustKubectl("create", "token", account, "-n", w.namespace))
	}
	readerToken := token("reader")
	o.readMetrics = func() (string, error) {
		_, body := metricsOverTLS(t, o, readerToken)
		return body, nil
	}
	for _, c := range []struct {
		who, token string
		want       int
	}{
		{"nobody", "", http.StatusUnauthorized},
		{"somebody whom the API server does not know", "forged", http.StatusInternalServerError}, // so controller-runtime says it
		{"a service account without the right", token("warren"), http.StatusForbidden},
		{"the reader", readerToken, http.StatusOK},
	} {
		code, body := metricsOverTLS(t, o, c.token)
		if code != c.want {
			t.Errorf("%s gets %d, want %d: %.200s", c.who, code, c.want, body)
		}
		if told := strings.Contains(body, "controller_runtime_"); told != (c.want == http.StatusOK) {
			t.Errorf("%s is told metrics: %t", c.who, told)
		}
	}
}

// metricsOverTLS waits for an answer of the metrics endpoint to a token.
func metricsOverTLS(t *testing.T, o *operator, token string) (code int, body string) {
	t.Helper()
	client := http.Client{Transport: &http.Transport{
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true, // it is self-signed
	}}
	request, err := http.NewRequestWithContext(cleanupContext(), http.MethodGet, "https://"+o.metrics+"/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	amqptest.Eventually(t, within, func() error {
		response, err := client.Do(request)
		if err != nil {
			return err
		}
		defer response.Body.Close()
		content, err := io.ReadAll(response.Body)
		code, body = response.StatusCode, string(content)
		return err
	})
	return code, body
}
