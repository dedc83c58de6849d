// Command localenv runs a control plane and RabbitMQ brokers on this machine.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := newCommand().ExecuteContext(ctx); err != nil {
		os.Exit(1)
	}
}

func newCommand() *cobra.Command {
	root := &cobra.Command{
		Use:          "localenv",
		Short:        "Run a Kubernetes control plane and RabbitMQ brokers on this machine",
		SilenceUsage: true,
	}
	root.AddCommand(newInstall(), newUp(), newDown())
	return root
}
