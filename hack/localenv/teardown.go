package localenv

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
)

// tearDown ends the detached processes below dir and removes their files.
func tearDown(dir string) error {
	if err := endAll(dir); err != nil {
		return err
	}
	names := []string{stateFile, envFile, controlPlaneDir}
	for _, series := range AllSeries() {
		names = append(names, brokerDir(series))
	}
	for _, name := range names {
		if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	return nil
}

// allRun tells whether all processes with a pid file below dir still run.
func allRun(dir string) (bool, error) {
	files, err := pidFiles(dir)
	if err != nil {
		return false, err
	}
	for _, file := range files {
		process, err := recall(file)
		if err != nil || !process.running() {
			return false, err
		}
	}
	return true, nil
}

// endAll ends all processes with a pid file below dir, at the same time: their
// data goes, too, so that none needs another one to save it.
func endAll(dir string) error {
	files, err := pidFiles(dir)
	if err != nil {
		return err
	}
	errs := make([]error, len(files))
	var wait sync.WaitGroup
	for i, file := range files {
		wait.Go(func() { errs[i] = endProcess(file) })
	}
	wait.Wait()
	return errors.Join(errs...)
}

// pidFiles looks no deeper than into the parts' own directories: the brokers'
// data below them changes while one looks.
func pidFiles(dir string) ([]string, error) {
	var files []string
	for _, pattern := range []string{"*" + pidSuffix, "*/*" + pidSuffix} {
		found, err := fs.Glob(os.DirFS(dir), pattern)
		if err != nil {
			return nil, err
		}
		for _, name := range found {
			files = append(files, filepath.Join(dir, name))
		}
	}
	return files, nil
}

// endProcess ends the process that a pid file remembers, and the file.
func endProcess(pidFile string) error {
	process, err := recall(pidFile)
	if err != nil {
		return err
	}
	if err := process.end(); err != nil {
		return err
	}
	return os.Remove(pidFile)
}
