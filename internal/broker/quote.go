package broker

import (
	"encoding/base64"
	"html"
	"strings"
	"unicode/utf8"
)

const maxReason = 300

// quote makes RabbitMQ's words fit for a message: one line, cut short. Words
// with a credential in them (an address where something echoes what it is
// sent) are not quoted at all.
func (c Config) quote(words string) string {
	// RabbitMQ 4.0's management API escapes them as if for a page.
	words = html.UnescapeString(words)
	if c.revealedBy(words) {
		return ""
	}
	words = strings.Join(strings.Fields(words), " ")
	if len(words) <= maxReason {
		return words
	}
	cut := maxReason - len("...")
	for !utf8.RuneStart(words[cut]) {
		cut--
	}
	return words[:cut] + "..."
}

func (c Config) revealedBy(words string) bool {
	if c.Password == "" {
		return false
	}
	basic := base64.StdEncoding.EncodeToString([]byte(c.Username + ":" + c.Password))
	return strings.Contains(words, c.Password) || strings.Contains(words, basic)
}
