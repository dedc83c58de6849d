package binding

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"net"
	"net/url"
	"regexp"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/warren-mq/warren/internal/broker"
	"github.com/warren-mq/warren/internal/topology"
)

// Offer is what an application is told, and what its user may do.
type Offer struct {
	// Owner of ConfigMap, Secret and user.
	Owner client.Object
	// Name of the ConfigMap and of the Secret.
	Name string
	// User that is generated, without a password.
	User broker.Account
	// Connection has the keys of the ConfigMap.
	Connection map[string]string
	endpoint   broker.Endpoint
}

// Consumer may read the work queue and park.
func Consumer(clusterID string, owner client.Object, at broker.Endpoint, names topology.Names) Offer {
	o := offer(clusterID, "ReliableSubscription", owner, at)
	o.Name = objectName(owner.GetName(), "-binding")
	o.User.Rights = broker.Rights{Configure: nothing, Write: exactly(names.Park()), Read: exactly(names.Work)}
	maps.Copy(o.Connection, map[string]string{"work-queue": names.Work, "parking-exchange": names.Park(), "parking-queue": names.Parking})
	return o
}

// Publisher may publish to an exchange. The suffix does not end as a consumer's
// does: whatever their names, a Topic and a subscription never want one object.
func Publisher(clusterID string, owner client.Object, at broker.Endpoint, exchange string) Offer {
	o := offer(clusterID, "Topic", owner, at)
	o.Name = objectName(owner.GetName(), "-topic-publisher")
	o.User.Rights = broker.Rights{Configure: nothing, Write: exactly(exchange), Read: nothing}
	o.Connection["exchange"] = exchange
	return o
}

func offer(clusterID, kind string, owner client.Object, at broker.Endpoint) Offer {
	return Offer{
		Owner: owner, endpoint: at,
		User: broker.Account{Name: Username(clusterID, kind, owner), Tag: Tag(clusterID)},
		Connection: map[string]string{
			"type": "rabbitmq", "provider": "warren",
			"host": at.Host, "port": at.Port, "virtual-host": at.Vhost, "uri": uri(at, nil),
		},
	}
}

// Secret has the keys of the Secret.
func (o Offer) Secret(password string) map[string]string {
	data := maps.Clone(o.Connection)
	data["username"], data["password"] = o.User.Name, password
	data["uri"] = uri(o.endpoint, url.UserPassword(o.User.Name, password))
	return data
}

// Revision is another one when the Secret's content or the user's rights are,
// the password left out.
func (o Offer) Revision() string { return digest(o.Connection, o.User.Name, o.User.Rights) }

// ConnectionRevision is another one when the ConfigMap's content is.
func (o Offer) ConnectionRevision() string { return digest(o.Connection) }

func digest(parts ...any) string {
	content, err := json.Marshal(parts)
	if err != nil {
		panic(err) // strings can always be encoded
	}
	return short(string(content))
}

// nothing matches no name: RabbitMQ checks no empty one.
const nothing = `^\z`

// exactly matches one name. Not by $, which also matches before a newline at the end.
func exactly(name string) string { return "^" + regexp.QuoteMeta(name) + `\z` }

func uri(at broker.Endpoint, user *url.Userinfo) string {
	u := url.URL{Scheme: "amqp", Host: net.JoinHostPort(at.Host, at.Port), User: user}
	if at.Secure {
		u.Scheme = "amqps"
	}
	return u.String() + "/" + url.PathEscape(at.Vhost)
}

// short is a digest that tells names apart.
func short(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:8])
}
