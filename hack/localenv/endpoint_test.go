package localenv

import "testing"

func TestEndpointRoundTrip(t *testing.T) {
	broker := &RabbitMQ{
		AMQPPort:       5672,
		ManagementPort: 15672,
		AdminUser:      "ad min",
		AdminPassword:  "p@ss/w:rd%?#",
		amqpURL:        "amqp://rabbit.example:5672",
		managementURL:  "http://rabbit.example:15672",
	}
	got, err := parseEndpoint(broker.Endpoint())
	if err != nil {
		t.Fatal(err)
	}
	if *got != *broker {
		t.Errorf("%s became %+v", broker.Endpoint(), got)
	}
}

func TestEndpointsThatAreIncomplete(t *testing.T) {
	for endpoint, reason := range map[string]string{
		"": "nothing",
		"amqp://127.0.0.1:5672?management=http://127.0.0.1:15672": "no user",
		"http://a:b@127.0.0.1:5672?management=http://127.0.0.1:1": "not AMQP",
		"amqp://a:b@127.0.0.1?management=http://127.0.0.1:15672":  "no AMQP port",
		"amqp://a:b@127.0.0.1:5672":                               "no management URL",
		"amqp://a:b@127.0.0.1:5672?management=http://127.0.0.1":   "no management port",
	} {
		if _, err := parseEndpoint(endpoint); err == nil {
			t.Errorf("%s: accepted %q", reason, endpoint)
		}
	}
}
