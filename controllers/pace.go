package controllers

import "time"

const (
	// restFactor is for how many times as long as a reading took a broker is
	// left alone after it while objects are declared on it: so readings take no
	// more than a tenth of what it can do.
	restFactor = 9
	// longestLull is for how long at most nothing may be declared before a burst
	// counts as over.
	longestLull = 2 * time.Second
)

// pace keeps the readings of a broker from taking its time while it has
// thousands of objects to make: then there is always a reason for another one,
// and each lists all that there is.
type pace struct {
	// took is how long the last reading did.
	took time.Duration
	// restUntil is when the next one may begin in the middle of a burst.
	restUntil time.Time
	// acting counts the resources that are being declared at this moment.
	acting int
	// actedAt is when the last of them was done.
	actedAt time.Time
}

// read notes the end of a reading. The sync period is kept all the same, as
// long as a reading does not take half of it.
func (p *pace) read(now time.Time, took, syncPeriod time.Duration) {
	p.took = took
	p.restUntil = now.Add(min(restFactor*took, max(syncPeriod-took, took)))
}

func (p *pace) begin() { p.acting++ }

func (p *pace) end(now time.Time) {
	p.acting--
	p.actedAt = now
}

// rest is how long a reading has to wait for the broker's sake, 0 or less for
// not at all. When nothing has been declared for a moment the burst is over,
// and whoever has declared waits for the reading.
func (p *pace) rest(now time.Time) time.Duration {
	rest := p.restUntil.Sub(now)
	if p.acting > 0 {
		return rest
	}
	lull := min(p.took/2, longestLull)
	return min(rest, p.actedAt.Add(lull).Sub(now))
}
