//go:build !linux

package localenv

import (
	"context"
	"errors"
)

func installRoot(context.Context, string) (brokerRuntime, error) {
	return nil, errors.New("RabbitMQ needs a docker engine here, or a running broker that WARREN_TEST_RABBITMQ_40 or _43 describes")
}
