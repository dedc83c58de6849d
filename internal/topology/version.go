package topology

import (
	"fmt"
	"strconv"
	"strings"
)

// Version of RabbitMQ. The zero value stands for "not known".
type Version struct {
	Major, Minor, Patch int
}

// MinimumVersion is the oldest RabbitMQ that Warren works with.
var MinimumVersion = Version{Major: 4}

// ParseVersion reads "4.3.6"; what follows a third number (4.1.0-rc.1) is left out.
func ParseVersion(s string) (Version, error) {
	var n [3]int
	parts := strings.SplitN(s, ".", 3)
	for i, p := range parts {
		digits := strings.IndexFunc(p, func(r rune) bool { return r < '0' || r > '9' })
		if digits >= 0 {
			p = p[:digits]
		}
		v, err := strconv.Atoi(p)
		if err != nil {
			return Version{}, fmt.Errorf("%q is not a RabbitMQ version", s)
		}
		n[i] = v
	}
	return Version{n[0], n[1], n[2]}, nil
}

func (v Version) String() string { return fmt.Sprintf("%d.%d.%d", v.Major, v.Minor, v.Patch) }

// AtLeast tells whether v is major.minor or newer.
func (v Version) AtLeast(major, minor int) bool {
	return v.Major > major || (v.Major == major && v.Minor >= minor)
}

// CarriesDeliveryCount tells whether a message's delivery count goes with it
// across dead-lettering hops (from 4.3 on); before, it starts at 0 in each queue.
func (v Version) CarriesDeliveryCount() bool { return v.AtLeast(4, 3) }

// CountsNackRequeue tells whether basic.nack with requeue=true counts against
// the delivery limit: before 4.3 it does, since then it does not.
func (v Version) CountsNackRequeue() bool { return !v.AtLeast(4, 3) }

// HasDelayedRetry tells whether x-delayed-retry-* works: from 4.3 on. Older
// brokers take the arguments without a word and ignore them, so that the
// version decides and not the declare's success.
func (v Version) HasDelayedRetry() bool { return v.AtLeast(4, 3) }
