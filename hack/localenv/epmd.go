package localenv

import (
	"context"
	"fmt"
	"sync"
)

// epmd is the port mapper that the nodes of one instance share. Each instance
// has its own: a machine-wide one would outlive us, and would mix up nodes of
// the same name.
type epmd struct {
	runtime  brokerRuntime
	instance string
	dir      string
	port     int
	// published are the nodes' ports that this machine is to reach.
	published []int
	detached  bool

	mutex   sync.Mutex
	process *process
}

// ensure starts it unless it runs, and waits until it answers: a node that
// finds none starts one itself.
func (e *epmd) ensure(ctx context.Context) error {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	if e.process.running() {
		return nil
	}
	var err error
	e.process, err = startProcess(processSpec{
		name:      "epmd",
		cmd:       e.runtime.epmd(e.instance, e.port, e.published),
		dir:       e.dir,
		detached:  e.detached,
		endSignal: e.runtime.endSignal(),
	})
	if err != nil {
		return err
	}
	return await(ctx, e.process, func(ctx context.Context) error {
		if out, err := e.runtime.askEPMD(ctx, e.instance, e.port).CombinedOutput(); err != nil {
			return fmt.Errorf("epmd does not answer: %w: %s", err, out)
		}
		return nil
	})
}

func (e *epmd) stop() error {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	return e.process.stop()
}
