package wait

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// progress writes a line when something else is missing than before, and once
// in a while, so that who looks at the log sees that it still waits.
type progress struct {
	out     io.Writer
	begun   time.Time
	timeout time.Duration

	// last is what was missing when it was last looked.
	last  string
	topic string
	told  time.Time
}

func (p *progress) tell(missing []missed) {
	var texts, topics []string
	for _, m := range missing {
		texts = append(texts, fmt.Sprintf("%s: %s", m.target, m.lack.text))
		topics = append(topics, m.target.String()+m.lack.topic)
	}
	p.last = strings.Join(texts, "; ")
	topic := strings.Join(topics, "\n")
	if topic == p.topic && time.Since(p.told) < repeatEvery {
		return
	}
	p.topic, p.told = topic, time.Now()
	fmt.Fprintf(p.out, "waiting (%s of %s): %s\n", p.waited(), p.timeout, p.last)
}

func (p *progress) waited() time.Duration {
	return time.Since(p.begun).Round(100 * time.Millisecond)
}
