package controllers

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"github.com/warren-mq/warren/internal/broker"
)

// sessions keeps one session a Broker, for as long as its configuration stays the same.
type sessions struct {
	mu sync.Mutex
	m  map[types.NamespacedName]openSession
}

type openSession struct {
	session     Session
	fingerprint string
}

// open gives the session for a configuration. Another configuration, a
// rotated password say, closes the old session.
func (s *sessions) open(key types.NamespacedName, config broker.Config, connect func(broker.Config) Session) Session {
	s.mu.Lock()
	defer s.mu.Unlock()
	fingerprint := config.Fingerprint()
	old, ok := s.m[key]
	if ok && old.fingerprint == fingerprint {
		return old.session
	}
	if ok {
		old.session.Close()
	}
	if s.m == nil {
		s.m = map[types.NamespacedName]openSession{}
	}
	s.m[key] = openSession{session: connect(config), fingerprint: fingerprint}
	return s.m[key].session
}

func (s *sessions) drop(key types.NamespacedName) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if old, ok := s.m[key]; ok {
		old.session.Close()
		delete(s.m, key)
	}
}
