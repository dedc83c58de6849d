package localenv

import (
	"context"
	"os/exec"
	"path/filepath"
	"time"
)

// Prometheus gives the directory that has the programs prometheus and
// promtool: that of $PATH if they are there, else one in the cache, into which
// they are downloaded from Debian.
func Prometheus(ctx context.Context) (string, error) {
	if path, err := exec.LookPath("promtool"); err == nil {
		return filepath.Dir(path), nil
	}
	cache, err := CacheDir()
	if err != nil {
		return "", err
	}
	hack, err := hackDir()
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	root := filepath.Join(cache, "prometheus")
	return filepath.Join(root, "usr", "bin"), runVisibly(ctx, filepath.Join(hack, "prometheus", "install.sh"), root)
}
