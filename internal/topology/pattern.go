package topology

import "strings"

// MatchesTopic tells whether a topic exchange's binding key takes a routing
// key: of the words between dots, * stands for one and # for any number.
func MatchesTopic(bindingKey, routingKey string) bool {
	words := strings.Split(routingKey, ".")
	// reached[i]: what was read of the binding key takes the first i words.
	reached := make([]bool, len(words)+1)
	reached[0] = true
	for _, w := range strings.Split(bindingKey, ".") {
		reached = step(reached, w, words)
	}
	return reached[len(words)]
}

func step(reached []bool, pattern string, words []string) []bool {
	next := make([]bool, len(reached))
	for i, ok := range reached {
		switch {
		case pattern == "#":
			next[i] = ok || (i > 0 && next[i-1])
		case i > 0:
			next[i] = reached[i-1] && (pattern == "*" || pattern == words[i-1])
		}
	}
	return next
}

// ExampleOf is a routing key that a topic exchange's binding key takes, and
// that no other one takes for its wildcards' words.
func ExampleOf(bindingKey string) string {
	words := strings.Split(bindingKey, ".")
	for i, w := range words {
		if w == "*" || w == "#" {
			words[i] = "\u2026"
		}
	}
	return strings.Join(words, ".")
}
