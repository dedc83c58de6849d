package localenv

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestEnvironmentComesUpOnceAndGoesDown(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "environment")
	endWithTest(t, func() error { return Down(dir) })
	parts := Parts{Series: []Series{Series43}}
	first := up(t, dir, parts)
	if again := up(t, dir, parts); !cmp.Equal(first, again) {
		t.Errorf("the second up changed something (-first +again):\n%s", cmp.Diff(first, again))
	}
	if _, err := Up(t.Context(), dir, Parts{Controllers: true}, io.Discard); err == nil {
		t.Error("up with other parts changed nothing and said nothing")
	}
	broker, err := Connect(t.Context(), first.Brokers[Series43])
	if err != nil {
		t.Fatal(err)
	}
	variables, err := os.ReadFile(filepath.Join(dir, envFile))
	if err != nil {
		t.Fatal(err)
	}
	if want := "WARREN_TEST_RABBITMQ_43=" + broker.Endpoint() + "\n"; !strings.Contains(string(variables), want) {
		t.Errorf("want %s in:\n%s", want, variables)
	}
	processes := remainingProcesses(t, dir)
	if err := Down(dir); err != nil {
		t.Fatal(err)
	}
	for _, process := range processes {
		expectGone(t, process)
	}
	if err := Down(dir); err != nil {
		t.Errorf("down again: %v", err)
	}
}

func TestEnvironmentThatLostAPartStartsAnew(t *testing.T) {
	dir := t.TempDir()
	endWithTest(t, func() error { return Down(dir) })
	up(t, dir, Parts{})
	lost := remainingProcesses(t, dir)[0]
	if err := lost.end(); err != nil {
		t.Fatal(err)
	}
	up(t, dir, Parts{})
	if running, err := allRun(dir); err != nil || !running {
		t.Errorf("not everything runs after the second up: %v", err)
	}
}

func TestPartsInclude(t *testing.T) {
	all := Parts{Controllers: true, Series: AllSeries()}
	for _, test := range []struct {
		reason      string
		has, wanted Parts
		want        bool
	}{
		{"the same", all, all, true},
		{"less", all, Parts{}, true},
		{"a series is missing", Parts{Series: []Series{Series40}}, Parts{Series: AllSeries()}, false},
		{"controllers are missing", Parts{}, Parts{Controllers: true}, false},
	} {
		if got := test.has.include(test.wanted); got != test.want {
			t.Errorf("%s: %t", test.reason, got)
		}
	}
}

func up(t *testing.T, dir string, parts Parts) *Environment {
	t.Helper()
	environment, err := Up(t.Context(), dir, parts, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	return environment
}

func remainingProcesses(t *testing.T, dir string) []remembered {
	t.Helper()
	files, err := pidFiles(dir)
	if err != nil || len(files) == 0 {
		t.Fatalf("%d pid files: %v", len(files), err)
	}
	var processes []remembered
	for _, file := range files {
		process, err := recall(file)
		if err != nil {
			t.Fatal(err)
		}
		processes = append(processes, process)
	}
	return processes
}
