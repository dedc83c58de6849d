// Package localenv runs real parts of a cluster on this machine: etcd and
// kube-apiserver (with kube-controller-manager and kube-scheduler where a test
// needs them), and RabbitMQ 4.0 and 4.3, one node or several.
//
// Tests use it as a library, the demo through the localenv command. Everything
// listens on loopback only, and nothing outlives the process that started it
// unless it was started detached.
package localenv
