package main

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// shares is the CPU time of the programs that share the machine, by name.
type shares map[string]time.Duration

// shares up to now: of the programs that the stage has started. kubectl is
// over when it is counted.
func (s *stage) shares() (shares, error) {
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return nil, err
	}
	var lines []string
	for _, file := range stats {
		if line, err := os.ReadFile(file); err == nil { // others come and go
			lines = append(lines, string(line))
		}
	}
	found := sharesOf(os.Getpid(), lines)
	found["kubectl"] += s.kubectlCPU
	return found, nil
}

// shared runs a step and tells what the programs used meanwhile.
func (s *stage) shared(step func() (time.Duration, error)) (time.Duration, shares, error) {
	before, err := s.shares()
	if err != nil {
		return 0, nil, err
	}
	took, err := step()
	if err != nil {
		return 0, nil, err
	}
	after, err := s.shares()
	return took, after.since(before), err
}

// sharesOf adds up what the descendants of a process have used, out of the
// lines of /proc/PID/stat.
func sharesOf(ancestor int, lines []string) shares {
	parents := map[int]int{}
	type used struct {
		pid  int
		name string
		cpu  time.Duration
	}
	var all []used
	for _, line := range lines {
		head, rest, ok := strings.Cut(line, " (")
		pid, err := strconv.Atoi(head)
		end := strings.LastIndex(rest, ")")
		fields := strings.Fields(rest[end+1:])
		cpu, cpuErr := cpuTime(line)
		if !ok || err != nil || cpuErr != nil {
			continue
		}
		parents[pid], _ = strconv.Atoi(fields[1])
		all = append(all, used{pid, rest[:end], cpu})
	}
	sums := shares{}
	for _, p := range all {
		if descends(parents, p.pid, ancestor) {
			sums[p.name] += p.cpu
		}
	}
	return sums
}

func descends(parents map[int]int, pid, ancestor int) bool {
	for pid = parents[pid]; pid > 0; pid = parents[pid] {
		if pid == ancestor {
			return true
		}
	}
	return false
}

func (s shares) since(before shares) shares {
	more := shares{}
	for name, cpu := range s {
		if cpu > before[name] {
			more[name] = cpu - before[name]
		}
	}
	return more
}

// String has the greatest first and leaves out what is next to nothing.
func (s shares) String() string {
	var names []string
	for name, cpu := range s {
		if cpu >= 100*time.Millisecond {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(s[b], s[a]), cmp.Compare(a, b))
	})
	for i, name := range names {
		names[i] = fmt.Sprintf("%s %.1f s", name, s[name].Seconds())
	}
	return strings.Join(names, ", ")
}
