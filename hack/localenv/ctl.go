package localenv

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
)

// Ctl runs rabbitmqctl on the node and returns what it prints.
func (b *RabbitMQ) Ctl(ctx context.Context, args ...string) (string, error) {
	if b.node == nil {
		return "", errNotOurs
	}
	cmd := b.node.epmd.runtime.tool(ctx, b.node.config, append([]string{"rabbitmqctl", "--quiet"}, args...)...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("rabbitmqctl %s: %w: %s%s", strings.Join(args, " "), err, stdout.Bytes(), stderr.Bytes())
	}
	return stdout.String(), nil
}

// SetMemoryAlarm raises the memory alarm, under which the broker takes no
// messages from publishers, or clears it.
func (b *RabbitMQ) SetMemoryAlarm(ctx context.Context, raised bool) error {
	watermark := "0.6" // the default
	if raised {
		watermark = "0"
	}
	if _, err := b.Ctl(ctx, "set_vm_memory_high_watermark", watermark); err != nil {
		return err
	}
	return await(ctx, b.process(), func(ctx context.Context) error {
		alarm, err := b.hasAlarm(ctx)
		if err == nil && alarm != raised {
			err = fmt.Errorf("memory alarm raised: %t, want %t", alarm, raised)
		}
		return err
	})
}

func (b *RabbitMQ) hasAlarm(ctx context.Context) (bool, error) {
	err := b.get(ctx, nil, "health", "checks", "local-alarms")
	var status statusError
	if errors.As(err, &status) && status.code == http.StatusServiceUnavailable {
		return true, nil
	}
	return false, err
}
