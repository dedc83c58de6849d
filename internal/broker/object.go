package broker

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"

	"github.com/warren-mq/warren/internal/topology"
)

// object is a JSON object in an answer: arguments, or what policies amount to.
// It is decoded when it is needed, and once for all that are the same.
type object struct {
	raw   json.RawMessage
	value topology.Arguments
}

// UnmarshalJSON takes a list for an empty object, as RabbitMQ writes it at times.
func (o *object) UnmarshalJSON(data []byte) error {
	switch {
	case bytes.HasPrefix(data, []byte("{")):
		o.raw = bytes.Clone(data)
	case bytes.HasPrefix(data, []byte("[")):
		o.raw = json.RawMessage("{}")
	case !bytes.Equal(data, []byte("null")):
		return fmt.Errorf("an object was expected, and not %.20s", data)
	}
	return nil
}

// get gives nil for what was not there, or null.
func (o *object) get() topology.Arguments {
	if o.value == nil && o.raw != nil {
		var decoded map[string]any
		_ = json.Unmarshal(o.raw, &decoded) // An object it is, and JSON: the decoder has read it.
		o.value, o.raw = arguments(decoded), nil
	}
	return o.value
}

// arguments gives whole numbers as int64, as [topology.Arguments] has them;
// JSON knows floats only.
func arguments(decoded map[string]any) topology.Arguments {
	args := make(topology.Arguments, len(decoded))
	for k, v := range decoded {
		args[k] = v
		if n, ok := topology.Integer(v); ok {
			args[k] = n
		}
	}
	return args
}

// objects hands out one map for all objects that read the same: those of one
// subscription share most of theirs, and each of them was there at the last
// reading. Nobody changes what an answer told.
type objects struct {
	before, now map[[sha256.Size]byte]topology.Arguments
}

// next forgets what the last reading but one had.
func (s *objects) next() { s.before, s.now = s.now, map[[sha256.Size]byte]topology.Arguments{} }

func (s *objects) share(o *object) topology.Arguments {
	if o.raw == nil {
		return o.value
	}
	key := sha256.Sum256(o.raw)
	known, ok := s.now[key]
	if !ok {
		known, ok = s.before[key]
	}
	if ok {
		o.value, o.raw = known, nil
	}
	s.now[key] = o.get()
	return o.value
}
