package localenv

import "fmt"

// Series is a line of RabbitMQ releases.
type Series string

// The series that Warren supports and is tested on.
const (
	Series40 Series = "4.0"
	Series43 Series = "4.3"
)

// AllSeries lists every supported series, the oldest first.
func AllSeries() []Series { return []Series{Series40, Series43} }

// seriesSource says where a series comes from.
type seriesSource struct {
	suite   string // the Debian release that carries it
	image   string // the container image
	envName string // the variable that describes a running broker
}

var sources = map[Series]seriesSource{
	Series40: {suite: "trixie", image: "rabbitmq:4.0.5-management", envName: "WARREN_TEST_RABBITMQ_40"},
	Series43: {suite: "forky", image: "rabbitmq:4.3.6-management", envName: "WARREN_TEST_RABBITMQ_43"},
}

func (s Series) source() (seriesSource, error) {
	source, ok := sources[s]
	if !ok {
		return seriesSource{}, fmt.Errorf("no RabbitMQ series %q: choose from %v", s, AllSeries())
	}
	return source, nil
}
