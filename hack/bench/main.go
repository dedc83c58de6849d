// Bench measures Warren beside the broker alone: it starts a control plane and
// RabbitMQ 4.3, runs the real operator under its own ServiceAccount, and prints
// one table of ratios between what Warren takes and what a loop takes that
// declares the same objects in the same order without Kubernetes. Figures of
// one machine say little; ratios of one run do.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"
	ctrl "sigs.k8s.io/controller-runtime"
)

// options of a run.
type options struct {
	// fixed is how many fixedDelay subscriptions there are; 0 leaves them out.
	fixed int
	// sizes are the numbers of backoff subscriptions, each measured on its own.
	sizes      []int
	syncPeriod time.Duration
	dir        string
	operator   string
	// profile collects profiles of the operator in dir.
	profile bool
	// plot is where the curve over the sizes goes; "" draws none.
	plot string
}

func main() {
	var o options
	cmd := &cobra.Command{
		Use: "bench", Short: "Measure Warren beside the broker alone", Args: cobra.NoArgs,
		SilenceUsage: true, SilenceErrors: true,
		RunE: func(cmd *cobra.Command, _ []string) error { return run(cmd.Context(), o, cmd.OutOrStdout()) },
	}
	flags := cmd.Flags()
	flags.IntVar(&o.fixed, "fixed", 200, "fixedDelay subscriptions of the first step; 0 leaves it out")
	flags.IntSliceVar(&o.sizes, "subscriptions", []int{1000}, "backoff subscriptions with three delays; several numbers, comma-separated, are measured one after the other")
	flags.DurationVar(&o.syncPeriod, "sync-period", 30*time.Second, "the Broker's syncPeriod")
	flags.StringVar(&o.dir, "dir", ".bench", "where data, logs, profiles and results go")
	flags.StringVar(&o.operator, "operator", "bin/warren", "the operator's binary")
	flags.BoolVar(&o.profile, "profile", false, "write CPU and heap profiles of the operator to --dir")
	flags.StringVar(&o.plot, "plot", "", "file for a plot (SVG) over the numbers of subscriptions")
	if err := cmd.ExecuteContext(ctrl.SetupSignalHandler()); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options, out io.Writer) error {
	s, err := newStage(ctx, o, out)
	if err != nil {
		return err
	}
	defer s.leave()
	var results []result
	if o.fixed > 0 {
		r, err := s.scene(ctx, workload{count: o.fixed, strategy: fixedDelay})
		if err != nil {
			return err
		}
		results = append(results, r...)
	}
	for _, n := range o.sizes {
		r, err := s.scene(ctx, workload{count: n, strategy: backoff})
		if err != nil {
			return err
		}
		results = append(results, r...)
	}
	fmt.Fprint(out, "\n", table(results), "\n", legend)
	if err := save(o.dir, results); err != nil || o.plot == "" {
		return err
	}
	return os.WriteFile(o.plot, []byte(plot(results)), 0o644)
}
