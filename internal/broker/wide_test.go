package broker

import (
	"encoding/binary"
	"testing"
)

// frames of a broker's side of a handshake, as bytes.
func methodFrame(class, method uint16, rest ...byte) []byte {
	payload := binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint16(nil, class), method)
	payload = append(payload, rest...)
	frame := []byte{1, 0, 0}
	frame = binary.BigEndian.AppendUint32(frame, uint32(len(payload)))
	return append(append(frame, payload...), 0xCE)
}

// However the bytes come in, the largest frame is found, and only that.
func TestHandshakeFindsTheFrameSize(t *testing.T) {
	start := methodFrame(10, 10, make([]byte, 300)...)
	tune := methodFrame(10, 30, 7, 255, 0, 2, 0, 0, 0, 60)
	later := methodFrame(10, 30, 7, 255, 9, 9, 9, 9, 0, 60)
	for _, chunk := range []int{1, 3, 7, 64, 1000} {
		h := handshake{method: [4]byte{0, 10, 0, 30}}
		var found [4]byte
		all := append(append(append([]byte{}, start...), tune...), later...)
		for begin := 0; begin < len(all); begin += chunk {
			h.eachOfFrameMax(all[begin:min(begin+chunk, len(all))], func(i int, b *byte) { found[i] = *b })
		}
		if size := binary.BigEndian.Uint32(found[:]); size != 131_072 || !h.done {
			t.Errorf("in pieces of %d: found %d, done %t; want 131072", chunk, size, h.done)
		}
	}
}

func TestHandshakeSkipsTheProtocolHeader(t *testing.T) {
	h := handshake{method: [4]byte{0, 10, 0, 31}, skip: 8}
	bytes := append([]byte("AMQP\x00\x00\x09\x01"), methodFrame(10, 31, 7, 255, 0, 16, 0, 0, 0, 60)...)
	h.eachOfFrameMax(bytes, func(i int, b *byte) { *b = byte(i + 1) })
	if got := binary.BigEndian.Uint32(bytes[8+frameMaxAt:]); got != 0x01020304 {
		t.Errorf("the frame size is %#x, want 0x01020304", got)
	}
}
