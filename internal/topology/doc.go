// Package topology is the pure heart of Warren: it compiles a subscription or
// a topic into the objects that a RabbitMQ broker must have, in the order in
// which they are to be declared, and it holds the vocabulary in which the rest
// of Warren speaks of a broker, wanted ([Topology]) or seen ([Snapshot]).
//
// Nothing here does I/O, reads a clock or knows a client.
package topology
