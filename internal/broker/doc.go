// Package broker does all of Warren's I/O with RabbitMQ. A [Session] reads one
// vhost back ([Session.Observe]) and changes it ([Session.Declare] and its
// siblings); what goes wrong comes back as an [*Error], classified here and
// nowhere else.
//
// Objects are declared and removed over AMQP, policies and reading go over the
// management HTTP API: AMQP cannot list, and a declare proves nothing about
// arguments that the broker does not know.
package broker
