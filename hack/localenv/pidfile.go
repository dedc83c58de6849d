package localenv

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// pidSuffix is one that the programs we run use for nothing of their own.
const pidSuffix = ".detached"

// remembered is a detached process as its pid file describes it.
type remembered struct {
	PID int `json:"pid"`
	// Started tells it from a stranger that got the same id later.
	Started string `json:"started"`
	// EndSignal is what ends it when nobody needs its data any more.
	EndSignal syscall.Signal `json:"endSignal"`
}

// remember lets another process find and end a detached process.
func remember(spec processSpec, pid int) error {
	started, err := startTime(pid)
	if err != nil {
		return fmt.Errorf("start time of %s: %w", spec.name, err)
	}
	content, err := json.Marshal(remembered{PID: pid, Started: started, EndSignal: spec.endSignal})
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(spec.dir, spec.name+pidSuffix), content, 0o644)
}

func recall(pidFile string) (remembered, error) {
	content, err := os.ReadFile(pidFile)
	if err != nil {
		return remembered{}, err
	}
	var r remembered
	if err := json.Unmarshal(content, &r); err != nil {
		return remembered{}, fmt.Errorf("%s: %w", pidFile, err)
	}
	return r, nil
}

// find returns a handle, nil when the process has ended. The start time is
// compared after the handle was opened: on Linux the handle then means that
// very process, whatever happens to its id.
func (r remembered) find() (*os.Process, error) {
	found, err := os.FindProcess(r.PID)
	if err != nil {
		return nil, err
	}
	if !r.running() {
		return nil, found.Release()
	}
	return found, nil
}

func (r remembered) running() bool {
	started, err := startTime(r.PID)
	return err == nil && started == r.Started
}

// end ends the process unless it has ended.
func (r remembered) end() error {
	found, err := r.find()
	if found == nil || err != nil {
		return err
	}
	defer func() { _ = found.Release() }()
	for _, signal := range []syscall.Signal{r.EndSignal, syscall.SIGKILL} {
		if err := ignoreGone(found.Signal(signal)); err != nil {
			return err
		}
		if r.awaitGone() {
			return nil
		}
	}
	return fmt.Errorf("process %d survives SIGKILL", r.PID)
}

// awaitGone polls: nobody but its parent can wait for a process.
func (r remembered) awaitGone() bool {
	deadline := time.Now().Add(stopGrace)
	for time.Now().Before(deadline) {
		if !r.running() {
			return true
		}
		time.Sleep(pollInterval)
	}
	return false
}

func ignoreGone(err error) error {
	if errors.Is(err, os.ErrProcessDone) {
		return nil
	}
	return err
}
