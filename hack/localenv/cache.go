package localenv

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// CacheDir is where built binaries and installed brokers are kept between
// runs: $WARREN_CACHE if set, else warren in the user's cache directory.
func CacheDir() (string, error) {
	if dir := os.Getenv("WARREN_CACHE"); dir != "" {
		return filepath.Abs(dir)
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("no cache directory (set WARREN_CACHE): %w", err)
	}
	return filepath.Join(dir, "warren"), nil
}

// hackDir finds the repository's hack directory from the working directory
// upwards: go test runs a package's tests in that package's directory.
func hackDir() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		hack := filepath.Join(dir, "hack")
		if _, err := os.Stat(filepath.Join(hack, "controlplane", "build.sh")); err == nil {
			return hack, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errors.New("hack/controlplane/build.sh not found: run this inside Warren's repository")
		}
		dir = parent
	}
}
