package broker

import (
	"fmt"
	"strings"
)

// peer is a broker's address as seen by one user. Its methods say what both
// protocols can find out.
type peer struct {
	endpoint
	config Config
}

func (p peer) badCredentials() *Error {
	return &Error{
		Class: BadCredentials, Target: p.address,
		Problem: fmt.Sprintf("%s does not accept user %q with this password", p, p.config.Username),
		Advice:  "correct the username or the password",
	}
}

func (p peer) vhostMissing() *Error {
	e := &Error{
		Class: VhostMissing, Target: p.address,
		Problem: fmt.Sprintf("%s has no vhost %q", p, p.config.Vhost),
		Advice:  "create it or correct its name",
	}
	if bare, slashed := strings.CutPrefix(p.config.Vhost, "/"); slashed && bare != "" {
		e.Advice = fmt.Sprintf("create it, or say %q if that is its name", bare)
	}
	return e
}

func (p peer) noAccess() *Error {
	return &Error{
		Class: AccessRefused, Target: p.address,
		Problem: fmt.Sprintf("%s gives user %q no access to vhost %q", p, p.config.Username, p.config.Vhost),
		Advice:  fmt.Sprintf("grant configure, write and read: rabbitmqctl set_permissions -p %q %q '.*' '.*' '.*'", p.config.Vhost, p.config.Username),
	}
}

// notAllowed is about one object; what is reserved is refused to everybody.
func (p peer) notAllowed() *Error {
	return &Error{
		Class: AccessRefused, Target: p.address,
		Problem: fmt.Sprintf("RabbitMQ does not let user %q do this", p.config.Username),
		Advice:  fmt.Sprintf("if a right is missing, grant configure, write and read on vhost %q, and the tags %s", p.config.Vhost, strings.Join(neededTags, " and ")),
	}
}

// neededTags let a user read the whole vhost and set policies.
var neededTags = []string{"monitoring", "policymaker"}

// missingTag is told the tags that the user has.
func (p peer) missingTag(has, lacks []string) *Error {
	all := strings.Join(append(append([]string{}, has...), lacks...), " ")
	return &Error{
		Class: MissingTag, Target: p.address,
		Problem: fmt.Sprintf("user %q lacks the tag %s", p.config.Username, strings.Join(lacks, " and the tag ")),
		Advice:  fmt.Sprintf("rabbitmqctl set_user_tags %q %s", p.config.Username, all),
	}
}
