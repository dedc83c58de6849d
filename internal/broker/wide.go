package broker

import "encoding/binary"

// wideFrame is the largest frame that a wide connection reads.
const wideFrame = 1 << 20

// wide is a socket over which frames can be read that are larger than was
// agreed on. RabbitMQ sends them: a message whose headers just fitted into a
// frame has outgrown it with what is noted about its deaths, and whoever reads
// it by the book loses the connection, again and again. The AMQP library is
// told a larger limit than the broker's, and the broker its own one. Nothing
// large may be published over it.
type wide struct {
	*socket
	in, out handshake
	agreed  [4]byte // what the broker has said
}

func newWide(s *socket) *wide {
	const protocolHeader = 8 // AMQP, then the version
	return &wide{
		socket: s,
		in:     handshake{method: [4]byte{0, 10, 0, 30}},
		out:    handshake{method: [4]byte{0, 10, 0, 31}, skip: protocolHeader},
	}
}

func (w *wide) Read(p []byte) (int, error) {
	n, err := w.socket.Read(p)
	w.in.eachOfFrameMax(p[:n], func(i int, b *byte) {
		w.agreed[i] = *b
		*b = binary.BigEndian.AppendUint32(nil, wideFrame)[i]
	})
	return n, err
}

func (w *wide) Write(p []byte) (int, error) {
	if !w.out.done {
		p = append([]byte(nil), p...)
		w.out.eachOfFrameMax(p, func(i int, b *byte) { *b = w.agreed[i] })
	}
	return w.socket.Write(p)
}

// handshake follows the frames of one direction up to the method that holds
// the largest frame size: connection.tune, or tune-ok.
type handshake struct {
	method [4]byte
	skip   int
	done   bool

	at    int // within the frame
	size  uint32
	found bool
}

// The layout of both methods' frames: type, channel, size; class and method; channel-max, frame-max.
const (
	sizeAt     = 3
	payloadAt  = 7
	frameMaxAt = payloadAt + 6
)

// eachOfFrameMax calls f for each byte of frame-max that comes by.
func (h *handshake) eachOfFrameMax(p []byte, f func(i int, b *byte)) {
	for i := range p {
		if h.done {
			return
		}
		if h.skip > 0 {
			h.skip--
			continue
		}
		h.step(&p[i], f)
	}
}

func (h *handshake) step(b *byte, f func(i int, b *byte)) {
	switch at := h.at; {
	case at == 0:
		h.size, h.found = 0, true
	case at >= sizeAt && at < payloadAt:
		h.size = h.size<<8 | uint32(*b)
	case at >= payloadAt && at < payloadAt+len(h.method):
		h.found = h.found && *b == h.method[at-payloadAt]
	case h.found && at >= frameMaxAt && at < frameMaxAt+4:
		f(at-frameMaxAt, b)
		h.done = at == frameMaxAt+3
	}
	h.at++
	if h.at == payloadAt+int(h.size)+1 && h.at > payloadAt { // with the frame's end
		h.at = 0
	}
}
