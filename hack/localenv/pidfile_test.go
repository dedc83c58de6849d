package localenv

import (
	"context"
	"errors"
	"os/exec"
	"syscall"
	"testing"
)

func TestStrangerWithTheSameIDIsLeftAlone(t *testing.T) {
	stranger := exec.Command("sleep", "600")
	if err := stranger.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = stranger.Process.Kill(); _ = stranger.Wait() })
	ours := remembered{PID: stranger.Process.Pid, Started: "long ago", EndSignal: syscall.SIGKILL}
	if err := ours.end(); err != nil {
		t.Fatal(err)
	}
	if err := stranger.Process.Signal(syscall.Signal(0)); err != nil {
		t.Errorf("the stranger is gone: %v", err)
	}
}

func TestStoppingTwice(t *testing.T) {
	p, err := startProcess(processSpec{
		name:      "sleeper",
		cmd:       exec.Command("sleep", "600"),
		dir:       t.TempDir(),
		endSignal: syscall.SIGKILL,
	})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := p.stop(); err != nil {
			t.Fatal(err)
		}
		if p.running() {
			t.Fatal("running after stop")
		}
	}
}

func identify(t *testing.T, p *process) remembered {
	t.Helper()
	pid := p.cmd.Process.Pid
	started, err := startTime(pid)
	if err != nil {
		t.Fatal(err)
	}
	return remembered{PID: pid, Started: started}
}

func expectGone(t *testing.T, p remembered) {
	t.Helper()
	err := await(t.Context(), nil, func(context.Context) error {
		if p.running() {
			return errors.New("still there")
		}
		return nil
	})
	if err != nil {
		t.Errorf("process %d: %v", p.PID, err)
	}
}
