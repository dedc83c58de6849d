package topology

// Ladder is what a broker has of a subscription's retry ladder, as far as
// the next ladder depends on it.
type Ladder struct {
	// HighestRung is the highest k for which a return exchange exists.
	HighestRung int
	// First is the queue that the exchange for first rejections is bound to, or "".
	First string
	// FirstIdle is the queue that its other side is bound to, or "".
	FirstIdle string
}

// LadderOf reads a subscription's ladder from a snapshot.
func LadderOf(names Names, seen *Snapshot) Ladder {
	var l Ladder
	for k := 1; k <= maxRungs; k++ {
		if _, there := seen.Exchanges[names.Return(k)]; there {
			l.HighestRung = k
		}
	}
	l.First = waitQueueBoundTo(names, seen, names.First())
	l.FirstIdle = waitQueueBoundTo(names, seen, names.FirstIdle())
	return l
}

func waitQueueBoundTo(names Names, seen *Snapshot, exchange string) string {
	for _, b := range seen.BindingsFrom(exchange) {
		if b.DestinationKind == KindQueue && names.IsWait(b.Destination) {
			return b.Destination
		}
	}
	return ""
}

// retryExchanges take rejections. A headers exchange has no "else": a first
// rejection, which came through whatever exchange, is caught by the alternate exchange.
func (c *compiler) retryExchanges() []Object {
	return []Object{
		c.exchange(c.names.FirstIdle(), Fanout, nil),
		c.exchange(c.names.First(), Fanout, Arguments{"alternate-exchange": c.names.FirstIdle()}),
		c.exchange(c.names.Retry(), Headers, Arguments{"alternate-exchange": c.names.First()}),
	}
}

// firstRung leads first rejections to a wait queue, and rejections into the retry exchange.
//
// There are two sides, of which one is in use. A change of the queue is made
// on the idle one: bound there, it takes over in the moment in which the other
// side's binding goes, and no message is lost, doubled or held up.
func (c *compiler) firstRung(wait string) []Object {
	side := c.names.First()
	switch l := c.in.Ladder; {
	case l.First == wait:
	case l.FirstIdle == wait, l.First != "":
		side = c.names.FirstIdle()
	}
	return []Object{
		c.bindQueue(side, wait, nil),
		c.bindExchange(c.names.Dead(), c.names.Retry(), rejectionsOnly()),
	}
}
