package broker

import (
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
)

// headerFrame is how many bytes of a frame a message's properties take, the
// frame's own eight included. A frame over the limit ends the connection.
func headerFrame(p amqp.Publishing) int {
	const frame, fixed = 8, 14 // class, weight, body size and flags
	size := frame + fixed
	for _, s := range []string{p.ContentType, p.ContentEncoding, p.CorrelationId, p.ReplyTo, p.Expiration, p.MessageId, p.Type, p.UserId, p.AppId} {
		if s != "" {
			size += 1 + len(s)
		}
	}
	if p.DeliveryMode > 0 {
		size++
	}
	if p.Priority > 0 {
		size++
	}
	if !p.Timestamp.IsZero() {
		size += 8
	}
	if len(p.Headers) == 0 {
		return size
	}
	return size + tableSize(p.Headers)
}

func tableSize(t amqp.Table) int {
	size := 4
	for k, v := range t {
		size += 1 + len(k) + fieldSize(v)
	}
	return size
}

// fieldSize is that of a value with its type. What is not known here has no
// way to be written either.
func fieldSize(value any) int {
	const kind, length = 1, 4
	switch v := value.(type) {
	case string:
		return kind + length + len(v)
	case []byte:
		return kind + length + len(v)
	case amqp.Table:
		return kind + tableSize(v)
	case []any:
		size := kind + length
		for _, item := range v {
			size += fieldSize(item)
		}
		return size
	case nil:
		return kind
	case bool, byte, int8:
		return kind + 1
	case int16, uint16:
		return kind + 2
	case int, int32, uint32, float32:
		return kind + 4
	case amqp.Decimal:
		return kind + 5
	case int64, float64, time.Time:
		return kind + 8
	}
	return kind + 8
}
