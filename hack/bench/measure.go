package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// usage is what the operator has used up to a moment.
type usage struct {
	cpu time.Duration
	// requests to the broker, and how many of each operation.
	requests   int
	operations map[string]int
	// writes to the API server; Events are counted apart, and Leases not at all.
	writes, events int
}

func (u usage) since(before usage) usage {
	operations := map[string]int{}
	for name, n := range u.operations {
		if more := n - before.operations[name]; more > 0 {
			operations[name] = more
		}
	}
	return usage{u.cpu - before.cpu, u.requests - before.requests, operations, u.writes - before.writes, u.events - before.events}
}

// usage reads what the operator has used since it started. Writes are counted
// by the API server, since the stage began.
func (s *stage) usage(ctx context.Context) (usage, error) {
	var u usage
	var err error
	if u.writes, u.events, err = s.writes(ctx); err != nil || s.operator == nil {
		return u, err
	}
	stat, err := os.ReadFile(s.operator.proc("stat"))
	if err != nil {
		return u, err
	}
	if u.cpu, err = cpuTime(string(stat)); err != nil {
		return u, err
	}
	page, err := get(ctx, "http://"+s.operator.metrics+"/metrics")
	u.operations = map[string]int{}
	for _, sample := range samples(page, "warren_broker_request_duration_seconds_count") {
		u.operations[sample.labels["operation"]] += int(sample.value)
		u.requests += int(sample.value)
	}
	return u, err
}

// writes counts what has changed at the API server by the operator's hand: it
// writes statuses, finalizers, ConfigMaps and Events; kubectl creates subscriptions and deletes them.
func (s *stage) writes(ctx context.Context) (writes, events int, err error) {
	page, err := s.raw.Discovery().RESTClient().Get().AbsPath("/metrics").DoRaw(ctx)
	for _, sample := range samples(page, "apiserver_request_total") {
		switch verb, group := sample.labels["verb"], sample.labels["group"]; {
		case group == "events.k8s.io" && (verb == "POST" || verb == "PATCH"):
			events += int(sample.value)
		case group == "warren.dev" && (verb == "PATCH" || verb == "APPLY" || verb == "PUT"),
			sample.labels["resource"] == "configmaps" && (verb == "POST" || verb == "PATCH"):
			writes += int(sample.value)
		}
	}
	return writes, events, err
}

func (o *operator) proc(file string) string { return fmt.Sprintf("/proc/%d/%s", o.process.Pid(), file) }

// forgetPeak begins a new measurement of the most memory.
func (o *operator) forgetPeak() error { return os.WriteFile(o.proc("clear_refs"), []byte("5"), 0) }

// peak is the most memory, in MiB, since the last forgetPeak.
func (o *operator) peak() (float64, error) {
	status, err := os.ReadFile(o.proc("status"))
	if err != nil {
		return 0, err
	}
	return peakMemory(string(status))
}

// peakMemory reads VmHWM, in MiB, out of /proc/PID/status.
func peakMemory(status string) (float64, error) {
	for line := range strings.Lines(status) {
		if value, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kib, err := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(value), " kB"))
			return float64(kib) / 1024, err
		}
	}
	return 0, fmt.Errorf("no VmHWM in %q", status)
}

// cpuTime reads user and system time out of /proc/PID/stat. The name of the
// program, in parentheses, may hold anything.
func cpuTime(stat string) (time.Duration, error) {
	const tick = 10 * time.Millisecond // USER_HZ is 100 on every Linux
	fields := strings.Fields(stat[strings.LastIndex(stat, ")")+1:])
	if len(fields) < 13 {
		return 0, fmt.Errorf("no times in %q", stat)
	}
	user, err := strconv.Atoi(fields[11])
	if err != nil {
		return 0, err
	}
	system, err := strconv.Atoi(fields[12])
	return time.Duration(user+system) * tick, err
}

// sample of a metric.
type sample struct {
	labels map[string]string
	value  float64
}

// samples of one metric out of a page in Prometheus' format. No value of a
// label that is looked at has a comma or a quote in it.
func samples(page []byte, name string) []sample {
	var found []sample
	lines := bufio.NewScanner(bytes.NewReader(page))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		rest, ok := strings.CutPrefix(lines.Text(), name+"{")
		if !ok {
			continue
		}
		inner, number, ok := strings.Cut(rest, "} ")
		value, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		if !ok || err != nil {
			continue
		}
		labels := map[string]string{}
		for pair := range strings.SplitSeq(inner, ",") {
			key, quoted, _ := strings.Cut(pair, "=")
			labels[key] = strings.Trim(quoted, `"`)
		}
		found = append(found, sample{labels, value})
	}
	return found
}
