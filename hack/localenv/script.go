package localenv

import (
	"context"
	"os"
	"os/exec"
)

// runVisibly shows what a program says while it runs: it may take minutes.
func runVisibly(ctx context.Context, program string, args ...string) error {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	return cmd.Run()
}
