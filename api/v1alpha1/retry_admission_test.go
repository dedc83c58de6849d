package v1alpha1_test

import (
	"fmt"
	"slices"
	"testing"
)

const (
	oneStrategy = "choose exactly one of backoff, fixedDelay, native and immediate; or leave retry out, which means backoff with the delays 5s, 30s, 5m"
	delaysRange = "each delay must be from 1s to 24h"
	delayRange  = "delay must be from 1s to 24h"
	minRange    = "minDelay must be from 1s to 24h"
	maxRange    = "maxDelay must be from 1s to 24h"
	minOverMax  = "minDelay must not be longer than maxDelay"
	onTwice     = `on and "true" are the same field (YAML reads a bare on as true): give one of them`
)

// strategies, each good by itself, in the order of the API.
var strategies = []string{
	`backoff: {delays: [5s]}`,
	`fixedDelay: {delay: 30s, maxAttempts: 5}`,
	`native: {minDelay: 1s, maxDelay: 1m}`,
	`immediate: {}`,
}

func delays(list string) string { return fmt.Sprintf("retry: {backoff: {delays: [%s]}}", list) }

func fixed(delay string) string {
	return fmt.Sprintf("retry: {fixedDelay: {delay: %q, maxAttempts: 5}}", delay)
}

func native(minDelay, maxDelay string) string {
	return fmt.Sprintf("retry: {native: {minDelay: %q, maxDelay: %q}}", minDelay, maxDelay)
}

func TestRetryAcceptances(t *testing.T) {
	cases := []acceptance{
		{"the shortest and the longest delay", delays("1s, 24h")},
		{"as many delays as it goes", delays(repeated("1s", 10))},
		{"delays need not grow", delays("30s, 5s, 30s")},
		{"any spelling of a delay", delays("5m0s, 1000ms, 1m30s, 90s")},
		{"one attempt is none too few", `retry: {fixedDelay: {delay: 1s, maxAttempts: 1}}`},
		{"as many attempts as it goes", `retry: {fixedDelay: {delay: 24h, maxAttempts: 1000}}`},
		{"a native delay that does not grow", native("5s", "5s")},
		{"the longest native delay", native("1s", "24h")},
		{"native retry of what is returned", `retry: {native: {minDelay: 1s, maxDelay: 1m, "on": Returned}}`},
		{"native retry with a bare on, which YAML reads as true", `retry: {native: {minDelay: 1s, maxDelay: 1m, on: All}}`},

		{"a limit as high as the delays by default", `workQueue: {deliveryLimit: 3}`},
		{"a limit as high as the delays", `{workQueue: {deliveryLimit: 1}, retry: {backoff: {delays: [5s]}}}`},
		{"a limit as high as the attempts after the first", `{workQueue: {deliveryLimit: 4}, retry: {fixedDelay: {delay: 5s, maxAttempts: 5}}}`},
		{"no crash forgiven, with native", `{workQueue: {deliveryLimit: 0}, retry: {native: {minDelay: 1s, maxDelay: 1m}}}`},
		{"no crash forgiven, with immediate", `{workQueue: {deliveryLimit: 0}, retry: {immediate: {}}}`},

		{"a full queue and native retries", `{workQueue: {maxLength: 1000}, retry: {native: {minDelay: 1s, maxDelay: 1m}}}`},
		{"a full queue and immediate retries", `{workQueue: {maxLength: 1000}, retry: {immediate: {}}}`},
	}
	for _, s := range strategies {
		cases = append(cases, acceptance{"alone: " + s, fmt.Sprintf("retry: {%s}", s)})
	}
	testAcceptances(t, "ReliableSubscription", cases)
}

var retryRefusals = slices.Concat(
	[]refusal{
		{"a retry that says nothing", `retry: {}`, "spec.retry", oneStrategy},
		{"all of them", fmt.Sprintf("retry: {%s, %s, %s, %s}", strategies[0], strategies[1], strategies[2], strategies[3]), "spec.retry", oneStrategy},

		{"a ladder without a rung", delays(""), "spec.retry.backoff.delays", "should have at least 1 items"},
		{"more rungs than fit", delays(repeated("1s", 11)), "spec.retry.backoff.delays", "Too many: 11: must have at most 10 items"},
		{"nothing is no delay", delays("5s, 0s"), "spec.retry.backoff.delays", delaysRange},
		{"a delay too short for a wait queue", delays("999ms"), "spec.retry.backoff.delays", delaysRange},
		{"a delay of more than a day", delays("24h1s"), "spec.retry.backoff.delays", delaysRange},
		{"a number without a unit", delays(`5s, "11"`), "spec.retry.backoff.delays[1]", badDuration},
		{"days are written in hours", delays("1d"), "spec.retry.backoff.delays[0]", badDuration},
		{"fractions are written in smaller units", delays("1.5s"), "spec.retry.backoff.delays[0]", badDuration},

		{"a fixed delay too short", fixed("999ms"), "spec.retry.fixedDelay.delay", delayRange},
		{"a fixed delay of more than a day", fixed("24h1s"), "spec.retry.fixedDelay.delay", delayRange},
		{"a fixed delay without a unit", fixed("11"), "spec.retry.fixedDelay.delay", badDuration},
		{"a message is run once at least", `retry: {fixedDelay: {delay: 5s, maxAttempts: 0}}`, "spec.retry.fixedDelay.maxAttempts", "should be greater than or equal to 1"},
		{"more attempts than fit", `retry: {fixedDelay: {delay: 5s, maxAttempts: 1001}}`, "spec.retry.fixedDelay.maxAttempts", "should be less than or equal to 1000"},
		{"somebody has to say when to give up", `retry: {fixedDelay: {delay: 5s}}`, "spec.retry.fixedDelay.maxAttempts", "Required value"},

		{"a native delay too short", native("999ms", "1m"), "spec.retry.native.minDelay", minRange},
		{"a native delay of more than a day", native("1m", "24h1s"), "spec.retry.native.maxDelay", maxRange},
		{"a native delay that shrinks", native("1m", "59s"), "spec.retry.native", minOverMax},
		{"a native delay in days", native("1d", "24h"), "spec.retry.native.minDelay", badDuration},
		{"a longest native delay in days", native("1h", "1d"), "spec.retry.native.maxDelay", badDuration},
		{"a native delay needs an end", `retry: {native: {minDelay: 1s}}`, "spec.retry.native.maxDelay", "Required value"},
		{"one field by both of its names", `retry: {native: {minDelay: 1s, maxDelay: 1m, "on": All, on: All}}`, "spec.retry.native", onTwice},
		{"there is no such occasion", `retry: {native: {minDelay: 1s, maxDelay: 1m, "on": Rejected}}`, "spec.retry.native.on", `Unsupported value: "Rejected": supported values: "All", "Failed", "Returned"`},
		{"there is no such occasion, as YAML reads it", `retry: {native: {minDelay: 1s, maxDelay: 1m, on: Rejected}}`, "spec.retry.native.true", `Unsupported value: "Rejected": supported values: "All", "Failed", "Returned"`},

		{"a limit under the delays by default", `workQueue: {deliveryLimit: 2}`, "spec", lowLimit},
		{"a limit under the delays", `{workQueue: {deliveryLimit: 3}, retry: {backoff: {delays: [1s, 1s, 1s, 1s]}}}`, "spec", lowLimit},
		{"a limit under the attempts after the first", `{workQueue: {deliveryLimit: 3}, retry: {fixedDelay: {delay: 5s, maxAttempts: 5}}}`, "spec", lowLimit},

		{"a full queue and the delays by default", `workQueue: {maxLength: 1000}`, "spec", starving},
		{"a full queue and delays", `{workQueue: {maxLength: 1000}, retry: {backoff: {delays: [5s]}}}`, "spec", starving},
		{"a full queue and a fixed delay", `{workQueue: {maxLength: 1000}, retry: {fixedDelay: {delay: 5s, maxAttempts: 5}}}`, "spec", starving},
	},
	pairRefusals())

func TestRetryRefusals(t *testing.T) { testRefusals(t, "ReliableSubscription", retryRefusals) }

// A value that is wrong in two ways is told about both.
var twofoldRefusals = []struct {
	reason, spec string
	want         []string
}{
	{"nought without a unit", delays(`"0"`),
		[]string{"spec.retry.backoff.delays: " + delaysRange, "spec.retry.backoff.delays[0]: " + badDuration}},
	{"a delay that leads into the past", delays("-5s"),
		[]string{"spec.retry.backoff.delays: " + delaysRange, "spec.retry.backoff.delays[0]: " + badDuration}},
	{"too low a limit for what it is and for the retries", `workQueue: {deliveryLimit: -1}`,
		[]string{"spec.workQueue.deliveryLimit: should be greater than or equal to 0", "spec: " + lowLimit}},
}

func TestRefusalsForTwoReasons(t *testing.T) {
	c := theCluster(t)
	for _, tc := range twofoldRefusals {
		t.Run(tc.reason, func(t *testing.T) {
			assertComplaints(t, c.tryCreate(t, manifest(t, "ReliableSubscription", tc.spec)), tc.want...)
		})
	}
}

// pairRefusals has each pair of strategies.
func pairRefusals() []refusal {
	var cases []refusal
	for i, first := range strategies {
		for _, second := range strategies[i+1:] {
			both := fmt.Sprintf("retry: {%s, %s}", first, second)
			cases = append(cases, refusal{"two strategies: " + both, both, "spec.retry", oneStrategy})
		}
	}
	return cases
}
