package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os/exec"
	"strings"
)

// kubectl runs the control plane's own kubectl.
type kubectl struct {
	path       string
	kubeconfig string
	out        io.Writer
}

// quiet runs a command and shows its output only when it fails.
func (k kubectl) quiet(ctx context.Context, args ...string) error {
	_, err := k.output(ctx, args...)
	return err
}

// show runs a command and shows its output, set in a little.
func (k kubectl) show(ctx context.Context, args ...string) error {
	output, err := k.output(ctx, args...)
	for line := range strings.Lines(output) {
		fmt.Fprint(k.out, "   ", line)
	}
	return err
}

func (k kubectl) output(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, k.path, append([]string{"--kubeconfig=" + k.kubeconfig}, args...)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	output, err := cmd.Output()
	if err != nil {
		return string(output), fmt.Errorf("kubectl %s: %w\n%s", strings.Join(args, " "), err, stderr.String())
	}
	return string(output), nil
}
