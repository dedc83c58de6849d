package v1alpha1_test

import (
	"strings"
	"testing"
)

const (
	noUserInfo = "no user info in a URL: put username and password into the Secret that credentialsSecretRef names"
	badAMQP    = "amqp.url must be amqp://host:port or amqps://host:port, with no path (the virtual host goes into vhost)"
	badHTTP    = "management.url must be http://host:port or https://host:port, with a path prefix at most"
	oneAddress = "give either amqp, management and credentialsSecretRef, or rabbitmqClusterRef alone"
	selector   = "selector goes with from: Selector, and from: Selector needs a selector"

	badDuration = "should match '^([0-9]{1,5}(h|m|s|ms)){1,4}$'"
	badNaming   = " evaluating rule: naming must be a regular expression (RE2), complete in itself: look for a parenthesis, bracket or quotation without its other end"
	syncRange   = "syncPeriod must be from 1s to 1h"
)

// byCluster takes the addresses of a minimal Broker away and names a cluster.
const byCluster = `{amqp: null, management: null, credentialsSecretRef: null, rabbitmqClusterRef: {name: rabbit, namespace: messaging}}`

func TestBrokerAcceptances(t *testing.T) {
	testAcceptances(t, "Broker", []acceptance{
		{"nothing but what is needed", ``},
		{"the cluster operator's cluster, in place of addresses", byCluster},

		{"TLS on both ways in", `{amqp: {url: "amqps://rabbitmq:5671"}, management: {url: "https://rabbitmq:15671"}}`},
		{"ports have defaults", `{amqp: {url: "amqp://rabbitmq"}, management: {url: "http://rabbitmq"}}`},
		{"a slash at the end is no path", `{amqp: {url: "amqp://rabbitmq:5672/"}, management: {url: "http://rabbitmq:15672/"}}`},
		{"a path prefix of the management API", `management: {url: "https://broker.example:443/tools/rabbitmq"}`},
		{"addresses of IPv6", `{amqp: {url: "amqp://[fd00::1]:5672"}, management: {url: "http://[fd00::1]:15672"}}`},
		{"addresses of IPv4", `{amqp: {url: "amqp://10.0.0.1:5672"}, management: {url: "http://10.0.0.1:15672"}}`},

		{"authorities of one's own and a client's certificate", `tls: {caSecretRef: {name: ca, key: root.pem}, clientCertificateSecretRef: {name: tls}, serverName: rabbitmq}`},
		{"a vhost's name may be anything", `vhost: "/Töpfe & Pfannen %2F"`},

		{"everybody may use it", `allowedNamespaces: {from: All}`},
		{"whoever bears a label may use it", `allowedNamespaces: {from: Selector, selector: {matchLabels: {messaging: "yes"}}}`},
		{"an empty selector chooses all", `allowedNamespaces: {from: Selector, selector: {}}`},
		{"nothing said about who may use it", `allowedNamespaces: {}`},

		{"nobody may adopt", `adoption: {from: None}`},
		{"whoever bears a label may adopt", `adoption: {from: Selector, selector: {matchLabels: {platform: "yes"}}}`},
		{"what lost clusters left is taken over", `acceptedOwners: [` + numbered("cluster-", 16) + `]`},

		{"names begin with the namespace", `naming: '{namespace}\..+'`},
		{"all of RE2", `naming: '(?i)(v[0-9]\.)?{namespace}[._]\pL*(?:\.[^*]{1,100})?'`},
		{"names shared and unnamed, told in a condition", `{allowedNamespaces: {from: All}, naming: null}`},

		{"the shortest sync period", `syncPeriod: 1s`},
		{"the longest sync period", `syncPeriod: 1h`},
		{"a spelling that is not the normal form", `syncPeriod: 5m0s`},
		{"milliseconds", `syncPeriod: 1500ms`},
	})
}

var brokerRefusals = []refusal{
	{"a password in a URL would be read by everybody", `amqp: {url: "amqp://warren:secret@rabbitmq:5672"}`, "spec.amqp.url", noUserInfo},
	{"a user's name alone belongs into the Secret too", `amqp: {url: "amqps://warren@rabbitmq"}`, "spec.amqp.url", noUserInfo},
	{"a path would be taken for the vhost", `amqp: {url: "amqp://rabbitmq:5672/orders"}`, "spec.amqp.url", badAMQP},
	{"AMQP is not HTTP", `amqp: {url: "http://rabbitmq:15672"}`, "spec.amqp.url", badAMQP},
	{"a scheme is needed", `amqp: {url: "rabbitmq:5672"}`, "spec.amqp.url", badAMQP},
	{"a host is needed", `amqp: {url: "amqp://:5672"}`, "spec.amqp.url", badAMQP},
	{"a port is a number", `amqp: {url: "amqp://rabbitmq:amqp"}`, "spec.amqp.url", badAMQP},
	{"parameters would be ignored", `amqp: {url: "amqp://rabbitmq?heartbeat=10"}`, "spec.amqp.url", badAMQP},
	{"an address of IPv6 goes into brackets", `amqp: {url: "amqp://fd00::1"}`, "spec.amqp.url", badAMQP},
	{"an empty URL", `amqp: {url: ""}`, "spec.amqp.url", badAMQP},
	{"a URL is needed", `amqp: {}`, "spec.amqp.url", "Required value"},

	{"a password in a URL would be read by everybody (management)", `management: {url: "https://warren:secret@rabbitmq/prefix"}`, "spec.management.url", noUserInfo},
	{"a password with a slash is no path prefix", `management: {url: "http://warren:p/w@rabbitmq"}`, "spec.management.url", badHTTP},
	{"HTTP is not AMQP", `management: {url: "amqp://rabbitmq:5672"}`, "spec.management.url", badHTTP},
	{"a query is no path prefix", `management: {url: "http://rabbitmq:15672/?page=1"}`, "spec.management.url", badHTTP},
	{"a fragment of the page that a browser shows", `management: {url: "http://rabbitmq:15672/#/queues"}`, "spec.management.url", badHTTP},
	{"a host is needed (management)", `management: {url: "http:///api"}`, "spec.management.url", badHTTP},

	{"both addresses and a cluster", `rabbitmqClusterRef: {name: rabbit}`, "spec", oneAddress},
	{"a cluster and the Secret of addresses", `{amqp: null, management: null, rabbitmqClusterRef: {name: rabbit}}`, "spec", oneAddress},
	{"neither addresses nor a cluster", `{amqp: null, management: null, credentialsSecretRef: null}`, "spec", oneAddress},
	{"no way to read the broker back", `management: null`, "spec", oneAddress},
	{"no way to declare", `amqp: null`, "spec", oneAddress},
	{"no credentials", `credentialsSecretRef: null`, "spec", oneAddress},

	{"a selector by default goes nowhere", `allowedNamespaces: {selector: {matchLabels: {messaging: "yes"}}}`, "spec.allowedNamespaces", selector},
	{"a selector beside All would be ignored", `allowedNamespaces: {from: All, selector: {}}`, "spec.allowedNamespaces", selector},
	{"Selector without one", `allowedNamespaces: {from: Selector}`, "spec.allowedNamespaces", selector},
	{"there is no such choice", `allowedNamespaces: {from: Everybody}`, "spec.allowedNamespaces.from", `Unsupported value: "Everybody": supported values: "Same", "All", "Selector"`},

	{"adoption by a selector without one", `adoption: {from: Selector}`, "spec.adoption", selector},
	{"a selector beside None would be ignored", `adoption: {from: None, selector: {}}`, "spec.adoption", selector},
	{"there is no such choice of who adopts", `adoption: {from: Nobody}`, "spec.adoption.from", `Unsupported value: "Nobody": supported values: "None", "Same", "All", "Selector"`},
	{"more lost clusters than fit", `acceptedOwners: [` + numbered("cluster-", 17) + `]`, "spec.acceptedOwners", "Too many: 17: must have at most 16 items"},
	{"the same lost cluster twice", `acceptedOwners: [a, b, a]`, "spec.acceptedOwners[2]", `Duplicate value: "a"`},
	{"a lost cluster has an id", `acceptedOwners: [""]`, "spec.acceptedOwners[0]", "should be at least 1 chars long"},

	{"a pattern for all alike", `naming: 'orders\..+'`, "spec.naming", "naming needs {namespace} in it, for the name of the namespace whose names it judges, as in '{namespace}[.].+'"},
	{"no regular expression", `naming: '{namespace}\.(.*'`, "spec.naming", "error parsing regexp: missing closing ): `(?:x)\\.(.*`" + badNaming},
	{"a parenthesis that would leave the anchors", `naming: '{namespace}\.x)|(.*'`, "spec.naming", "error parsing regexp: unexpected ): `(?:x)\\.x)|(.*`" + badNaming},
	{"a quotation that would swallow the anchor", `naming: '{namespace}\Q.'`, "spec.naming", "error parsing regexp: missing closing ): `^(?:(?:x)\\Q.)$`" + badNaming},
	{"what RE2 does not know", `naming: '(?!x){namespace}\..*'`, "spec.naming", "error parsing regexp: invalid or unsupported Perl syntax: `(?!`" + badNaming},
	{"a pattern without end", `naming: '{namespace}` + strings.Repeat("a", 246) + `'`, "spec.naming", "Too long: may not be more than 256 bytes"},

	{"reading back without a pause", `syncPeriod: 500ms`, "spec.syncPeriod", syncRange},
	{"reading back too seldom", `syncPeriod: 1h1s`, "spec.syncPeriod", syncRange},
	{"days are written in hours", `syncPeriod: 1d`, "spec.syncPeriod", badDuration},
	{"a vhost has a name", `vhost: ""`, "spec.vhost", "should be at least 1 chars long"},
}

func TestBrokerRefusals(t *testing.T) { testRefusals(t, "Broker", brokerRefusals) }
