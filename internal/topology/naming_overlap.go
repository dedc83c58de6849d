package topology

import (
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"
)

const (
	// oneNamespace stands for any; otherNamespaces are all names of namespaces but that one.
	oneNamespace    = "a"
	otherNamespaces = "[b-z0-9]|[a-z0-9][-a-z0-9]*[a-z0-9]"
	// mostStates bounds the search: a pattern of 256 characters can be a huge automaton.
	mostStates = 20000
)

// NamingOverlap looks for a name that a pattern gives to two namespaces, as
// {namespace}.* does with "team-a.x" for "team" and "team-a". It walks through
// both automata at once. Where it gives up, proved is false.
func NamingOverlap(pattern string) (name string, overlaps, proved bool) {
	one, err := automaton(pattern, oneNamespace)
	if err != nil {
		return "", false, false
	}
	others, err := automaton(pattern, otherNamespaces)
	if err != nil {
		return "", false, false
	}
	return commonName(one, others)
}

func automaton(pattern, namespace string) (*syntax.Prog, error) {
	parsed, err := syntax.Parse(strings.ReplaceAll(pattern, namespaceHole, "(?:"+namespace+")"), syntax.Perl)
	if err != nil {
		return nil, err
	}
	return syntax.Compile(parsed.Simplify())
}

// pair is a state of each, and the text that leads to it.
type pair struct {
	a, b uint32
	text string
}

// commonName is the shortest text that both accept from its start to its end.
func commonName(a, b *syntax.Prog) (name string, found, proved bool) {
	seen := map[[2]uint32]bool{}
	var queue []pair
	push := func(fromA, fromB uint32, text string) {
		for _, x := range consuming(a, fromA) {
			for _, y := range consuming(b, fromB) {
				if key := [2]uint32{x, y}; !seen[key] {
					seen[key] = true
					queue = append(queue, pair{x, y, text})
				}
			}
		}
	}
	push(uint32(a.Start), uint32(b.Start), "")
	for ; len(queue) > 0; queue = queue[1:] {
		at := queue[0]
		x, y := &a.Inst[at.a], &b.Inst[at.b]
		switch {
		case len(seen) > mostStates:
			return "", false, false
		case x.Op == syntax.InstMatch && y.Op == syntax.InstMatch:
			return at.text, true, true
		case x.Op == syntax.InstMatch || y.Op == syntax.InstMatch:
			continue
		}
		if r, ok := commonRune(x, y); ok {
			push(x.Out, y.Out, at.text+string(r))
		}
	}
	return "", false, true
}

// consuming are the states that a state leads to without a character, and
// that take one or accept. Anchors inside are taken to hold: at worst a
// pattern is said to overlap that does not.
func consuming(p *syntax.Prog, from uint32) []uint32 {
	var states []uint32
	visited := map[uint32]bool{}
	todo := []uint32{from}
	for len(todo) > 0 {
		pc := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if visited[pc] {
			continue
		}
		visited[pc] = true
		switch i := p.Inst[pc]; i.Op {
		case syntax.InstAlt, syntax.InstAltMatch:
			todo = append(todo, i.Out, i.Arg)
		case syntax.InstCapture, syntax.InstNop, syntax.InstEmptyWidth:
			todo = append(todo, i.Out)
		case syntax.InstFail:
		default:
			states = append(states, pc)
		}
	}
	return states
}

// commonRune finds a character that both take, a plain one if there is one.
// If two sets of ranges meet, they do so where a range of one of them begins.
func commonRune(a, b *syntax.Inst) (rune, bool) {
	candidates := []rune("abx0.-_:")
	for _, r := range slices.Concat(a.Rune, b.Rune) {
		candidates = append(candidates, r, r+1)
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			candidates = append(candidates, f)
		}
	}
	for _, r := range candidates {
		if a.MatchRune(r) && b.MatchRune(r) {
			return r, true
		}
	}
	return 0, false
}
