package topology_test

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/warren-mq/warren/api/v1alpha1"
	"github.com/warren-mq/warren/internal/topology"
)

func TestRetryNumbers(t *testing.T) {
	const broker, consumer = v1alpha1.CountedByBroker, v1alpha1.CountedByConsumer
	cases := []struct {
		reason string
		spec   string
		on     topology.Version
		want   topology.Retry
	}{
		{"left out: three delays, and a limit of 20", ``, rabbit43, topology.Retry{
			Strategy: "backoff 5s, 30s, 5m", CountedBy: broker, MaxDeliveries: 4, WorstCaseDeliveries: 24, TimeToParking: 5*time.Minute + 35*time.Second}},
		{"before 4.3 each stay in the work queue has a limit of its own", ``, rabbit40, topology.Retry{
			Strategy: "backoff 5s, 30s, 5m", CountedBy: broker, MaxDeliveries: 4, WorstCaseDeliveries: 84, TimeToParking: 5*time.Minute + 35*time.Second}},
		{"one delay", `retry: {backoff: {delays: [90s]}}`, rabbit43, topology.Retry{
			Strategy: "backoff 1m30s", CountedBy: broker, MaxDeliveries: 2, WorstCaseDeliveries: 22, TimeToParking: 90 * time.Second}},
		{"ten delays", `retry: {backoff: {delays: [1s, 1s, 1s, 1s, 1s, 1s, 1s, 1s, 1s, 24h]}}`, rabbit43, topology.Retry{
			Strategy: "backoff 1s, 1s, 1s, 1s, 1s, 1s, 1s, 1s, 1s, 24h", CountedBy: broker, MaxDeliveries: 11, WorstCaseDeliveries: 31, TimeToParking: 24*time.Hour + 9*time.Second}},
		{"no crash forgiven beyond the returns", `{workQueue: {deliveryLimit: 3}}`, rabbit43, topology.Retry{
			Strategy: "backoff 5s, 30s, 5m", CountedBy: broker, MaxDeliveries: 4, WorstCaseDeliveries: 7, TimeToParking: 5*time.Minute + 35*time.Second}},

		{"the consumer counts to five", `retry: {fixedDelay: {delay: 30s, maxAttempts: 5}}`, rabbit43, topology.Retry{
			Strategy: "fixedDelay 30s, 5 attempts", CountedBy: consumer, MaxDeliveries: 5, WorstCaseDeliveries: 25, TimeToParking: 2 * time.Minute}},
		{"the limit grows with the attempts", `retry: {fixedDelay: {delay: 1m, maxAttempts: 101}}`, rabbit43, topology.Retry{
			Strategy: "fixedDelay 1m, 101 attempts", CountedBy: consumer, MaxDeliveries: 101, WorstCaseDeliveries: 206, TimeToParking: 100 * time.Minute}},
		{"each stay has a limit of its own here too", `{workQueue: {deliveryLimit: 4}, retry: {fixedDelay: {delay: 30s, maxAttempts: 5}}}`, rabbit40, topology.Retry{
			Strategy: "fixedDelay 30s, 5 attempts", CountedBy: consumer, MaxDeliveries: 5, WorstCaseDeliveries: 25, TimeToParking: 2 * time.Minute}},

		{"limit 0: one delivery", `{workQueue: {deliveryLimit: 0}, retry: {immediate: {}}}`, rabbit43, topology.Retry{
			Strategy: "immediate", CountedBy: broker, MaxDeliveries: 1, WorstCaseDeliveries: 1}},
		{"limit 1: two deliveries", `{workQueue: {deliveryLimit: 1}, retry: {immediate: {}}}`, rabbit43, topology.Retry{
			Strategy: "immediate", CountedBy: broker, MaxDeliveries: 2, WorstCaseDeliveries: 2}},
		{"limit 4: five deliveries", `{workQueue: {deliveryLimit: 4}, retry: {immediate: {}}}`, rabbit40, topology.Retry{
			Strategy: "immediate", CountedBy: broker, MaxDeliveries: 5, WorstCaseDeliveries: 5}},
		{"limit 20, which is the default: 21 deliveries", `retry: {immediate: {}}`, rabbit40, topology.Retry{
			Strategy: "immediate", CountedBy: broker, MaxDeliveries: 21, WorstCaseDeliveries: 21}},

		{"the n-th native delay is n times the shortest", `{workQueue: {deliveryLimit: 8}, retry: {native: {minDelay: 1s, maxDelay: 1m}}}`, rabbit43, topology.Retry{
			Strategy: "native 1s to 1m on Failed", CountedBy: broker, MaxDeliveries: 9, WorstCaseDeliveries: 9, TimeToParking: 36 * time.Second}},
		{"native delays stop at the longest: 300, 600, 700 ms", `{workQueue: {deliveryLimit: 3}, retry: {native: {minDelay: 300ms, maxDelay: 700ms}}}`, rabbit43, topology.Retry{
			Strategy: "native 300ms to 700ms on Failed", CountedBy: broker, MaxDeliveries: 4, WorstCaseDeliveries: 4, TimeToParking: 1600 * time.Millisecond}},
		{"native delays of one length", `{workQueue: {deliveryLimit: 4}, retry: {native: {minDelay: 5s, maxDelay: 5s}}}`, rabbit43, topology.Retry{
			Strategy: "native 5s to 5s on Failed", CountedBy: broker, MaxDeliveries: 5, WorstCaseDeliveries: 5, TimeToParking: 20 * time.Second}},
		{"no native delay before the only delivery", `{workQueue: {deliveryLimit: 0}, retry: {native: {minDelay: 1s, maxDelay: 1m}}}`, rabbit43, topology.Retry{
			Strategy: "native 1s to 1m on Failed", CountedBy: broker, MaxDeliveries: 1, WorstCaseDeliveries: 1}},
		{"failures count among all", `{workQueue: {deliveryLimit: 2}, retry: {native: {minDelay: 1s, maxDelay: 1m, on: All}}}`, rabbit43, topology.Retry{
			Strategy: "native 1s to 1m on All", CountedBy: broker, MaxDeliveries: 3, WorstCaseDeliveries: 3, TimeToParking: 3 * time.Second}},
		{"failures come back at once where only what is returned is delayed", `{workQueue: {deliveryLimit: 2}, retry: {native: {minDelay: 1s, maxDelay: 1m, on: Returned}}}`, rabbit43, topology.Retry{
			Strategy: "native 1s to 1m on Returned", CountedBy: broker, MaxDeliveries: 3, WorstCaseDeliveries: 3}},
		{"a time that no status could hold is cut", `{workQueue: {deliveryLimit: 1000000}, retry: {native: {minDelay: 24h, maxDelay: 24h}}}`, rabbit43, topology.Retry{
			Strategy: "native 24h to 24h on Failed", CountedBy: broker, MaxDeliveries: 1000001, WorstCaseDeliveries: 1000001, TimeToParking: 99999 * time.Hour}},
	}
	for _, tc := range cases {
		t.Run(tc.reason, func(t *testing.T) {
			in := subscription(t, tc.spec)
			in.Broker = tc.on
			got := compile(t, in).Retry
			if diff := cmp.Diff(tc.want, got, cmpopts.IgnoreFields(topology.Retry{}, "Contract")); diff != "" {
				t.Errorf("numbers (-want +got):\n%s", diff)
			}
			if form := v1alpha1.FormatDuration(got.TimeToParking); !statusDuration.MatchString(string(form)) {
				t.Errorf("the status cannot hold %q", form)
			}
		})
	}
}

// statusDuration is the pattern of the API's Duration.
var statusDuration = regexp.MustCompile(`^([0-9]{1,5}(h|m|s|ms)){1,4}$`)

func TestDeliveryLimitByDefault(t *testing.T) {
	cases := []struct {
		reason, spec string
		want         int64
	}{
		{"20 is enough for any backoff", `retry: {backoff: {delays: [1s, 1s, 1s, 1s, 1s, 1s, 1s, 1s, 1s, 1s]}}`, 20},
		{"20 is enough for 15 retries", `retry: {fixedDelay: {delay: 5s, maxAttempts: 16}}`, 20},
		{"room for five crashes beside the retries", `retry: {fixedDelay: {delay: 5s, maxAttempts: 17}}`, 21},
		{"as many attempts as it goes", `retry: {fixedDelay: {delay: 5s, maxAttempts: 1000}}`, 1004},
		{"native", `retry: {native: {minDelay: 1s, maxDelay: 1m}}`, 20},
		{"what is asked for", `workQueue: {deliveryLimit: 3}`, 3},
	}
	for _, tc := range cases {
		t.Run(tc.reason, func(t *testing.T) {
			compiled := compile(t, subscription(t, tc.spec))
			if got := queuesOf(compiled)[compiled.Names.Work].Arguments["x-delivery-limit"]; got != tc.want {
				t.Errorf("x-delivery-limit %v, want %d", got, tc.want)
			}
		})
	}
}

// The contract, one sentence a line, for each strategy on each line of RabbitMQ.
func TestGoldenContracts(t *testing.T) {
	cases := []struct{ title, spec string }{
		{"backoff", `workQueue: {name: orders.billing}`},
		{"fixedDelay", `{workQueue: {name: orders.billing}, retry: {fixedDelay: {delay: 30s, maxAttempts: 5}}}`},
		{"immediate", `{workQueue: {name: orders.billing}, retry: {immediate: {}}}`},
		{"native on Failed", `{workQueue: {name: orders.billing}, retry: {native: {minDelay: 1s, maxDelay: 1m}}}`},
		{"native on Returned", `{workQueue: {name: orders.billing}, retry: {native: {minDelay: 1s, maxDelay: 1m, on: Returned}}}`},
		{"native on All", `{workQueue: {name: orders.billing}, retry: {native: {minDelay: 1s, maxDelay: 1m, on: All}}}`},
	}
	var b strings.Builder
	for _, version := range []topology.Version{rabbit40, rabbit43} {
		for _, tc := range cases {
			in := subscription(t, tc.spec)
			in.Broker = version
			if in.Spec.Retry != nil && in.Spec.Retry.Native != nil && !version.HasDelayedRetry() {
				continue
			}
			b.WriteString("\n## " + tc.title + ", RabbitMQ " + version.String() + "\n")
			b.WriteString(strings.ReplaceAll(compile(t, in).Retry.Contract, ". ", ".\n") + "\n")
		}
	}
	assertGolden(t, "contracts", "what status.retry.contract says", b.String())
}
