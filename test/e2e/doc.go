// Package e2e tests Warren as its users have it: the real binary under its
// own ServiceAccount, a real API server and kubectl, and real RabbitMQ 4.0 and
// 4.3 with a user who is no administrator. Messages are real.
package e2e
