package topology

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/warren-mq/warren/api/v1alpha1"
)

// namespaceHole is where a Broker's naming has the namespace.
const namespaceHole = "{namespace}"

// Naming is what a Broker asks of the names that a namespace gives to queues
// and exchanges. The zero value asks nothing.
type Naming struct {
	pattern   string
	namespace string
	full      *regexp.Regexp
}

// NewNaming reads spec.naming of a Broker for a namespace. A pattern that is
// none, for this namespace, is refused: with it left aside every name would do.
func NewNaming(pattern, namespace string) (Naming, error) {
	if pattern == "" {
		return Naming{}, nil
	}
	full, err := compileNaming(pattern, regexp.QuoteMeta(namespace))
	if err != nil {
		return Naming{}, refuse(v1alpha1.ReasonNotAllowed,
			"the Broker's spec.naming %q is not a regular expression for namespace %q (%s), so that no name fits it: its owner has to correct it", pattern, namespace, err)
	}
	return Naming{pattern: pattern, namespace: namespace, full: full}, nil
}

// compileNaming anchors a pattern. It must be an expression without the
// anchors too, else a lone parenthesis could slip out of them.
func compileNaming(pattern, namespace string) (*regexp.Regexp, error) {
	filled := strings.ReplaceAll(pattern, namespaceHole, "(?:"+namespace+")")
	if _, err := regexp.Compile(filled); err != nil {
		return nil, err
	}
	return regexp.Compile(`\A(?:` + filled + `)\z`)
}

// Fits tells whether the namespace may give this name.
func (n Naming) Fits(name string) bool { return n.full == nil || n.full.MatchString(name) }

// Check refuses a topology in which a queue or exchange has a name that the
// namespace may not give. Sources are not named by it, only read from. Of several
// it names the shortest: the others are most often derived from that one.
func (n Naming) Check(t *Topology) error {
	var misfit Object
	shortest := ""
	for _, o := range t.Objects {
		name := givenName(o)
		if name != "" && !n.Fits(name) && (misfit == nil || len(name) < len(shortest)) {
			misfit, shortest = o, name
		}
	}
	if misfit == nil {
		return nil
	}
	return refuse(v1alpha1.ReasonNotAllowed,
		"%s does not fit the Broker's spec.naming, %s, with %q for {namespace}: give it a name that does (%s)", misfit, quotePattern(n.pattern), n.namespace, namedBy(t))
}

// givenName is the name of a queue or an exchange, "" of anything else.
func givenName(o Object) string {
	switch o := o.(type) {
	case Queue:
		return o.Name
	case Exchange:
		return o.Name
	}
	return ""
}

// namedBy says which fields name the objects of a topology.
func namedBy(t *Topology) string {
	if t.Names.Work == "" {
		return "spec.exchange, spec.unroutable.queue"
	}
	return "spec.workQueue.name, spec.parkingQueue.name"
}

// quotePattern shows a pattern as it was written, without escapes of its backslashes.
func quotePattern(pattern string) string { return fmt.Sprintf("'%s'", pattern) }
