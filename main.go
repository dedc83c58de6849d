// Warren declares reliable RabbitMQ subscriptions from Kubernetes resources.
package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"
	ctrl "sigs.k8s.io/controller-runtime"
)

// version is set by the linker.
var version = "dev"

func main() {
	root := &cobra.Command{
		Use:           "warren",
		Short:         "Reliable RabbitMQ subscriptions as Kubernetes resources",
		Version:       version,
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.AddCommand(operatorCommand())
	if err := root.ExecuteContext(ctrl.SetupSignalHandler()); err != nil {
		fmt.Fprintln(os.Stderr, "warren:", err)
		os.Exit(1)
	}
}
