package localenv

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// controlPlaneBinaries returns the directory of the control plane's binaries:
// $KUBEBUILDER_ASSETS if set, else one in the cache, built when missing.
func controlPlaneBinaries(ctx context.Context) (string, error) {
	if dir := os.Getenv("KUBEBUILDER_ASSETS"); dir != "" {
		return dir, nil
	}
	hack, err := hackDir()
	if err != nil {
		return "", err
	}
	source := filepath.Join(hack, "controlplane")
	version, err := kubernetesVersion(ctx, source)
	if err != nil {
		return "", err
	}
	cache, err := CacheDir()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(cache, "kubernetes-"+version)
	if err := runVisibly(ctx, filepath.Join(source, "build.sh"), dir); err != nil {
		return "", fmt.Errorf("building the control plane: %w", err)
	}
	return dir, nil
}

func kubernetesVersion(ctx context.Context, moduleDir string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Version}}", "k8s.io/kubernetes")
	cmd.Dir = moduleDir
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("go list in %s: %w", moduleDir, err)
	}
	return strings.TrimSpace(string(out)), nil
}
