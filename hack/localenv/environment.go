package localenv

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// Parts say what an environment consists of besides etcd and kube-apiserver.
type Parts struct {
	// Controllers adds kube-controller-manager and kube-scheduler.
	Controllers bool
	// Series are the RabbitMQ brokers, one node each.
	Series []Series
}

// Environment is a control plane with brokers that outlives its starter.
type Environment struct {
	// Parts is what it consists of.
	Parts Parts
	// Kubeconfig is the path of a kubeconfig with all rights.
	Kubeconfig string
	// KubectlPath is a kubectl of the control plane's version.
	KubectlPath string
	// Brokers holds each broker's endpoint, which Connect takes.
	Brokers map[Series]string
}

// What an environment's directory holds, besides a directory for each broker.
const (
	stateFile       = "state.json"
	envFile         = "env"
	controlPlaneDir = "controlplane"
)

func brokerDir(series Series) string { return "rabbitmq-" + string(series) }

// Up starts an environment in dir, detached, and says on progress what it
// does. One that is up already is used again; one of which a part has ended is
// started anew.
func Up(ctx context.Context, dir string, parts Parts, progress io.Writer) (*Environment, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	unlock, err := lockEnvironment(dir)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if running, err := runningEnvironment(dir); err != nil || running != nil {
		if err == nil && !running.Parts.include(parts) {
			err = fmt.Errorf("%s is up with other parts: take it down first", dir)
		}
		return running, err
	}
	if err := tearDown(dir); err != nil {
		return nil, err
	}
	environment, err := startEnvironment(ctx, dir, parts, progress)
	if err != nil {
		return nil, errors.Join(err, tearDown(dir))
	}
	return environment, nil
}

// Down ends all that Up started in dir and removes what it wrote. It does
// nothing where nothing is up.
func Down(dir string) error {
	unlock, err := lockEnvironment(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer unlock()
	return tearDown(dir)
}

// lockEnvironment keeps a second up or down out until unlock is called.
func lockEnvironment(dir string) (unlock func(), err error) {
	file, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	if err := lock(file); err != nil {
		return nil, fmt.Errorf("%s is being brought up or down: %w", dir, err)
	}
	return func() { _ = file.Close() }, nil
}

// runningEnvironment returns what an earlier Up left, nil unless all of it runs.
func runningEnvironment(dir string) (*Environment, error) {
	content, err := os.ReadFile(filepath.Join(dir, stateFile))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	environment := &Environment{}
	if err := json.Unmarshal(content, environment); err != nil {
		return nil, fmt.Errorf("%s: %w", stateFile, err)
	}
	running, err := allRun(dir)
	if err != nil || !running {
		return nil, err
	}
	return environment, nil
}

func (p Parts) include(wanted Parts) bool {
	for _, series := range wanted.Series {
		if !slices.Contains(p.Series, series) {
			return false
		}
	}
	return p.Controllers || !wanted.Controllers
}

func startEnvironment(ctx context.Context, dir string, parts Parts, progress io.Writer) (*Environment, error) {
	// Whatever has to be built or fetched says so itself, on lines of its own.
	if err := Install(ctx, parts.Series...); err != nil {
		return nil, err
	}
	environment := &Environment{Parts: parts, Brokers: map[Series]string{}}
	begun := report(progress, "control plane")
	plane, err := StartControlPlane(ctx, filepath.Join(dir, controlPlaneDir),
		ControlPlaneOptions{Controllers: parts.Controllers, Detached: true})
	if err != nil {
		return nil, err
	}
	environment.Kubeconfig, environment.KubectlPath = plane.Kubeconfig, plane.KubectlPath
	begun.done()
	for _, series := range parts.Series {
		begun := report(progress, "RabbitMQ "+string(series))
		broker, err := StartRabbitMQ(ctx, filepath.Join(dir, brokerDir(series)), series, RabbitMQOptions{Detached: true})
		if err != nil {
			return nil, err
		}
		environment.Brokers[series] = broker.Endpoint()
		begun.done()
	}
	return environment, environment.save(dir)
}

// save writes the state for the next Up, and the same as variables for
// whatever is to use the environment.
func (e *Environment) save(dir string) error {
	state, err := json.MarshalIndent(e, "", "  ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, envFile), []byte(e.variables()), 0o600); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, stateFile), state, 0o600)
}

// variables are lines of NAME=VALUE.
func (e *Environment) variables() string {
	lines := fmt.Sprintf("KUBECONFIG=%s\nKUBECTL=%s\n", e.Kubeconfig, e.KubectlPath)
	for _, series := range e.Parts.Series {
		lines += fmt.Sprintf("%s=%s\n", sources[series].envName, e.Brokers[series])
	}
	return lines
}

// step is something that takes a while, on a line of its own.
type step struct {
	progress io.Writer
	begun    time.Time
}

func report(progress io.Writer, what string) step {
	fmt.Fprintf(progress, "   starting %s … ", what)
	return step{progress: progress, begun: time.Now()}
}

func (s step) done() {
	fmt.Fprintf(s.progress, "%.1fs\n", time.Since(s.begun).Seconds())
}
