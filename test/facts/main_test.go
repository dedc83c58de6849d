package facts

import (
	"testing"

	"github.com/warren-mq/warren/hack/localenv"
)

func TestMain(m *testing.M) { localenv.Main(m) }
