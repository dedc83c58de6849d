package localenv

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

var errLocked = errors.New("another process holds the lock")

// lock takes the lock on an open file or directory until it is closed, by this
// process's end at the latest. A file that it cannot lock it closes.
func lock(file *os.File) error {
	err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err == nil {
		return nil
	}
	if errors.Is(err, syscall.EWOULDBLOCK) {
		err = errLocked
	}
	return errors.Join(fmt.Errorf("locking %s: %w", file.Name(), err), file.Close())
}
