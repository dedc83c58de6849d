package localenv

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"sync"
	"syscall"
)

// spawner runs functions on one operating system thread that lives as long as
// this process: the kernel sends a child its death signal when the thread that
// started it ends, not when the process does.
var spawner = sync.OnceValue(func() chan<- func() {
	work := make(chan func())
	go func() {
		runtime.LockOSThread()
		for f := range work {
			f()
		}
	}()
	return work
})

// startTied starts a command that dies with this process, or, detached, that
// no signal to this process or its terminal reaches.
func startTied(spec processSpec) error {
	if spec.cmd.SysProcAttr == nil {
		spec.cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	attr := spec.cmd.SysProcAttr
	if spec.detached {
		attr.Setsid = true
		return spec.cmd.Start()
	}
	attr.Pdeathsig = spec.endSignal
	result := make(chan error)
	spawner() <- func() { result <- spec.cmd.Start() }
	return <-result
}

// startTime identifies a process together with its id, which is used again.
func startTime(pid int) (string, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return "", err
	}
	// Counted from the end of the command's name, which may hold anything.
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	const state, started = 0, 19
	if len(fields) <= started {
		return "", fmt.Errorf("/proc/%d/stat: %d fields after the name", pid, len(fields))
	}
	if string(fields[state]) == "Z" {
		return "", fmt.Errorf("process %d has ended, and its parent does not care", pid)
	}
	return string(fields[started]), nil
}
