package main

import (
	"flag"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	"k8s.io/client-go/tools/clientcmd"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/warren-mq/warren/internal/wait"
)

// apiPatience is how long one request may take: a server that hangs must not
// make the wait longer than its time-out by much.
const apiPatience = 10 * time.Second

func waitCommand() *cobra.Command {
	var o wait.Options
	cmd := &cobra.Command{
		Use:   "wait (--topic NAME | --subscription NAME) ... [-n NAMESPACE] [--timeout DURATION]",
		Short: "Wait until topics are open for publishing and subscriptions are established",
		Long: "Waits until every Topic named is open for publishing and every ReliableSubscription named is established,\n" +
			"also for those that do not exist yet. A status counts only while the operator reads the broker: one that was\n" +
			"left by an operator that has died, or written before the broker went, is not believed.\n" +
			"Exits with 0 when all are ready, and with 1 when the time is over, saying what was missing.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.Progress = cmd.ErrOrStderr()
			return runWait(cmd, o)
		},
	}
	flags := cmd.Flags()
	flags.AddGoFlag(flag.Lookup("kubeconfig"))
	flags.StringSliceVar(&o.Topics, "topic", nil, "Topic that must be open for publishing, NAME or NAMESPACE/NAME; may be given several times")
	flags.StringSliceVar(&o.Subscriptions, "subscription", nil, "ReliableSubscription that must be established; may be given several times")
	flags.StringVarP(&o.Namespace, "namespace", "n", "", "namespace of names without one (default: the pod's own, or the kubeconfig's)")
	flags.DurationVar(&o.Timeout, "timeout", 5*time.Minute, "how long to wait")
	return cmd
}

func runWait(cmd *cobra.Command, o wait.Options) error {
	ctrl.SetLogger(logr.Discard()) // what there is to say, it says itself
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = flag.Lookup("kubeconfig").Value.String()
	kubeconfig := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &clientcmd.ConfigOverrides{})
	config, err := kubeconfig.ClientConfig()
	if err != nil {
		return fmt.Errorf("no way to the API server, give --kubeconfig outside of a cluster: %w", err)
	}
	config.Timeout = apiPatience
	if o.Namespace == "" {
		if o.Namespace, _, err = kubeconfig.Namespace(); err != nil {
			return err
		}
	}
	scheme, err := newScheme()
	if err != nil {
		return err
	}
	c, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		return err
	}
	return wait.Run(cmd.Context(), c, o)
}
