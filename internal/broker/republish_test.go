package broker

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	amqp "github.com/rabbitmq/amqp091-go"
)

const frameMax = 131_072

func TestHeadersOfARepublishedMessage(t *testing.T) {
	cases := []struct {
		reason  string
		headers amqp.Table
		userID  string
		want    amqp.Table
	}{
		{"none", nil, "", amqp.Table{"warren-redrives": int64(1), "warren-redrive": "m/7"}},
		{"what RabbitMQ noted goes",
			amqp.Table{"a": "b", "x-death": []any{}, "x-delivery-count": int64(2), "x-acquired-count": int64(3), "x-first-death-queue": "w", "x-last-death-reason": "rejected"}, "",
			amqp.Table{"a": "b", "warren-redrives": int64(1), "warren-redrive": "m/7"}},
		{"how it was parked goes", amqp.Table{"warren-parked-reason": "x", "warren-parked-at": "y"}, "",
			amqp.Table{"warren-redrives": int64(1), "warren-redrive": "m/7"}},
		{"an application's own x- header stays", amqp.Table{"x-tenant": "a"}, "",
			amqp.Table{"x-tenant": "a", "warren-redrives": int64(1), "warren-redrive": "m/7"}},
		{"it is counted", amqp.Table{"warren-redrives": int64(4), "warren-redrive": "other/1"}, "",
			amqp.Table{"warren-redrives": int64(5), "warren-redrive": "m/7"}},
		{"the publisher's name", nil, "app", amqp.Table{"warren-redrives": int64(1), "warren-redrive": "m/7", "warren-user-id": "app"}},
		{"copies that RabbitMQ takes", amqp.Table{"CC": []any{"a"}}, "",
			amqp.Table{"CC": []any{"a"}, "warren-redrives": int64(1), "warren-redrive": "m/7"}},
		{"copies that RabbitMQ would close the channel for", amqp.Table{"CC": "a", "BCC": []any{1}}, "",
			amqp.Table{"warren-cc": "a", "warren-bcc": []any{1}, "warren-redrives": int64(1), "warren-redrive": "m/7"}},
	}
	for _, tc := range cases {
		t.Run(tc.reason, func(t *testing.T) {
			got, fits := republished(amqp.Delivery{Headers: tc.headers, UserId: tc.userID, Expiration: "5"}, "m", 7, frameMax)
			if diff := cmp.Diff(tc.want, got.Headers); diff != "" || !fits {
				t.Errorf("fits %t (-want +got):\n%s", fits, diff)
			}
			if got.UserId != "" || got.Expiration != "" {
				t.Errorf("user-id %q and expiration %q, want none", got.UserId, got.Expiration)
			}
		})
	}
}

// Up to the last byte that was published once it can be published again.
func TestRepublishedFitsIntoAFrame(t *testing.T) {
	const around = 8 + 14 + 4 + 1 + 1 + 5 // the frame, the fixed part, the table, and a key of one byte with its string
	for _, tc := range []struct {
		size      int
		fits, own bool
	}{
		{frameMax - around - 100, true, true},
		{frameMax - around, true, false},
		{frameMax - around + 1, false, false},
	} {
		got, fits := republished(amqp.Delivery{Headers: amqp.Table{"h": strings.Repeat("x", tc.size)}}, "m", 7, frameMax)
		_, own := got.Headers[headerMark]
		if fits != tc.fits || own != tc.own {
			t.Errorf("a header of %d bytes: fits %t, with Warren's own %t; want %t, %t", tc.size, fits, own, tc.fits, tc.own)
		}
	}
}

func TestWhichMessageWasReturned(t *testing.T) {
	for mark, want := range map[any]uint64{"uid/17": 17, "uid": 0, "uid/x": 0, nil: 0, 5: 0} {
		if got := returnedSequence(amqp.Return{Headers: amqp.Table{headerMark: mark}}); got != want {
			t.Errorf("mark %v: got %d, want %d", mark, got, want)
		}
	}
}
