package main

import (
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/warren-mq/warren/hack/localenv"
)

func newInstall() *cobra.Command {
	return &cobra.Command{
		Use:   "install",
		Short: "Build and install everything, so that later starts are quick",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return localenv.Install(cmd.Context(), localenv.AllSeries()...)
		},
	}
}

func newUp() *cobra.Command {
	var dir string
	var parts localenv.Parts
	var series []string
	cmd := &cobra.Command{
		Use:     "up --dir DIR",
		Short:   "Start an environment that runs until it is taken down",
		Example: "  localenv up --dir .demo --controllers --rabbitmq 4.3\n  set -a; . .demo/env; set +a",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			for _, s := range series {
				parts.Series = append(parts.Series, localenv.Series(s))
			}
			environment, err := localenv.Up(cmd.Context(), dir, parts, cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			describe(cmd.OutOrStdout(), environment, dir)
			return nil
		},
	}
	addDir(cmd, &dir)
	cmd.Flags().BoolVar(&parts.Controllers, "controllers", false, "run kube-controller-manager and kube-scheduler, too")
	cmd.Flags().StringSliceVar(&series, "rabbitmq", nil, "RabbitMQ series to run: 4.0, 4.3 or both")
	return cmd
}

func newDown() *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:   "down --dir DIR",
		Short: "End an environment and remove its data",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return localenv.Down(dir)
		},
	}
	addDir(cmd, &dir)
	return cmd
}

func addDir(cmd *cobra.Command, dir *string) {
	cmd.Flags().StringVar(dir, "dir", "", "where the environment keeps its files")
	if err := cmd.MarkFlagRequired("dir"); err != nil {
		panic(err) // the flag was defined a line above
	}
}

func describe(out io.Writer, environment *localenv.Environment, dir string) {
	fmt.Fprintln(out, "kubeconfig    ", environment.Kubeconfig)
	fmt.Fprintln(out, "kubectl       ", environment.KubectlPath)
	for _, series := range environment.Parts.Series {
		fmt.Fprintln(out, "RabbitMQ", series, " ", environment.Brokers[series])
	}
	fmt.Fprintln(out, "as variables  ", filepath.Join(dir, "env"))
}
