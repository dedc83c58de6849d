package controllers

import (
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/warren-mq/warren/api/v1alpha1"
	"github.com/warren-mq/warren/internal/broker"
	"github.com/warren-mq/warren/internal/topology"
)

// Problem is why something cannot be done: the outcome that a condition shows.
// It is not an error to be retried at once; whoever can mend it is told.
type Problem struct {
	// Status of the condition: False when it is known not to be, Unknown
	// when it cannot be told.
	Status  metav1.ConditionStatus
	Reason  string
	Message string
	// Gone: what a resource depends on exists no more, so that waiting for it is in vain.
	Gone bool
}

func problem(reason, format string, args ...any) *Problem {
	return &Problem{Status: metav1.ConditionFalse, Reason: reason, Message: fmt.Sprintf(format, args...)}
}

func gone(reason, format string, args ...any) *Problem {
	p := problem(reason, format, args...)
	p.Gone = true
	return p
}

func unknown(reason, format string, args ...any) *Problem {
	return &Problem{Status: metav1.ConditionUnknown, Reason: reason, Message: fmt.Sprintf(format, args...)}
}

// refused turns a compiler's refusal into a problem.
func refused(err error) *Problem {
	var r *topology.Refusal
	if errors.As(err, &r) {
		return problem(r.Reason, "%s", r.Message)
	}
	return problem(v1alpha1.ReasonInvalidSpec, "%s", err)
}

// fromBroker turns a classified error of the broker into a problem.
func fromBroker(err error) *Problem {
	if reason, told := reasons[broker.ClassOf(err)]; told {
		return problem(reason, "%s", err)
	}
	return unknown(v1alpha1.ReasonBrokerUnreachable, "%s", err)
}

// reasons of what a broker says no to. Whatever else goes wrong on the way to
// it leaves open how things are there.
var reasons = map[broker.Class]string{
	broker.BadCredentials: v1alpha1.ReasonBadCredentials,
	broker.VhostMissing:   v1alpha1.ReasonVhostMissing,
	broker.AccessRefused:  v1alpha1.ReasonAccessRefused,
	broker.MissingTag:     v1alpha1.ReasonMissingTag,
	broker.TLSFailed:      v1alpha1.ReasonTLSFailed,
	broker.Precondition:   v1alpha1.ReasonRefusedByBroker,
	broker.Refused:        v1alpha1.ReasonRefusedByBroker,
	broker.NotFound:       v1alpha1.ReasonRefusedByBroker,
}
