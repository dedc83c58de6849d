package broker

import (
	"strconv"
	"strings"

	amqp "github.com/rabbitmq/amqp091-go"
)

const (
	// headerMoves counts how often a message was brought back.
	headerMoves = "warren-redrives"
	// headerMark says who brought it back the last time, and as which message.
	headerMark    = "warren-redrive"
	markSeparator = "/"
	// headerUserID keeps the publisher's name: RabbitMQ refuses a user-id other than that of the connection.
	headerUserID = "warren-user-id"
)

// republished is a delivery as it is published again: with its properties and
// headers, without what RabbitMQ has noted about its deaths, and without what
// would have an effect of its own: an expiration, and another's user-id.
// Where all of it does not fit into a frame, Warren's own headers are left
// out; false if it does not fit even then.
func republished(d amqp.Delivery, mark string, sequence uint64, maxFrame int) (amqp.Publishing, bool) {
	p := amqp.Publishing{
		Headers:         keptHeaders(d.Headers),
		ContentType:     d.ContentType,
		ContentEncoding: d.ContentEncoding,
		DeliveryMode:    d.DeliveryMode,
		Priority:        d.Priority,
		CorrelationId:   d.CorrelationId,
		ReplyTo:         d.ReplyTo,
		MessageId:       d.MessageId,
		Timestamp:       d.Timestamp,
		Type:            d.Type,
		AppId:           d.AppId,
		Body:            d.Body,
	}
	if fits := headerFrame(p) <= maxFrame; !fits {
		return p, false
	}
	full := p
	full.Headers = withOwnHeaders(p.Headers, d, mark, sequence)
	if headerFrame(full) <= maxFrame {
		return full, true
	}
	return p, true
}

func withOwnHeaders(headers amqp.Table, d amqp.Delivery, mark string, sequence uint64) amqp.Table {
	all := make(amqp.Table, len(headers)+3)
	for k, v := range headers {
		all[k] = v
	}
	before, _ := d.Headers[headerMoves].(int64)
	all[headerMoves] = before + 1
	all[headerMark] = mark + markSeparator + strconv.FormatUint(sequence, 10)
	if d.UserId != "" {
		all[headerUserID] = d.UserId
	}
	return all
}

// keptHeaders are those of the application. How it was parked ends here: kept,
// a later death would be taken for the consumer's own doing.
func keptHeaders(headers amqp.Table) amqp.Table {
	kept := make(amqp.Table, len(headers))
	for k, v := range headers {
		if noted[k] || strings.HasPrefix(k, "x-first-death-") || strings.HasPrefix(k, "x-last-death-") {
			continue
		}
		if invalidCopies(k, v) {
			k = "warren-" + strings.ToLower(k)
		}
		kept[k] = v
	}
	return kept
}

// noted are headers of RabbitMQ and of the parking, besides x-first-death-* and x-last-death-*.
var noted = map[string]bool{
	"x-death": true, "x-delivery-count": true, "x-acquired-count": true,
	headerParkedReason: true, headerParkedAt: true,
	// A stale one is no way to be skipped.
	headerMark: true,
}

// invalidCopies: CC and BCC name more routing keys. W.redrive is a fanout, so
// that they multiply nothing; but RabbitMQ closes the channel where they are no
// lists of strings, which a message that came by another protocol may have.
func invalidCopies(key string, value any) bool {
	if key != "CC" && key != "BCC" {
		return false
	}
	list, ok := value.([]any)
	if !ok {
		return true
	}
	for _, item := range list {
		if _, ok := item.(string); !ok {
			return true
		}
	}
	return false
}

// returnedSequence is the number that a returned message was published as, 0 if it does not tell.
func returnedSequence(r amqp.Return) uint64 {
	mark, _ := r.Headers[headerMark].(string)
	_, number, _ := strings.Cut(mark, markSeparator)
	n, err := strconv.ParseUint(number, 10, 64)
	if err != nil {
		return 0
	}
	return n
}
