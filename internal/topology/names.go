package topology

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/warren-mq/warren/api/v1alpha1"
)

const (
	// maxWorkQueueBytes leaves room for the longest derived name.
	maxWorkQueueBytes = 230
	maxNameBytes      = 255
	// reservedPrefix of names that RabbitMQ refuses with a 403.
	reservedPrefix = "amq."
	// maxRungs is how many delays a ladder can have in the API.
	maxRungs = 10
)

// Names of everything that a subscription is on a broker. All are derived
// from the work queue's, save the parking queue's, which may be chosen.
type Names struct {
	Work    string
	Parking string
}

// NamesOf gives the names for a subscription, with the defaults filled in.
func NamesOf(namespace, name string, spec *v1alpha1.ReliableSubscriptionSpec) Names {
	n := Names{Work: namespace + "." + name}
	if spec.WorkQueue != nil && spec.WorkQueue.Name != "" {
		n.Work = spec.WorkQueue.Name
	}
	n.Parking = n.Work + ".parking"
	if spec.ParkingQueue != nil && spec.ParkingQueue.Name != "" {
		n.Parking = spec.ParkingQueue.Name
	}
	return n
}

// Dead is the exchange that every dying message of the work queue comes to.
func (n Names) Dead() string { return n.Work + ".dead" }

// Park is the exchange before the parking queue.
func (n Names) Park() string { return n.Work + ".park" }

// Redrive is the exchange through which parked messages come back.
func (n Names) Redrive() string { return n.Work + ".redrive" }

// Retry is the exchange that rejected messages come to.
func (n Names) Retry() string { return n.Work + ".retry" }

// First is the exchange for first rejections.
func (n Names) First() string { return n.Work + ".retry.first" }

// FirstIdle is the other side of First, for changes of the first rung.
func (n Names) FirstIdle() string { return n.Work + ".retry.first.b" }

// Return is the exchange through which rung k (from 1) comes back.
func (n Names) Return(k int) string { return n.returnPrefix() + strconv.Itoa(k) }

// Wait is the wait queue of rung k (from 1). The delay is in the name, so
// that another delay is another queue.
func (n Names) Wait(k int, delay time.Duration) string {
	return fmt.Sprintf("%s.wait.%d.%s", n.Work, k, v1alpha1.FormatDuration(delay))
}

// FixedReturn is the return exchange of retry fixedDelay.
func (n Names) FixedReturn() string { return n.Work + ".return" }

// FixedWait is the wait queue of retry fixedDelay.
func (n Names) FixedWait(delay time.Duration) string {
	return fmt.Sprintf("%s.wait.%s", n.Work, v1alpha1.FormatDuration(delay))
}

func (n Names) returnPrefix() string { return n.Work + ".return." }

// Rung tells which rung's return exchange this is, or 0 for another name. A
// number that no ladder reaches is another name: it was not made by Warren.
func (n Names) Rung(exchange string) int {
	digits, ok := strings.CutPrefix(exchange, n.returnPrefix())
	if !ok {
		return 0
	}
	k, err := strconv.Atoi(digits)
	if err != nil || k < 1 || k > maxRungs || n.Return(k) != exchange {
		return 0
	}
	return k
}

// IsWait tells whether a queue of this name is, or was, a wait queue of this subscription.
func (n Names) IsWait(queue string) bool { return strings.HasPrefix(queue, n.Work+".wait.") }

// Exchanges are the names that this subscription's exchanges may have, under
// whatever spec.
func (n Names) Exchanges() []string {
	names := []string{n.Dead(), n.Park(), n.Redrive(), n.Retry(), n.First(), n.FirstIdle(), n.FixedReturn()}
	for k := 1; k <= maxRungs; k++ {
		names = append(names, n.Return(k))
	}
	return names
}

// OwnsExchange tells whether an exchange's name is one that this subscription
// may have declared, under whatever spec.
func (n Names) OwnsExchange(name string) bool {
	switch name {
	case n.Dead(), n.Park(), n.Redrive(), n.Retry(), n.First(), n.FirstIdle(), n.FixedReturn():
		return true
	}
	return n.Rung(name) > 0
}

// validate refuses names that the API server could not judge, since they
// depend on a default.
func (n Names) validate(longest string) error {
	if bytes := len(n.Work); bytes > maxWorkQueueBytes {
		return refuse(v1alpha1.ReasonInvalidSpec,
			"work queue name %q has %d bytes, and the longest name derived from it (%q) %d; RabbitMQ allows %d, so set spec.workQueue.name to at most %d bytes",
			n.Work, bytes, longest, len(longest), maxNameBytes, maxWorkQueueBytes)
	}
	if strings.HasPrefix(n.Work, reservedPrefix) {
		return refuse(v1alpha1.ReasonInvalidSpec,
			"work queue name %q begins with amq., which RabbitMQ reserves: set spec.workQueue.name", n.Work)
	}
	if bytes := len(n.Parking); bytes > maxNameBytes {
		return refuse(v1alpha1.ReasonInvalidSpec,
			"parking queue name %q has %d bytes; RabbitMQ allows %d: set spec.parkingQueue.name", n.Parking, bytes, maxNameBytes)
	}
	if n.Parking == n.Work || n.IsWait(n.Parking) || n.OwnsExchange(n.Parking) {
		return refuse(v1alpha1.ReasonInvalidSpec,
			"parking queue name %q is the work queue's name or one that Warren derives from it: choose another for spec.parkingQueue.name", n.Parking)
	}
	return nil
}
