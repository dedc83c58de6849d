package broker

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"io"
	"net/http"
)

// maxAnswer limits an answer of the management API: several times what the
// statistics of 50,000 queues take.
const maxAnswer = 256 << 20

var errTooLong = errors.New("the answer is too long")

// answer is the body of an answer as it came: packed, where that was asked
// for. RabbitMQ's lists become a tenth and less, and cost it no more.
type answer struct {
	content []byte
	packed  bool
}

func readAnswer(response *http.Response) (answer, error) {
	a := answer{packed: response.Header.Get("Content-Encoding") == "gzip"}
	var err error
	a.content, err = readAll(response.Body)
	return a, err
}

func readAll(body io.Reader) ([]byte, error) {
	content, err := io.ReadAll(io.LimitReader(body, maxAnswer+1))
	if err == nil && len(content) > maxAnswer {
		err = errTooLong
	}
	return content, err
}

// reader unpacks it.
func (a answer) reader() (io.Reader, error) {
	if !a.packed {
		return bytes.NewReader(a.content), nil
	}
	unpacked, err := gzip.NewReader(bytes.NewReader(a.content))
	if err != nil {
		return nil, err
	}
	return io.LimitReader(unpacked, maxAnswer), nil
}

// plain is for what is short.
func (a answer) plain() []byte {
	if !a.packed {
		return a.content
	}
	unpacked, err := a.reader()
	if err != nil {
		return nil
	}
	content, _ := readAll(unpacked)
	return content
}

func (a answer) decode(into any) error {
	reader, err := a.reader()
	if err != nil {
		return err
	}
	return json.NewDecoder(reader).Decode(into)
}

// eachOf decodes a list one by one: the whole of it would fill the memory.
func eachOf[T any](a answer, do func(T)) error {
	reader, err := a.reader()
	if err != nil {
		return err
	}
	decoder := json.NewDecoder(reader)
	if start, err := decoder.Token(); err != nil || start != json.Delim('[') {
		return errors.Join(err, errors.New("a list was expected"))
	}
	for decoder.More() {
		var element T
		if err := decoder.Decode(&element); err != nil {
			return err
		}
		do(element)
	}
	_, err = decoder.Token()
	return err
}

// remembered is what an answer came to. One that is the same byte by byte is
// not decoded again: most lists stay as they are for days.
type remembered[T any] struct {
	digest [sha256.Size]byte
	known  bool
	value  T
	shared objects
}

func (r *remembered[T]) of(a answer, decode func(answer, *objects) (T, error)) (T, error) {
	digest := sha256.Sum256(a.content)
	if r.known && r.digest == digest {
		return r.value, nil
	}
	r.shared.next()
	value, err := decode(a, &r.shared)
	if err != nil {
		return value, err
	}
	r.digest, r.known, r.value = digest, true, value
	return value, nil
}
