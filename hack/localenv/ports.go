package localenv

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"
)

// Ports are taken from below the kernel's ephemeral range (32768 and up on
// Linux): no outgoing connection can take one while the broker that owns it
// is being restarted.
const (
	firstPort  = 20000
	blockSize  = 400
	portBlocks = 30
)

var ports portAllocator

// portAllocator hands out each port once. Other processes that use this
// package stay out of the way: every process owns one block of ports, by a
// lock on a file that the kernel drops when the process ends.
type portAllocator struct {
	mutex     sync.Mutex
	lock      *os.File
	next, end int
}

// take returns n ports on which nothing listens at the moment.
func (a *portAllocator) take(n int) ([]int, error) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	if a.lock == nil {
		if err := a.lockBlock(); err != nil {
			return nil, err
		}
	}
	var taken []int
	for ; len(taken) < n; a.next++ {
		if a.next == a.end {
			return nil, errors.New("no free port left in this process's block")
		}
		if isFree(a.next) {
			taken = append(taken, a.next)
		}
	}
	return taken, nil
}

func (a *portAllocator) lockBlock() error {
	cache, err := CacheDir()
	if err != nil {
		return err
	}
	dir := filepath.Join(cache, "ports")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for block := range portBlocks {
		first := firstPort + block*blockSize
		file, err := os.OpenFile(filepath.Join(dir, strconv.Itoa(first)), os.O_CREATE|os.O_RDONLY, 0o644)
		if err != nil {
			return err
		}
		if err := lock(file); err == nil {
			a.lock, a.next, a.end = file, first, first+blockSize
			return nil
		} else if !errors.Is(err, errLocked) {
			return err
		}
	}
	return fmt.Errorf("all %d blocks of ports are in use (locks in %s)", portBlocks, dir)
}

func isFree(port int) bool {
	listener, err := net.Listen("tcp", loopback(port))
	if err != nil {
		return false
	}
	return listener.Close() == nil
}

func loopback(port int) string {
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
}

// FreePorts gives ports on which a test's own program may listen.
func FreePorts(n int) ([]int, error) { return ports.take(n) }
