package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
)

// legend says what the table compares.
const legend = `raw loop: 16 AMQP channels declare the same objects in the same order; no Kubernetes, nothing read back. It and Warren each begin with an empty broker, started in the same way.
kubectl apply alone: the same manifests while no operator runs. kubectl sends one after the other, and is part of the next row.
apply until all Ready: from the start of kubectl apply to the last Ready condition, beside the raw loop.
operator restart: from the start of the process until it stands behind every condition (it renews the Broker's Lease).
one queue deleted: right after a reading, when it takes longest; beside the sync period.
memory: the most resident memory. requests: to the broker. writes: of statuses, finalizers and ConfigMaps at the API server; Leases and Events aside.
`

// table is what is printed.
func table(results []result) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "subscriptions\tstep\tseconds\tbeside\tratio\tmemory MiB\tCPU s\tCPU % of a core\trequests\twrites\tEvents\t")
	for _, r := range results {
		fmt.Fprintf(w, "%s\t%s\t%.1f\t%s\t%s\n", r.Workload, r.Step, r.Seconds, r.beside(), r.costs())
	}
	_ = w.Flush() // into a strings.Builder
	return b.String()
}

func (r result) beside() string {
	if r.Reference == 0 {
		return "\t"
	}
	return fmt.Sprintf("%s\t%.2f", r.ReferenceIs, r.Seconds/r.Reference)
}

// costs are the operator's; it does not run in every step.
func (r result) costs() string {
	if r.PeakMiB == 0 {
		return strings.Repeat("\t", 6)
	}
	return fmt.Sprintf("%.0f\t%.1f\t%.1f\t%d\t%d\t%d\t", r.PeakMiB, r.CPUSeconds, 100*r.CPUSeconds/r.Seconds, r.Requests, r.Writes, r.Events)
}

// save keeps the results for whoever wants to compute with them.
func save(dir string, results []result) error {
	content, err := json.MarshalIndent(results, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "results.json"), content, 0o644)
}
