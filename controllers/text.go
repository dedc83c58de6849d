package controllers

import "fmt"

// count says how many there are of a thing: "1 message", "3 messages".
func count(n int64, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// List names at most ten things, and how many more there are.
func List(items []string) string { return list(items) }

// Clip cuts a message to what an Event holds.
func Clip(message string) string { return clip(message) }
