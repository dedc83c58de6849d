package wait

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Options say what to wait for.
type Options struct {
	// Namespace of names that have none.
	Namespace string
	// Topics that must be open for publishing: NAME or NAMESPACE/NAME.
	Topics []string
	// Subscriptions that must be established.
	Subscriptions []string
	// Timeout ends the wait.
	Timeout time.Duration
	// Progress is told what is missing, when that changes and now and then.
	Progress io.Writer
}

const (
	// pollEvery is a request for each thing that is waited for: many pods may
	// wait at once, so they don't ask more often, nor all at the same moment.
	pollEvery = time.Second
	jitter    = 0.5
	// repeatEvery is when a progress line is written though nothing has changed.
	repeatEvery = 30 * time.Second
)

// Run returns nil when everything is ready, and an error that says what was
// missing when the time is over.
func Run(ctx context.Context, c client.Reader, o Options) error {
	targets := o.targets()
	if err := o.invalid(targets); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, o.Timeout)
	defer cancel()
	p := progress{out: o.Progress, begun: time.Now(), timeout: o.Timeout}
	for {
		missing := look(ctx, c, targets)
		if len(missing) == 0 && ctx.Err() == nil {
			fmt.Fprintf(o.Progress, "ready after %s: %s\n", p.waited(), names(targets))
			return nil
		}
		// What is missing because the time is over says nothing about it.
		if ctx.Err() == nil || p.last == "" {
			p.tell(missing)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("gave up after %s: %s", p.waited(), p.last)
		case <-time.After(wait.Jitter(pollEvery, jitter)):
		}
	}
}

// invalid says what no waiting can help.
func (o Options) invalid(targets []target) error {
	if len(targets) == 0 {
		return errors.New("nothing to wait for: give --topic or --subscription")
	}
	if o.Timeout <= 0 {
		return fmt.Errorf("--timeout is %s, and must be longer than nothing", o.Timeout)
	}
	for _, t := range targets {
		wrong := append(validation.IsDNS1123Label(t.key.Namespace), validation.IsDNS1123Subdomain(t.key.Name)...)
		if len(wrong) > 0 {
			return fmt.Errorf("%q in %q cannot be the name of a %s: %s", t.key.Name, t.key.Namespace, t.kind, wrong[0])
		}
	}
	return nil
}

func (o Options) targets() []target {
	var targets []target
	for _, name := range o.Topics {
		targets = append(targets, topicTarget(key(o.Namespace, name)))
	}
	for _, name := range o.Subscriptions {
		targets = append(targets, subscriptionTarget(key(o.Namespace, name)))
	}
	return targets
}

func key(namespace, name string) types.NamespacedName {
	if other, rest, foreign := strings.Cut(name, "/"); foreign {
		namespace, name = other, rest
	}
	return types.NamespacedName{Namespace: namespace, Name: name}
}

// missed is a target with what it lacks.
type missed struct {
	target target
	lack   *lack
}

func look(ctx context.Context, c client.Reader, targets []target) []missed {
	var all []missed
	for _, t := range targets {
		if l := t.missing(ctx, c, time.Now()); l != nil {
			all = append(all, missed{t, l})
		}
	}
	return all
}

func names(targets []target) string {
	all := make([]string, 0, len(targets))
	for _, t := range targets {
		all = append(all, t.String())
	}
	return strings.Join(all, ", ")
}
