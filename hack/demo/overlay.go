package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/warren-mq/warren/hack/localenv"
)

// The credentials that config/samples/broker.yaml has.
const (
	sampleUser     = "warren"
	samplePassword = "p@ss/w:rd%"
)

// overlay is a kustomization over config/samples.
const overlay = `resources: [%s]
patches:
  - target: {kind: Broker}
    patch: |
      - {op: replace, path: /spec/amqp/url, value: %q}
      - {op: replace, path: /spec/management/url, value: %q}
      - {op: replace, path: /spec/syncPeriod, value: 1s}
  - target: {kind: ReliableSubscription, name: billing}
    patch: |
      - {op: replace, path: /spec/retry/backoff/delays, value: [1s, 3s, 6s]}
`

func writeOverlay(dir string, broker *localenv.RabbitMQ) error {
	samples, err := filepath.Abs("config/samples")
	if err != nil {
		return err
	}
	// kustomize takes relative paths only.
	relative, err := filepath.Rel(dir, samples)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	content := fmt.Sprintf(overlay, relative, broker.AMQPURL(), broker.ManagementURL())
	return os.WriteFile(filepath.Join(dir, "kustomization.yaml"), []byte(content), 0o644)
}
