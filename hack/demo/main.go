// Demo shows Warren at work: it starts a control plane and RabbitMQ, installs
// Warren, runs the operator under its own ServiceAccount, applies the samples,
// and sends real messages past a consumer that fails on one of them.
package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"
	ctrl "sigs.k8s.io/controller-runtime"
)

func main() {
	var dir string
	root := &cobra.Command{Use: "demo", SilenceUsage: true, SilenceErrors: true}
	root.PersistentFlags().StringVar(&dir, "dir", ".demo", "where the demo keeps its files")
	root.AddCommand(
		&cobra.Command{Use: "up", Short: "Start the demo", Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error {
			return up(cmd.Context(), dir, cmd.OutOrStdout())
		}},
		&cobra.Command{Use: "down", Short: "End the demo and remove its files", Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error {
			return down(dir, cmd.OutOrStdout())
		}},
	)
	if err := root.ExecuteContext(ctrl.SetupSignalHandler()); err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}
