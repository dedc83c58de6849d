package controllers

import "fmt"

// count says how many there are of a thing: "1 message", "3 messages".
func count(n int64, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
