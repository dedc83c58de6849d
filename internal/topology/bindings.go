package topology

// Bindings of a vhost, by where they begin and where they end. They are not
// changed once they are made, so that several snapshots may share them. Those
// of the default exchange do not belong here.
type Bindings struct {
	bySource      map[string][]Binding
	byDestination map[destination][]Binding
}

type destination struct {
	kind Kind
	name string
}

// NewBindings keeps the order that it is given.
func NewBindings(all []Binding) *Bindings {
	return &Bindings{
		bySource:      grouped(all, func(b Binding) string { return b.Source }),
		byDestination: grouped(all, func(b Binding) destination { return destination{b.DestinationKind, b.Destination} }),
	}
}

// grouped makes room once for all: there are tens of thousands.
func grouped[K comparable](all []Binding, keyOf func(Binding) K) map[K][]Binding {
	sizes := map[K]int{}
	for _, b := range all {
		sizes[keyOf(b)]++
	}
	room := make([]Binding, len(all))
	groups := make(map[K][]Binding, len(sizes))
	for _, b := range all {
		key := keyOf(b)
		group, ok := groups[key]
		if !ok {
			n := sizes[key]
			group, room = room[:0:n], room[n:]
		}
		groups[key] = append(group, b)
	}
	return groups
}

// BindingsFrom lists the bindings of an exchange.
func (s *Snapshot) BindingsFrom(exchange string) []Binding {
	if s.Bindings == nil {
		return nil
	}
	return s.Bindings.bySource[exchange]
}

// BindingsTo lists the bindings that lead to a queue or an exchange.
func (s *Snapshot) BindingsTo(kind Kind, name string) []Binding {
	if s.Bindings == nil {
		return nil
	}
	return s.Bindings.byDestination[destination{kind, name}]
}

// HasBinding tells whether a binding is there that routes as b does.
func (s *Snapshot) HasBinding(b Binding) bool {
	for _, seen := range s.BindingsFrom(b.Source) {
		if seen.Routes(b) {
			return true
		}
	}
	return false
}
