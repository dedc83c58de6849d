package topology

import (
	"fmt"
	"slices"
	"strings"

	"github.com/warren-mq/warren/api/v1alpha1"
)

// Source is an exchange to bind the work queue to.
type Source struct {
	Exchange string
	// Type of the exchange, or "" where it does not exist yet.
	Type        string
	RoutingKeys []string
	Headers     map[string]v1alpha1.HeaderValue
	Match       v1alpha1.HeaderMatch
}

// sourceBindings let the messages in. They bear the owner's mark, so that
// Warren knows its own bindings again when the spec drops one.
func (c *compiler) sourceBindings() ([]Object, error) {
	var bindings []Binding
	for i, s := range c.in.Sources {
		if err := s.fits(i); err != nil {
			return nil, err
		}
		for _, b := range s.bindings(c.names.Work, c.in.Owner) {
			if !slices.ContainsFunc(bindings, b.Routes) {
				bindings = append(bindings, b)
			}
		}
	}
	objects := make([]Object, 0, len(bindings))
	for _, b := range bindings {
		objects = append(objects, b)
	}
	return objects, nil
}

func (s Source) bindings(queue, owner string) []Binding {
	mark := Arguments{OwnerArgument: owner}
	bind := func(key string, args Arguments) Binding {
		return Binding{Source: s.Exchange, Destination: queue, DestinationKind: KindQueue, RoutingKey: key, Arguments: args}
	}
	if len(s.Headers) > 0 {
		mark["x-match"] = "all"
		if s.Match == v1alpha1.HeaderMatchAny {
			mark["x-match"] = "any"
		}
		for k, v := range s.Headers {
			mark[k] = string(v)
		}
	}
	if len(s.RoutingKeys) == 0 {
		return []Binding{bind("", mark)}
	}
	bindings := make([]Binding, 0, len(s.RoutingKeys))
	for _, key := range s.RoutingKeys {
		bindings = append(bindings, bind(key, mark))
	}
	return bindings
}

// fits refuses keys or headers that the exchange's type would ignore, and
// their lack where it would let nothing through: RabbitMQ takes either
// without a word. Types of plugins are left to those who chose them.
func (s Source) fits(index int) error {
	field := fmt.Sprintf("spec.sources[%d]", index)
	for _, key := range s.RoutingKeys {
		if strings.Contains(key, "~") {
			return refuse(v1alpha1.ReasonInvalidSource,
				"%s: routing key %q has a ~: RabbitMQ then fails to list the bindings of the whole vhost, since Warren's bindings have an argument, so choose another key", field, key)
		}
	}
	problem := func(format string, args ...any) error {
		return refuse(v1alpha1.ReasonInvalidSource, "%s: exchange %q is of type %s, %s", field, s.Exchange, s.Type, fmt.Sprintf(format, args...))
	}
	keys, headers := len(s.RoutingKeys) > 0, len(s.Headers) > 0
	switch v1alpha1.ExchangeType(s.Type) {
	case v1alpha1.ExchangeFanout:
		if keys {
			return problem("which ignores routing keys, and routingKeys has %s: leave routingKeys out, or use a topic exchange", quoteList(s.RoutingKeys))
		}
		if headers {
			return problem("which ignores headers: leave headers out, or use a headers exchange")
		}
	case v1alpha1.ExchangeDirect, v1alpha1.ExchangeTopic:
		if headers {
			return problem("which ignores headers: give routingKeys in place of headers, or use a headers exchange")
		}
		if !keys {
			return problem("which routes by key, and there are no routingKeys: give at least one")
		}
	case v1alpha1.ExchangeHeaders:
		if keys {
			return problem("which ignores routing keys, and routingKeys has %s: give headers in place of routingKeys, or use a topic exchange", quoteList(s.RoutingKeys))
		}
		if !headers {
			return problem("which routes by headers, and there are none: give headers")
		}
	}
	return nil
}

// quoteList names at most ten items.
func quoteList(items []string) string {
	const most = 10
	quoted := make([]string, 0, most)
	for _, s := range items[:min(len(items), most)] {
		quoted = append(quoted, fmt.Sprintf("%q", s))
	}
	list := strings.Join(quoted, ", ")
	if more := len(items) - most; more > 0 {
		list += fmt.Sprintf(" and %d more", more)
	}
	return list
}
