package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/warren-mq/warren/api/v1alpha1"
	"github.com/warren-mq/warren/hack/localenv"
	"github.com/warren-mq/warren/test/amqptest"
)

// With --watch-namespaces a Role suffices, selectors included; --cluster-id is
// the first part of the mark on what is declared.
func TestAnOperatorOfOneNamespaceNeedsRolesOnly(t *testing.T) {
	t.Parallel()
	w := newTenantAlone(t, localenv.Broker(t, localenv.Series43))
	w.startHere()
	w.apply(everyStrategy)
	w.awaitSettled("broker/main", "topic/orders", "rsub/backoff", "rsub/fixed", "rsub/immediate")
	w.awaitEvent("rsub/backoff", "Established", "routes were proved")

	objects := w.onBroker()
	for object, owner := range map[string]string{
		fmt.Sprintf("queue %q", w.namespace+".backoff"):         "backoff",
		fmt.Sprintf("queue %q", w.namespace+".backoff.parking"): "backoff",
		fmt.Sprintf("exchange %q", w.namespace+".fixed.dead"):   "fixed",
		`exchange "orders"`:         "orders",
		`queue "orders.unroutable"`: "orders",
	} {
		if got, want := objects[object].Owner(), clusterIDHere+"/"+w.namespace+"/"+owner; got != want {
			t.Errorf("the mark on %s is %q, want %q", object, got, want)
		}
	}
	if lines := w.logLines("forbidden"); len(lines) > 0 {
		t.Errorf("the operator lacks a right:\n%s", strings.Join(lines, "\n"))
	}
	const off = "the pod gate is off: pods with the scheduling gate warren.dev/topology stay unscheduled."
	if lack := fmt.Sprintf("Warren may not list pods in namespace %q", w.namespace); !containsAll(w.log(), []string{off, strings.ReplaceAll(lack, `"`, `\"`)}) {
		t.Errorf("the log does not say %q and %q", off, lack)
	}
}

// An idle operator writes nothing but the Broker's Lease, once a sync period,
// neither to the API server nor to the broker; and a restart with everything in
// place changes nothing either.
func TestAnIdleOperatorWritesNothing(t *testing.T) {
	t.Parallel()
	w := newTenantAlone(t, localenv.Broker(t, localenv.Series43))
	first := w.startHere()
	if err := w.vhost.Broker.CreateUser(t.Context(), w.vhost.Operator.Name, w.vhost.Operator.Password, "administrator"); err != nil {
		t.Fatal(err)
	}
	w.apply(everyStrategy + subscriptionManifest("credited", "consumer: {credentials: Generate}"))
	resources := []string{"broker/main", "topic/orders", "rsub/backoff", "rsub/fixed", "rsub/immediate", "rsub/credited"}
	w.await("rsub/credited", generated)
	w.awaitSettled(resources...)
	amqptest.Publish(t, w.application(), w.namespace+".backoff.park", "order.placed", amqptest.Message("parked"))
	w.await("rsub/backoff", expected{v1alpha1.ConditionParkingBacklog, metav1.ConditionTrue, v1alpha1.ReasonBacklogReached, ""})
	w.awaitNoEventUnderWay(first)

	versions, acts := w.resourceVersions(), len(w.logLines("acting on the broker"))
	idle := first.watchIdle(t)
	unchanged := func() error {
		if diff := cmp.Diff(versions, w.resourceVersions()); diff != "" {
			return fmt.Errorf("a resource was written (-before +after):\n%s", diff)
		}
		return nil
	}
	w.stays(fiveSyncs, unchanged)
	idle.assertOnlyLeases()
	if lines := w.logLines("acting on the broker"); len(lines) != acts {
		t.Errorf("an idle operator acted:\n%s", strings.Join(lines[acts:], "\n"))
	}

	if err := first.process.Stop(); err != nil {
		t.Fatal(err)
	}
	second := w.startHere()
	idle = second.watchIdle(t)
	w.stays(fiveSyncs, unchanged)
	idle.assertOnlyLeases()
	if lines := w.logLines("acting on the broker"); len(lines) > 0 {
		t.Errorf("after its restart the operator acted:\n%s", strings.Join(lines, "\n"))
	}
	if n := second.reconciles(t, "broker"); n < 3 {
		t.Errorf("the restarted operator has read the broker %d times, want 3 at least for this test to mean something", n)
	}
	w.awaitSettled(resources...)
}

// idleness is a time in which an operator should write nothing but the Lease
// of its one Broker, once for each time that it reads it.
type idleness struct {
	t                testing.TB
	o                *operator
	writes, readings int
}

func (o *operator) watchIdle(t testing.TB) idleness {
	t.Helper()
	return idleness{t, o, o.writes(t), o.reconciles(t, "broker")}
}

func (i idleness) assertOnlyLeases() {
	i.t.Helper()
	// In this order: a Lease is renewed after the reading that it tells of.
	writes := i.o.writes(i.t) - i.writes
	readings := i.o.reconciles(i.t, "broker") - i.readings + 1
	if writes > readings {
		i.t.Errorf("an idle operator made %d writes to the API server in %d readings of its Broker, want one each at most", writes, readings)
	}
}

// awaitNoEventUnderWay waits until the operator has written no more than its
// Lease for three sync periods: Events are sent beside the work.
func (w *tenant) awaitNoEventUnderWay(o *operator) {
	w.t.Helper()
	beside := func() int { return o.writes(w.t) - o.reconciles(w.t, "broker") }
	most, since := beside(), time.Now()
	amqptest.Eventually(w.t, within, func() error {
		if n := beside(); n > most {
			most, since = n, time.Now()
		}
		if quiet := time.Since(since); quiet < threeSyncs {
			return fmt.Errorf("the last write beside the Lease was %s ago", quiet)
		}
		return nil
	})
}

// writes counts the operator's own requests to the API server that change something.
func (o *operator) writes(t testing.TB) int {
	t.Helper()
	n := 0
	for _, method := range []string{"POST", "PUT", "PATCH", "DELETE"} {
		n += o.metric(t, "rest_client_requests_total", `method="`+method+`"`)
	}
	return n
}

func (o *operator) reconciles(t testing.TB, controller string) int {
	t.Helper()
	return o.metric(t, "controller_runtime_reconcile_total", `controller="`+controller+`"`)
}

// metric sums the samples of a metric that have a label.
func (o *operator) metric(t testing.TB, name, label string) int {
	t.Helper()
	sum := 0.0
	for line := range strings.Lines(get(t, "http://"+o.metrics+"/metrics")) {
		if strings.HasPrefix(line, name+"{") && strings.Contains(line, label) {
			fields := strings.Fields(line)
			value, err := strconv.ParseFloat(fields[len(fields)-1], 64)
			if err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			sum += value
		}
	}
	return int(sum)
}

func get(t testing.TB, url string) string {
	t.Helper()
	body, err := tryGet(url)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// tryGet wants a 200 and gives the body.
func tryGet(url string) (string, error) {
	response, err := http.Get(url)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s answers %s: %s", url, response.Status, body)
	}
	return string(body), err
}

// Of two operators, with the rights that config/default gives them, one works.
// When it is killed, the other one takes over and goes on where it was.
func TestOneOfTwoOperatorsLeads(t *testing.T) {
	t.Parallel()
	w := newTenantAlone(t, localenv.Broker(t, localenv.Series43))
	w.actAs(operatorNamespace, operatorAccount)
	elect := []string{"--leader-elect", "--leader-election-namespace=" + operatorNamespace}
	first := w.startHere(elect...)
	holder := w.awaitLeader("")
	second := w.startHere(elect...)
	w.apply(topicOn("orders", "main") + billing(v1alpha1.AdoptionPolicyRefuse))
	w.awaitReady("rsub/billing")
	if n := second.reconciles(t, "broker"); n != 0 {
		t.Errorf("the operator that does not lead has reconciled %d times, want 0", n)
	}

	if err := first.process.Kill(); err != nil {
		t.Fatal(err)
	}
	w.awaitLeader(holder)
	w.apply(subscriptionTo("shipping", "main", "orders"))
	w.awaitReady("rsub/shipping")
	w.awaitReady("rsub/billing")
	second.assertLogsJSON(t)
	for line := range strings.Lines(first.log() + second.log()) {
		if strings.Contains(line, "forbidden") {
			t.Errorf("config/default lacks a right: %s", line)
		}
	}
}

// awaitLeader waits until somebody else than before holds the one Lease, and tells who.
func (w *tenant) awaitLeader(before string) string {
	w.t.Helper()
	var holder string
	amqptest.Eventually(w.t, within, func() error {
		content, err := w.api.Get().AbsPath("apis/coordination.k8s.io/v1/namespaces", operatorNamespace, "leases").DoRaw(w.t.Context())
		if err != nil {
			return err
		}
		var leases coordinationv1.LeaseList
		if err := json.Unmarshal(content, &leases); err != nil {
			return err
		}
		if len(leases.Items) != 1 || leases.Items[0].Name != "operator.warren.dev" {
			return fmt.Errorf("want one Lease operator.warren.dev, got %d: %s", len(leases.Items), content)
		}
		if h := leases.Items[0].Spec.HolderIdentity; h == nil || *h == "" || *h == before {
			return fmt.Errorf("the Lease's holder is %v, want another than %q", h, before)
		} else {
			holder = *h
		}
		return nil
	})
	return holder
}

// The operator answers for its health and its metrics, and each line that it
// logs is JSON.
func TestTheOperatorsEndpointsAndLog(t *testing.T) {
	t.Parallel()
	o := sharedOperator(t)
	for _, path := range []string{"/healthz", "/readyz"} {
		amqptest.Eventually(t, within, func() error {
			body, err := tryGet("http://" + o.health + path)
			if err == nil && body != "ok" {
				err = fmt.Errorf("%s says %q, want ok", path, body)
			}
			return err
		})
	}
	if body := get(t, "http://"+o.metrics+"/metrics"); !strings.Contains(body, "controller_runtime_reconcile_total") {
		t.Errorf("the metrics do not tell of reconciles:\n%.1000s", body)
	}
	o.assertLogsJSON(t)
}

func (o *operator) assertLogsJSON(t testing.TB) {
	t.Helper()
	log := o.log()
	end := strings.LastIndex(log, "\n") // the last line may be half written
	for line := range strings.SplitSeq(log[:end], "\n") {
		if !json.Valid([]byte(line)) {
			t.Errorf("this line of the log is no JSON: %s", line)
		}
	}
}
