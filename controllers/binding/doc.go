// Package binding hands applications what they need to reach their queue or
// exchange: a ConfigMap for everybody, and a Secret with a RabbitMQ user where one is
// generated, both with the keys of the Service Binding specification. It is a
// package of its own because the right to write Secrets is (config/credentials).
package binding
