package freshness

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
)

const (
	leasePrefix = "warren-broker-"
	// maxName is what the name of a Lease may hold.
	maxName = 253
)

// LeaseName is the name of the Lease that says when a Broker was last read
// well. It lies in the Broker's namespace. Of a name that is too long the end
// becomes a hash.
func LeaseName(broker string) string {
	name := leasePrefix + broker
	if len(name) <= maxName {
		return name
	}
	sum := sha256.Sum256([]byte(broker))
	hash := "-" + hex.EncodeToString(sum[:8])
	return strings.TrimRight(name[:maxName-len(hash)], ".-") + hash
}

// LeaseSeconds is the limit as a Lease holds it.
func LeaseSeconds(syncPeriod time.Duration) int32 {
	return int32((Limit(syncPeriod) + time.Second - 1) / time.Second)
}

// OfLease says why a Lease is no reason to believe what was read of its
// Broker; "" means that it is one.
func OfLease(lease *coordinationv1.Lease, now time.Time) string {
	renewed, seconds := lease.Spec.RenewTime, lease.Spec.LeaseDurationSeconds
	if renewed == nil || seconds == nil {
		return fmt.Sprintf("Lease %s/%s has no renewTime or no leaseDurationSeconds", lease.Namespace, lease.Name)
	}
	limit := time.Duration(*seconds) * time.Second
	if Fresh(renewed.Time, now, limit) {
		return ""
	}
	age := now.Sub(renewed.Time).Round(time.Second)
	if age < 0 {
		return fmt.Sprintf("the broker was last read %s ahead of this clock (Lease %s/%s): set the clocks right", -age, lease.Namespace, lease.Name)
	}
	return fmt.Sprintf("the broker was last read well %s ago, and only %s are believed (Lease %s/%s): is the operator running, and the broker reachable?",
		age, limit, lease.Namespace, lease.Name)
}
