package freshness_test

import (
	"strings"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/utils/ptr"

	"github.com/warren-mq/warren/internal/freshness"
)

var now = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

func TestFresh(t *testing.T) {
	for _, c := range []struct {
		reason string
		period time.Duration
		age    time.Duration
		want   bool
	}{
		{"just read", 30 * time.Second, 0, true},
		{"within two periods", 30 * time.Second, 60*time.Second - 1, true},
		{"two periods old", 30 * time.Second, 60 * time.Second, false},
		{"a short period leaves 10 s", time.Second, 10*time.Second - 1, true},
		{"10 s are the end of it", time.Second, 10 * time.Second, false},
		{"a clock that is a little ahead", time.Second, -9 * time.Second, true},
		{"a clock that is wrong", time.Second, -10 * time.Second, false},
		{"the longest period", time.Hour, 2*time.Hour - 1, true},
	} {
		if got := freshness.Fresh(now.Add(-c.age), now, freshness.Limit(c.period)); got != c.want {
			t.Errorf("%s: fresh is %t, want %t", c.reason, got, c.want)
		}
	}
	if freshness.Fresh(time.Time{}, now, freshness.Limit(time.Hour)) {
		t.Error("what was never read is fresh")
	}
}

func TestLeaseName(t *testing.T) {
	if got, want := freshness.LeaseName("main"), "warren-broker-main"; got != want {
		t.Errorf("the Lease of Broker main is %q, want %q", got, want)
	}
	seen := map[string]string{}
	for _, broker := range []string{
		strings.Repeat("a", 239), strings.Repeat("a", 240), strings.Repeat("a", 253), strings.Repeat("a", 252) + "b",
		strings.Repeat("a", 221) + "." + strings.Repeat("b", 31), strings.Repeat("a", 222) + "." + strings.Repeat("b", 30),
		strings.Repeat("a", 221) + ".-" + strings.Repeat("b", 30),
	} {
		name := freshness.LeaseName(broker)
		if problems := validation.IsDNS1123Subdomain(name); len(problems) > 0 {
			t.Errorf("the Lease of Broker %s has a name of %d characters that cannot be one: %s: %s", broker, len(name), name, problems)
		}
		if other, taken := seen[name]; taken {
			t.Errorf("Brokers %s and %s share Lease %s", broker, other, name)
		}
		seen[name] = broker
	}
}

func TestOfLease(t *testing.T) {
	lease := func(age time.Duration, period time.Duration) *coordinationv1.Lease {
		return &coordinationv1.Lease{
			ObjectMeta: metav1.ObjectMeta{Namespace: "messaging", Name: "warren-broker-main"},
			Spec: coordinationv1.LeaseSpec{
				RenewTime:            &metav1.MicroTime{Time: now.Add(-age)},
				LeaseDurationSeconds: ptr.To(freshness.LeaseSeconds(period)),
			},
		}
	}
	never := lease(0, time.Second)
	never.Spec.RenewTime = nil
	for _, c := range []struct {
		reason string
		lease  *coordinationv1.Lease
		want   string
	}{
		{"fresh", lease(59*time.Second, 30*time.Second), ""},
		{"fractions of a second are given away", lease(10500*time.Millisecond, 5100*time.Millisecond), ""},
		{"old", lease(61*time.Second, 30*time.Second), "the broker was last read well 1m1s ago, and only 1m0s are believed (Lease messaging/warren-broker-main): is the operator running, and the broker reachable?"},
		{"from a wrong clock", lease(-time.Hour, 30*time.Second), "the broker was last read 1h0m0s ahead of this clock (Lease messaging/warren-broker-main): set the clocks right"},
		{"never renewed", never, "Lease messaging/warren-broker-main has no renewTime or no leaseDurationSeconds"},
	} {
		if got := freshness.OfLease(c.lease, now); got != c.want {
			t.Errorf("%s: got  %q\nwant %q", c.reason, got, c.want)
		}
	}
}
