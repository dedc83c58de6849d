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
	return b.setAlarm(ctx, raised, "set_vm_memory_high_watermark", watermark)
}

// SetDiskAlarm does the same with the alarm about free disk space.
func (b *RabbitMQ) SetDiskAlarm(ctx context.Context, raised bool) error {
	limit := diskFreeLimit
	if raised {
		limit = "1000000GB" // more than there is
	}
	return b.setAlarm(ctx, raised, "set_disk_free_limit", limit)
}

// setAlarm changes a limit and waits for what the node makes of it.
func (b *RabbitMQ) setAlarm(ctx context.Context, raised bool, command, limit string) error {
	if _, err := b.Ctl(ctx, command, limit); err != nil {
		return err
	}
	return await(ctx, b.process(), func(ctx context.Context) error {
		alarm, err := b.hasAlarm(ctx)
		if err == nil && alarm != raised {
			err = fmt.Errorf("after %s an alarm is raised: %t, want %t", command, alarm, raised)
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
