// Package controllers connects Warren's API to brokers: one reconciler a
// kind, each of which observes, compares, acts and writes one status.
//
// The Broker reconciler is the only one that reads a broker. It takes one
// snapshot of the vhost every sync period (and soon after something was
// declared), and puts it where the others find it ([Brokers]). They decide by
// pure functions over that snapshot and never ask a broker anything, so that a
// broker that does not answer holds up nobody but itself.
package controllers
