package broker

import (
	"crypto/tls"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
)

// proxy stands before a real broker's port: with TLS, or to break the network.
type proxy struct {
	net.Listener
	target string

	mutex  sync.Mutex
	frozen chan struct{} // closed when not frozen
	open   []net.Conn
}

// newProxy forwards to the address in a URL; config may be nil.
func newProxy(t testing.TB, targetURL string, config *tls.Config) *proxy {
	t.Helper()
	_, target, _ := strings.Cut(targetURL, "://")
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	if config != nil {
		listener = tls.NewListener(listener, config)
	}
	p := &proxy{Listener: listener, target: target, frozen: make(chan struct{})}
	close(p.frozen)
	t.Cleanup(func() {
		_ = listener.Close()
		p.thaw()
		p.cut()
	})
	go p.serve()
	return p
}

func (p *proxy) url(scheme string) string { return scheme + "://" + p.Addr().String() }

func (p *proxy) serve() {
	for {
		client, err := p.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", p.target)
		if err != nil {
			_ = client.Close()
			continue
		}
		p.mutex.Lock()
		p.open = append(p.open, client, server)
		p.mutex.Unlock()
		go p.forward(server, client)
		go p.forward(client, server)
	}
}

func (p *proxy) forward(to, from net.Conn) {
	defer to.Close()
	defer from.Close()
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		<-p.gate()
		if _, failed := to.Write(buffer[:n]); failed != nil || err != nil {
			return
		}
	}
}

func (p *proxy) gate() chan struct{} {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return p.frozen
}

// freeze lets nothing through, and tells nobody.
func (p *proxy) freeze() {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.frozen = make(chan struct{})
}

func (p *proxy) thaw() {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	select {
	case <-p.frozen:
	default:
		close(p.frozen)
	}
}

// connections that were made through it so far.
func (p *proxy) connections() int {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return len(p.open) / 2
}

// cut closes all connections.
func (p *proxy) cut() {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	for _, c := range p.open {
		_ = c.Close()
	}
	p.open = nil
}

// mute accepts connections and never says a word.
func mute(t testing.TB) string {
	return listen(t, func(conn net.Conn) { _, _ = io.Copy(io.Discard, conn) })
}

// alwaysSays the same, and closes.
func alwaysSays(t testing.TB, words string) string {
	return listen(t, func(conn net.Conn) {
		_, _ = conn.Read(make([]byte, 1))
		_, _ = io.WriteString(conn, words)
	})
}

func listen(t testing.TB, serve func(net.Conn)) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				serve(conn)
			}()
		}
	}()
	return listener.Addr().String()
}
