package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/warren-mq/warren/hack/localenv"
)

// operator is a running one.
type operator struct {
	process *localenv.Process
	metrics string
	pprof   string
	begun   time.Time
}

func (s *stage) startOperator() error {
	ports, err := localenv.FreePorts(2)
	if err != nil {
		return err
	}
	o := &operator{metrics: fmt.Sprintf("127.0.0.1:%d", ports[0]), pprof: fmt.Sprintf("127.0.0.1:%d", ports[1]), begun: time.Now()}
	o.process, err = localenv.StartProcess(s.dir, "operator", exec.Command(s.options.operator, "operator",
		"--kubeconfig="+s.operatorKubeconfig(), "--metrics-bind-address="+o.metrics,
		"--health-probe-bind-address=0", "--pprof-bind-address="+o.pprof))
	s.operator = o
	return err
}

func (s *stage) stopOperator() error {
	if s.operator == nil {
		return nil
	}
	o := s.operator
	s.operator = nil
	return o.process.Stop()
}

// profiling writes a CPU profile of what follows, until the function that it
// gives is called; that one writes a heap profile too.
func (s *stage) profiling(ctx context.Context, name string) (end func() error) {
	if !s.profile {
		return func() error { return nil }
	}
	// The server gives up a profile whose reader leaves: fixed portions, one after the other.
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() {
		var err error
		for i := 0; err == nil; i++ {
			err = s.fetch(ctx, "/debug/pprof/profile?seconds=10", fmt.Sprintf("%s-cpu-%02d.pprof", name, i))
		}
		done <- err
	}()
	return func() error {
		err := s.fetch(context.WithoutCancel(ctx), "/debug/pprof/allocs", name+"-allocs.pprof")
		cancel()
		if cpu := <-done; !errors.Is(cpu, context.Canceled) {
			err = errors.Join(err, cpu)
		}
		return err
	}
}

func (s *stage) fetch(ctx context.Context, path, file string) error {
	body, err := get(ctx, "http://"+s.operator.pprof+path)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(s.dir, file), body, 0o644)
}

// get wants a 200 and gives the body.
func get(ctx context.Context, url string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s answers %s", url, response.Status)
	}
	return body, err
}
