package localenv

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
)

// ErrRunning says that a process of that name runs already.
var ErrRunning = errors.New("it runs already")

// StartDetached starts a process beside an environment that is up in dir: it
// outlives its starter, and Down ends it. Its output goes to a log file, whose
// path is returned. The error is ErrRunning when one of that name runs.
func StartDetached(dir, name string, cmd *exec.Cmd) (log string, err error) {
	if err := expectNotRunning(filepath.Join(dir, name+pidSuffix)); err != nil {
		return "", err
	}
	p, err := startProcess(processSpec{name: name, cmd: cmd, dir: dir, detached: true, endSignal: syscall.SIGTERM})
	if err != nil {
		return "", err
	}
	return p.logPath, nil
}

func expectNotRunning(pidFile string) error {
	process, err := recall(pidFile)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err == nil && process.running() {
		err = ErrRunning
	}
	return err
}
