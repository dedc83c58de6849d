//go:build !linux

package localenv

import (
	"os/exec"
	"strconv"
	"strings"
	"syscall"
)

// startTied starts a command in a session of its own when detached. Only Linux
// can tie a child's life to this process: elsewhere what is not stopped stays.
func startTied(spec processSpec) error {
	if spec.detached {
		spec.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	}
	return spec.cmd.Start()
}

// startTime identifies a process together with its id, which is used again.
func startTime(pid int) (string, error) {
	out, err := exec.Command("ps", "-o", "lstart=", "-p", strconv.Itoa(pid)).Output()
	return strings.TrimSpace(string(out)), err
}
