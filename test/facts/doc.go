// Package facts tests what RabbitMQ does where Warren's topology rests on it,
// against every supported version. None of Warren's own code takes part: when a
// test fails on a new version of the broker, its comment says what to rethink.
//
// The numbers are names. They have gaps, for facts that no topology rests on.
package facts
