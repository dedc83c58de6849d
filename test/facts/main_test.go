package facts

import (
	"flag"
	"testing"

	"github.com/warren-mq/warren/hack/localenv"
)

// TestMain lets many tests run at once, unless -parallel says otherwise: they
// wait far more than they work.
func TestMain(m *testing.M) {
	if err := flag.Set("test.parallel", "8"); err != nil {
		panic(err)
	}
	localenv.Main(m)
}
