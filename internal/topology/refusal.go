package topology

import "fmt"

// Refusal says that a spec cannot become a topology. Only a change of the
// spec, or a newer broker, can help.
type Refusal struct {
	// Reason is a condition reason of the API.
	Reason string
	// Message says what is wrong, where, and what to do.
	Message string
}

func (r *Refusal) Error() string { return r.Message }

func refuse(reason, format string, args ...any) *Refusal {
	return &Refusal{Reason: reason, Message: fmt.Sprintf(format, args...)}
}
