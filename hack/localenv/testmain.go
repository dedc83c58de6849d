package localenv

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// Main runs the tests of a binary and ends the parts that they shared. Every
// package that uses ForEachBroker, Broker or SharedControlPlane needs it:
//
//	func TestMain(m *testing.M) { localenv.Main(m) }
//
// It lets more tests run at once than there are processors, unless -parallel
// says otherwise: they wait more than they work. Many more would only make
// the brokers late: each test makes a vhost.
func Main(m *testing.M) {
	if err := flag.Set("test.parallel", "8"); err != nil {
		panic(err) // every test binary has the flag
	}
	code := m.Run()
	if err := sharedParts.end(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = max(code, 1)
	}
	os.Exit(code)
}

// SharedControlPlane returns the control plane, without controllers, that all
// tests of the binary share. The first test that asks starts it.
func SharedControlPlane(t testing.TB) *ControlPlane {
	t.Helper()
	controlPlane, err := sharedControlPlane()
	if err != nil {
		t.Fatalf("control plane: %v", err)
	}
	return controlPlane
}

var sharedControlPlane = sync.OnceValues(func() (*ControlPlane, error) {
	dir, err := sharedParts.tempDir()
	if err != nil {
		return nil, err
	}
	// Not the context of the test that happens to be the first: it ends with it.
	controlPlane, err := StartControlPlane(context.Background(), filepath.Join(dir, "controlplane"), ControlPlaneOptions{})
	if err == nil {
		sharedParts.atEnd(controlPlane.Stop)
	}
	return controlPlane, err
})

// sharedParts is what has to be tidied up at the end of the test binary.
var sharedParts tidier

type tidier struct {
	mutex sync.Mutex
	tasks []func() error
}

// tempDir makes a directory that is removed at the end.
func (s *tidier) tempDir() (string, error) {
	dir, err := os.MkdirTemp("", "warren-test-")
	if err == nil {
		s.atEnd(func() error { return os.RemoveAll(dir) })
	}
	return dir, err
}

func (s *tidier) atEnd(task func() error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.tasks = append(s.tasks, task)
}

// end runs the tasks, the last first.
func (s *tidier) end() error {
	var errs []error
	for i := len(s.tasks) - 1; i >= 0; i-- {
		errs = append(errs, s.tasks[i]())
	}
	return errors.Join(errs...)
}

// SharedDir makes a directory for parts that the tests of a binary share; it
// is removed at the end.
func SharedDir() (string, error) { return sharedParts.tempDir() }

// AtEnd has something done at the end of the test binary, the last one first.
func AtEnd(task func() error) { sharedParts.atEnd(task) }
