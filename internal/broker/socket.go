package broker

import (
	"net"
	"sync"
)

// socket is a connection that remembers what the AMQP library leaves out of
// its errors: how reading failed, and what the other side said first.
type socket struct {
	net.Conn
	// raw is the TCP connection; closing it never waits.
	raw net.Conn

	mutex sync.Mutex
	// hello is the first that was read.
	hello []byte
	// failure is the first error of reading, or why the socket was cut.
	failure error
}

func (s *socket) Read(p []byte) (int, error) {
	n, err := s.Conn.Read(p)
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.hello == nil && n > 0 {
		s.hello = append(s.hello, p[:min(n, 8)]...)
	}
	s.fail(err)
	return n, err
}

// cut ends the connection and, with it, every call that waits on it.
func (s *socket) cut(cause error) {
	s.mutex.Lock()
	s.fail(cause)
	s.mutex.Unlock()
	_ = s.raw.Close()
}

func (s *socket) fail(cause error) {
	if s.failure == nil {
		s.failure = cause
	}
}

// story tells the first words and the failure.
func (s *socket) story() (hello string, failure error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return string(s.hello), s.failure
}
