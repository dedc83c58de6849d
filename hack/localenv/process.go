package localenv

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// stopGrace is how long a process may take to end after SIGTERM.
const stopGrace = 15 * time.Second

// process is a child whose output goes to a log file.
type process struct {
	name    string
	cmd     *exec.Cmd
	logPath string
	done    chan struct{}
}

// processSpec says how to start a process.
type processSpec struct {
	name string
	cmd  *exec.Cmd
	// dir receives NAME.log, and the pid file of a detached process.
	dir string
	// detached lets the process outlive this one; else it dies with it.
	detached bool
	// endSignal is what ends it when its data does not matter: when this
	// process dies, or, detached, when Down is called.
	endSignal syscall.Signal
}

func startProcess(spec processSpec) (*process, error) {
	p := &process{
		name:    spec.name,
		cmd:     spec.cmd,
		logPath: filepath.Join(spec.dir, spec.name+".log"),
		done:    make(chan struct{}),
	}
	if err := os.MkdirAll(spec.dir, 0o755); err != nil {
		return nil, err
	}
	log, err := os.OpenFile(p.logPath, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	spec.cmd.Stdout, spec.cmd.Stderr = log, log
	if err := startTied(spec); err != nil {
		return nil, fmt.Errorf("starting %s: %w", spec.name, err)
	}
	go func() {
		// How it ended is of no interest: whoever cares sees that it ended,
		// and reads the log.
		_ = p.cmd.Wait()
		close(p.done)
	}()
	if spec.detached {
		return p, remember(spec, p.cmd.Process.Pid)
	}
	return p, nil
}

// ended is closed when the process is gone; it blocks for ever without one.
func (p *process) ended() <-chan struct{} {
	if p == nil {
		return nil
	}
	return p.done
}

func (p *process) running() bool {
	if p == nil {
		return false
	}
	select {
	case <-p.done:
		return false
	default:
		return true
	}
}

// stop asks the process to end and makes it end when it does not.
func (p *process) stop() error {
	if !p.running() {
		return nil
	}
	if err := ignoreGone(p.cmd.Process.Signal(syscall.SIGTERM)); err != nil {
		return err
	}
	select {
	case <-p.done:
		return nil
	case <-time.After(stopGrace):
		return p.kill()
	}
}

// kill ends the process without giving it a chance to tidy up.
func (p *process) kill() error {
	if !p.running() {
		return nil
	}
	if err := ignoreGone(p.cmd.Process.Kill()); err != nil {
		return err
	}
	<-p.done
	return nil
}

const tailBytes = 3000

// tail is the end of the log, introduced for use in an error message.
func (p *process) tail() string {
	if p == nil {
		return ""
	}
	content, err := os.ReadFile(p.logPath)
	if err != nil {
		return ""
	}
	content = content[max(0, len(content)-tailBytes):]
	return fmt.Sprintf("; the end of %s:\n%s", p.logPath, bytes.TrimSpace(content))
}
