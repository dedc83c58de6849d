package facts

import (
	"flag"
	"testing"

	"github.com/warren-mq/warren/hack/localenv"
)

// TestMain lets more tests run at once than there are processors, unless
// -parallel says otherwise: they wait more than they work. Many more would only
// make the broker late: each test makes vhosts.
func TestMain(m *testing.M) {
	if err := flag.Set("test.parallel", "8"); err != nil {
		panic(err)
	}
	localenv.Main(m)
}
