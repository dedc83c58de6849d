package broker

import (
	"bytes"
	"context"
	"net/http"
)

// trip carries one request of one task. rabbit-hole knows no context, asks for
// a new connection every time, and would follow a redirect with what it sends.
type trip struct {
	*management
	ctx  context.Context
	task task
}

// RoundTrip reads the whole answer, so that the connection can be used again
// and the time-out holds for all of it, and returns an [*Error] for whatever
// is not a success.
func (t *trip) RoundTrip(request *http.Request) (response *http.Response, err error) {
	err = t.options.measured(t.task, func() error {
		var e *Error
		response, e = t.roundTrip(request) //nolint:bodyclose // It is handed on, as an http.RoundTripper does.
		if e != nil {
			return t.task.wrap(e)
		}
		return nil
	})
	return response, err
}

func (t *trip) roundTrip(request *http.Request) (*http.Response, *Error) {
	ctx, cancel := context.WithTimeout(t.ctx, t.options.timeout(t.task))
	defer cancel()
	request = request.Clone(ctx)
	request.Close = false
	response, err := t.http.RoundTrip(request)
	if err != nil {
		return nil, t.peer.httpError(err)
	}
	defer response.Body.Close()
	a, err := readAnswer(response)
	if err != nil {
		return nil, t.peer.httpError(err)
	}
	if response.StatusCode >= http.StatusMultipleChoices {
		return nil, t.peer.httpRefusal(response, a.plain())
	}
	response.Body = &readBody{bytes.NewReader(a.content), a}
	return response, nil
}

// readBody has been read.
type readBody struct {
	*bytes.Reader
	answer answer
}

func (*readBody) Close() error { return nil }
