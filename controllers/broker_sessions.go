package controllers

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"github.com/warren-mq/warren/internal/broker"
)

// sessions keeps one session a Broker, for as long as its configuration stays
// the same, and for a while the one that is to follow it.
type sessions struct {
	mu sync.Mutex
	// proved have been used; tried are of a newer configuration, and have not yet.
	proved, tried map[types.NamespacedName]openSession
}

type openSession struct {
	session     Session
	fingerprint string
}

// open gives the session for a configuration. Another configuration, a
// rotated password say, gets a session of its own beside the old one, which
// goes on with what it is doing until the new one has proved to work.
func (s *sessions) open(key types.NamespacedName, config broker.Config, connect func(broker.Config) Session) Session {
	s.mu.Lock()
	defer s.mu.Unlock()
	fingerprint := config.Fingerprint()
	if old, ok := s.proved[key]; ok && old.fingerprint == fingerprint {
		closeIn(s.tried, key)
		return old.session
	}
	if tried, ok := s.tried[key]; ok && tried.fingerprint == fingerprint {
		return tried.session
	}
	closeIn(s.tried, key)
	if s.tried == nil {
		s.proved, s.tried = map[types.NamespacedName]openSession{}, map[types.NamespacedName]openSession{}
	}
	s.tried[key] = openSession{session: connect(config), fingerprint: fingerprint}
	return s.tried[key].session
}

// prove is told that the broker was read over the session that open gave
// last: the one before it is closed.
func (s *sessions) prove(key types.NamespacedName) {
	s.mu.Lock()
	defer s.mu.Unlock()
	tried, ok := s.tried[key]
	if !ok {
		return
	}
	closeIn(s.proved, key)
	delete(s.tried, key)
	s.proved[key] = tried
}

func (s *sessions) drop(key types.NamespacedName) {
	s.mu.Lock()
	defer s.mu.Unlock()
	closeIn(s.proved, key)
	closeIn(s.tried, key)
}

func closeIn(m map[types.NamespacedName]openSession, key types.NamespacedName) {
	if old, ok := m[key]; ok {
		old.session.Close()
		delete(m, key)
	}
}
