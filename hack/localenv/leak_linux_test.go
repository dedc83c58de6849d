package localenv

import (
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"testing"
)

// helperVariable turns TestHelperStartsBroker into a process that starts a
// broker in this directory, says which processes that made, and waits.
const helperVariable = "WARREN_TEST_HELPER_DIR"

func TestHelperStartsBroker(t *testing.T) {
	dir := os.Getenv(helperVariable)
	if dir == "" {
		t.Skip("only of use to TestNothingOutlivesItsStarter")
	}
	broker, err := StartRabbitMQ(t.Context(), dir, Series43, RabbitMQOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var started []remembered
	for _, p := range []*process{broker.node.process, broker.node.epmd.process} {
		started = append(started, identify(t, p))
	}
	if err := json.NewEncoder(os.Stdout).Encode(started); err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
		t.Fatal(err)
	}
}

func TestNothingOutlivesItsStarter(t *testing.T) {
	if dockerAnswers(t.Context()) {
		t.Skip("containers end by a signal that the client passes on, later")
	}
	helper := exec.Command(os.Args[0], "-test.run=^TestHelperStartsBroker$")
	helper.Env = append(os.Environ(), helperVariable+"="+t.TempDir())
	helper.Stderr = os.Stderr
	if _, err := helper.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	stdout, err := helper.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := helper.Start(); err != nil {
		t.Fatal(err)
	}
	var started []remembered
	decoding := json.NewDecoder(stdout).Decode(&started)
	// As a test that panics or runs out of time: no chance to tidy up.
	if err := helper.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := helper.Wait(); err == nil {
		t.Error("the helper ended by itself")
	}
	if decoding != nil {
		t.Fatal(decoding)
	}
	for _, p := range started {
		expectGone(t, p)
	}
}
