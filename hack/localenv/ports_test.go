package localenv

import (
	"net"
	"testing"
)

func TestAllocatorsShareNoPort(t *testing.T) {
	t.Setenv("WARREN_CACHE", t.TempDir())
	seen := map[int]bool{}
	for range 2 { // as two processes would
		var allocator portAllocator
		for range 3 {
			taken, err := allocator.take(5)
			if err != nil {
				t.Fatal(err)
			}
			for _, port := range taken {
				if seen[port] {
					t.Errorf("port %d was given out twice", port)
				}
				seen[port] = true
			}
		}
	}
}

func TestPortInUseIsSkipped(t *testing.T) {
	t.Setenv("WARREN_CACHE", t.TempDir())
	var allocator portAllocator
	taken, err := allocator.take(1)
	if err != nil {
		t.Fatal(err)
	}
	busy := taken[0] + 1
	if listener, err := net.Listen("tcp", loopback(busy)); err == nil {
		defer listener.Close()
	}
	taken, err = allocator.take(1)
	if err != nil {
		t.Fatal(err)
	}
	if taken[0] == busy {
		t.Errorf("port %d was given out while something listened on it", busy)
	}
}
