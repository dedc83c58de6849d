package topology

// Route is a way that messages must take. It starts at an exchange, or at a
// queue in which a message dies, and must end in one queue of the
// subscription and in no other of them.
type Route struct {
	// Means says what takes this way, for people.
	Means string
	// Queue in which the message dies; its dead-letter exchange is where the way begins.
	Queue string
	// Exchange where the way begins, if not at a queue.
	Exchange string
	// Headers as the broker sets them, of those that our bindings look at.
	Headers map[string]string
	// To is the queue where it must end.
	To string
}

// dying is the route of a message that dies in a queue.
func dying(means, queue, reason, lastExchange, to string) Route {
	return Route{Means: means, Queue: queue, To: to, Headers: map[string]string{
		"x-last-death-reason": reason, "x-last-death-exchange": lastExchange}}
}
