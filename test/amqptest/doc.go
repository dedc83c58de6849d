// Package amqptest sends and consumes real messages in tests, as applications
// do: publishing with confirms, and consumers that answer each delivery with a
// chosen verb, crashes and hanging included. It waits by polling against a
// deadline, and never by sleeping.
package amqptest
