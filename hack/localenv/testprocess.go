package localenv

import (
	"os/exec"
	"syscall"
)

// Process is a program that runs beside a test and dies with it.
type Process struct{ process *process }

// StartProcess starts a program whose output goes to NAME.log in dir. It is
// ended by SIGKILL when this process ends, however that comes about.
func StartProcess(dir, name string, cmd *exec.Cmd) (*Process, error) {
	p, err := startProcess(processSpec{name: name, cmd: cmd, dir: dir, endSignal: syscall.SIGKILL})
	if err != nil {
		return nil, err
	}
	return &Process{p}, nil
}

// LogPath is the file that has its output.
func (p *Process) LogPath() string { return p.process.logPath }

// Running tells whether it has not ended.
func (p *Process) Running() bool { return p.process.running() }

// Stop asks it to end, and makes it end when it does not.
func (p *Process) Stop() error { return p.process.stop() }

// Kill ends it without giving it a chance to tidy up.
func (p *Process) Kill() error { return p.process.kill() }

// Pid is its process id.
func (p *Process) Pid() int { return p.process.cmd.Process.Pid }
