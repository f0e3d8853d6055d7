// SPDX-License-Identifier: GPL-2.0-only
/* Policies of dart-flows: what is read, and which mistakes are refused with their line. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "selftests/unit/unit.h"
#include "tools/flows/settings/policy.h"

#define BASE                                                \
	"interface: eth1\n"                                 \
	"table: nat\n"                                      \
	"inside: [10.0.0.0/8, 192.168.1.0/24]\n"            \
	"routes:\n"                                         \
	"  - {prefix: 0.0.0.0/0, mac: 02:00:00:00:00:0b}\n" \
	"  - {prefix: 10.0.0.0/8, mac: 02:00:00:00:00:0a, mtu: 1400}\n"
#define FIREWALL                                                 \
	"function: firewall\ninterface: eth1\ntable: firewall\n" \
	"routes: [{prefix: 0.0.0.0/0, mac: 02:00:00:00:00:0b}]\n"
#define ZONES                                                          \
	"zones:\n"                                                     \
	" - {name: outside, addresses: [0.0.0.0/0]}\n"                 \
	" - {name: inside, addresses: [10.0.0.0/8, 192.168.0.0/16]}\n" \
	" - {name: dmz, addresses: [10.1.0.0/16]}\n"
#define BALANCER                                                 \
	"function: balancer\ninterface: eth1\ntable: balancer\n" \
	"routes: [{prefix: 0.0.0.0/0, mac: 02:00:00:00:00:0b}]\n"
#define SERVICE(more) "services: [{address: 192.0.2.10:80, protocol: tcp, " more "}]\n"
#define SERVERS "servers: [{address: 10.1.0.1:80}]"
#define POOLS "pools: [{addresses: 203.0.113.8/31, ports: 2000-2999}, {addresses: 203.0.113.1}]\n"

static int parse(struct policy *policy, const char *text, struct dart_error *error)
{
	return policy__parse(policy, text, strlen(text), "flows.yaml", error);
}

static void test_all_is_read(void **state)
{
	static const uint8_t last[] = { 0x0a, 0x0b };
	struct dart_error error;
	struct policy policy;

	assert_int_equal(
		parse(&policy,
		      BASE POOLS
		      "rate: 5000\nflows: 1000\naddress: 192.0.2.7\n"
		      "filtering: endpoint-independent\n"
		      "limits: {ports: 10, flows: 20}\n"
		      "timeouts: {tcp: 60s, udp: 1min, icmp: 10s}\n"
		      "static:\n"
		      "  - {protocol: tcp, inside: 10.0.0.5:80, outside: 203.0.113.1:443}\n",
		      &error),
		0);
	assert_string_equal(policy.interface, "eth1");
	assert_string_equal(policy.dartd, "/run/dart/dartd.sock");
	assert_string_equal(policy.journal, "/var/lib/dart-flows/journal");
	assert_int_equal(policy.address_count, 3);
	assert_int_equal(policy.addresses[0].address, 0xcb007101);
	assert_int_equal(policy.addresses[0].first, 1024);
	assert_int_equal(policy.addresses[0].last, 65535);
	assert_int_equal(policy.addresses[2].address, 0xcb007109);
	assert_int_equal(policy.addresses[2].last, 2999);
	assert_true(policy.is_open);
	assert_int_equal(policy__own_address(&policy, false), 0xc0000207);
	policy.address = 0;
	assert_int_equal(policy__own_address(&policy, false), 0xcb007101);
	assert_int_equal(policy.timeout_ns[POLICY_TCP], 60000000000);
	assert_int_equal(policy.timeout_ns[POLICY_UDP], 60000000000);
	assert_int_equal(policy.statics[0].outside.port, 443);
	assert_true(policy__is_inside(&policy, 0x0a000001));
	assert_false(policy__is_inside(&policy, 0xcb007101));
	assert_int_equal(policy__route(&policy, 0x0a000001)->mac[5], last[0]);
	assert_int_equal(policy__route(&policy, 0x08080808)->mac[5], last[1]);
	assert_int_equal(policy__route(&policy, 0x0a000001)->mtu, 1400);
	assert_int_equal(policy__route(&policy, 0x08080808)->mtu, 0);
	assert_non_null(policy__find_address(&policy, 0xcb007108));
	assert_null(policy__find_address(&policy, 0xcb00710a));
	policy__clear(&policy);
}

static void test_server(void **state)
{
	struct policy policy, next;
	struct dart_error error;

	assert_int_equal(parse(&policy, BASE POOLS "server: {address: 192.0.2.1}\n", &error), 0);
	assert_string_equal(policy.server.address, "192.0.2.1");
	assert_string_equal(policy.server.name, "192.0.2.1");
	assert_int_equal(policy.server.port, 4793);
	assert_string_equal(policy.server.certificate, "/etc/dart/tls/flows.pem");
	assert_string_equal(policy.server.key, "/etc/dart/tls/flows.key");
	assert_string_equal(policy.server.authorities, "/etc/dart/tls/authorities.pem");
	assert_string_equal(policy.server.revoked, "/etc/dart/tls/revoked.pem");
	assert_int_equal(parse(&next,
			       BASE POOLS
			       "server: {address: 'fd00::1', name: db1.example, port: 99,"
			       " certificate: /c, key: /k, authorities: /a}\n",
			       &error),
			 0);
	assert_string_equal(next.server.name, "db1.example");
	assert_int_equal(next.server.port, 99);
	assert_null(next.server.revoked);
	assert_int_equal(policy__check_reload(&policy, &next, &error), -EINVAL);
	assert_non_null(strstr(error.text, "'server' has another value"));
	policy__clear(&next);
	assert_int_equal(parse(&next, BASE POOLS "server: {address: 192.0.2.1}\n", &error), 0);
	assert_int_equal(policy__check_reload(&policy, &next, &error), 0);
	policy__clear(&next);
	assert_int_equal(parse(&next, BASE POOLS, &error), 0);
	assert_null(next.server.address);
	assert_int_equal(policy__check_reload(&policy, &next, &error), -EINVAL);
	policy__clear(&next);
	policy__clear(&policy);
}

static void test_mistakes_have_a_line(void **state)
{
	static const struct {
		const char *text, *sentence;
	} mistakes[] = {
		{ "", "flows.yaml: the file has no policy" },
		{ "[]", "flows.yaml:1: " },
		{ BASE, "flows.yaml:1: a policy has 'interface', 'table', 'inside', 'pools' and" },
		{ BASE POOLS "colour: red\n", "flows.yaml:8: unknown key 'colour'" },
		{ BASE POOLS "address: 192.0.2\n", "flows.yaml:8: '192.0.2' is not an IPv4" },
		{ BASE POOLS "address: 224.0.0.5\n", "flows.yaml:8: '224.0.0.5' is no address of" },
		{ BASE POOLS "server: {port: 1}\n", "flows.yaml:8: a server has 'address'" },
		{ BASE POOLS "server: {address: db1.example}\n",
		  "flows.yaml:8: 'db1.example' is not an address" },
		{ BASE POOLS "server: {address: 192.0.2.1, name: '*.example'}\n",
		  "flows.yaml:8: '*.example' is not the name of a host" },
		{ BASE POOLS "server: {address: 192.0.2.1, key: /k}\n",
		  "flows.yaml:8: a server has 'certificate', 'key' and 'authorities', or none" },
		{ BASE POOLS "server: {address: 192.0.2.1, key: k}\n",
		  "flows.yaml:8: 'k' is not an absolute path" },
		{ BASE POOLS "dartd: /s\nserver: {address: 192.0.2.1}\n",
		  "'dartd' is of this host, and 'server' of another one" },
		{ BASE POOLS "rate: -1\n", "flows.yaml:8: '-1' is not a number from 1 to" },
		{ BASE POOLS "rate: 0\n", "flows.yaml:8: '0' is not a number" },
		{ BASE POOLS "timeouts: {udp: 1s}\n",
		  "flows.yaml:8: '1s' is not a time from 10s to" },
		{ BASE POOLS "filtering: open\n", "flows.yaml:8: 'open' is neither" },
		{ BASE "pools: [{addresses: 203.0.113.0/8}]\n",
		  "flows.yaml:7: '203.0.113.0/8' has" },
		{ BASE "pools: [{addresses: 0.0.0.0/0}]\n", "flows.yaml:7: more than 4096" },
		{ BASE "pools: [{addresses: fd00::1}]\n",
		  "flows.yaml:7: 'fd00::1' is not a range of IPv4" },
		{ BASE "pools: [{ports: 1-2}]\n", "flows.yaml:7: a pool without 'addresses'" },
		{ BASE "pools: [{addresses: 203.0.113.1, ports: 0-9}]\n",
		  "flows.yaml:7: '0-9' is not a range" },
		{ BASE "pools: [{addresses: 203.0.113.1, ports: 9-1}]\n",
		  "flows.yaml:7: '9-1' is not a range" },
		{ BASE "pools: [{addresses: 203.0.113.1, ports: 1-65536}]\n",
		  "flows.yaml:7: '1-65536' is" },
		{ BASE "pools: [{addresses: 203.0.113.1}, {addresses: 203.0.113.0/30}]\n",
		  "an address is in two pools" },
		{ BASE "pools: [{addresses: 10.0.0.1}]\n",
		  "an address of a pool is in 'inside', too" },
		{ BASE POOLS
		  "static: [{protocol: icmp, inside: 10.0.0.1:1, outside: 203.0.113.1:1}]\n",
		  "flows.yaml:8: 'icmp' is neither tcp nor udp" },
		{ BASE POOLS
		  "static: [{protocol: tcp, inside: 10.0.0.1:0, outside: 203.0.113.1:1}]\n",
		  "flows.yaml:8: '10.0.0.1:0' is not an address and a port" },
		{ BASE POOLS "static: [{protocol: tcp, inside: 10.0.0.1:1}]\n",
		  "flows.yaml:8: a static mapping has 'protocol', 'inside' and 'outside'" },
		{ BASE POOLS
		  "static: [{protocol: tcp, inside: 10.0.0.1:1, outside: 192.0.2.1:1}]\n",
		  "the outside address of a static mapping is in no pool" },
		{ BASE POOLS
		  "static: [{protocol: tcp, inside: 1.0.0.1:1, outside: 203.0.113.1:1}]\n",
		  "the inside address of a static mapping is not in 'inside'" },
		{ BASE POOLS "static: [{protocol: tcp, inside: 10.0.0.1:1, outside: 203.0.113.1:1},"
			     " {protocol: tcp, inside: 10.0.0.2:1, outside: 203.0.113.1:1}]\n",
		  "two static mappings have the same outside" },
		{ BASE POOLS "static: [{protocol: tcp, inside: 10.0.0.1:1, outside: 203.0.113.1:1},"
			     " {protocol: tcp, inside: 10.0.0.1:1, outside: 203.0.113.1:2}]\n",
		  "two static mappings have the same inside" },
		{ "routes: [{prefix: 10.0.0.0/8}]\n", "flows.yaml:1: a route without 'mac'" },
		{ "routes: [{prefix: 10.0.0.0/8, mac: 01:00:00:00:00:01}]\n",
		  "flows.yaml:1: '01:00:00:00:00:01' is not the Ethernet address of a host" },
		{ "routes: [{prefix: 10.0.0.0/8, mac: '02:00:00:00:00:1 '}]\n",
		  "flows.yaml:1: '02:00:00:00:00:1 ' is not" },
		{ "routes: [{prefix: 10.0.0.0/8, mac: 02:00:00:00:00:01, mtu: 575}]\n",
		  "flows.yaml:1: '575' is not a number from 576 to 65535" },
		{ "neighbours: [{address: 10.0.0.1}]\n",
		  "flows.yaml:1: a neighbour has 'address' and 'mac'" },
		{ "neighbours: [{address: 224.0.0.1, mac: 02:00:00:00:00:01}]\n",
		  "flows.yaml:1: '224.0.0.1' is not the address of a host" },
		{ "neighbours: [{address: 'ff02::1', mac: 02:00:00:00:00:01}]\n",
		  "flows.yaml:1: 'ff02::1' is not the address of a host" },
		{ "neighbours: [{address: 10.0.0.1, mac: 02:00:00:00:00:01},\n"
		  " {address: 10.0.0.1, mac: 02:00:00:00:00:02}]\n",
		  "flows.yaml:2: two neighbours have the same address" },
		{ FIREWALL ZONES "neighbours: [{address: 'fe80::1', mac: 02:00:00:00:00:01}]\n",
		  "addresses of IPv6 need 'families: both'" },
		{ "interface: an-interface-name\n",
		  "flows.yaml:1: 'an-interface-name' is not a name" },
		{ FIREWALL, "a policy of a firewall has 'interface', 'table', 'zones' and" },
		{ FIREWALL "zones: [{name: a, addresses: ['2001:db8::/32']}]\n",
		  "addresses of IPv6 need 'families: both'" },
		{ FIREWALL ZONES "address6: 2001:db8::1\n",
		  "addresses of IPv6 need 'families: both'" },
		{ BASE POOLS "families: both\n",
		  "'families: both' and 'address6' are for all functions but 'nat'" },
		{ "families: ipv6\n", "flows.yaml:1: 'ipv6' is neither both nor ipv4" },
		{ "address6: 10.0.0.1\n", "flows.yaml:1: '10.0.0.1' is not an IPv6 address" },
		{ "address6: fe80::1\n", "flows.yaml:1: 'fe80::1' is no address of a host" },
		{ "address: 2001:db8::1\n", "flows.yaml:1: '2001:db8::1' is not an IPv4 address" },
		{ "inside: ['2001:db8::/32']\n",
		  "flows.yaml:1: '2001:db8::/32' is not a range of IPv4 addresses" },
		{ FIREWALL "zones: [{name: a, addresses: ['::1']}]\n",
		  "flows.yaml:5: '::1' has no address of an IPv6 host" },
		{ "routes: [{prefix: '::/0', mac: 02:00:00:00:00:01, mtu: 1279}]\n",
		  "flows.yaml:1: an 'mtu' of IPv6 is 1280 or more" },
		{ "function: router\n",
		  "flows.yaml:1: 'router' is neither nat, firewall, balancer nor gateway" },
		{ "function: gateway\ninterface: eth1\ntable: t\n",
		  "a policy of a gateway has 'interface', 'table', 'tunnels' and 'routes'" },
		{ BASE POOLS "tunnels: /run/tunnels.yaml\n",
		  "'tunnels' is for 'function: gateway'" },
		{ BASE POOLS "rules: [{action: drop}]\n", "'rules' are for 'function: firewall'" },
		{ FIREWALL ZONES POOLS,
		  "'pools', 'static' and 'filtering' are for 'function: nat" },
		{ FIREWALL ZONES "rules: [{from: lan}]\n",
		  "a rule is about 'lan', which is not a zone" },
		{ FIREWALL "zones: [{name: a}]\n", "flows.yaml:5: a zone has 'name' and" },
		{ FIREWALL "zones: [{name: a, addresses: []}, {name: a, addresses: []}]\n",
		  "flows.yaml:5: two zones have the name 'a'" },
		{ FIREWALL "zones: [{name: a, addresses: [10.0.0.0/8, 10.0.0.0/8]}]\n",
		  "flows.yaml:5: '10.0.0.0/8' is in a zone already" },
		{ FIREWALL "zones: [{name: an-endless-name-of-more-than-31-bytes}]\n",
		  "flows.yaml:5: 'an-endless-name-of-more-than-31-bytes' is not a name" },
		{ FIREWALL "rules: [{ports: [80]}]\n", "flows.yaml:5: 'ports' need 'protocol'" },
		{ FIREWALL "rules: [{protocol: icmp, ports: [80]}]\n",
		  "flows.yaml:5: 'ports' need 'protocol'" },
		{ FIREWALL "rules: [{protocol: tcp, ports: []}]\n",
		  "flows.yaml:5: 'ports' without a port" },
		{ FIREWALL "rules: [{protocol: tcp, ports: [9-1]}]\n",
		  "flows.yaml:5: '9-1' is not a port or a range" },
		{ FIREWALL "rules: [{protocol: tcp, ports: [65536]}]\n",
		  "flows.yaml:5: '65536' is not a port" },
		{ FIREWALL "rules: [{protocol: tcp, ports: [1-2-3]}]\n",
		  "flows.yaml:5: '1-2-3' is not a port" },
		{ FIREWALL "rules: [{protocol: tcp, ports: [-1]}]\n",
		  "flows.yaml:5: '-1' is not a port" },
		{ FIREWALL "rules: [{protocol: gre}]\n",
		  "flows.yaml:5: 'gre' is neither tcp, udp nor icmp" },
		{ FIREWALL "rules: [{action: allow}]\n",
		  "flows.yaml:5: 'allow' is neither accept, drop nor reject" },
		{ FIREWALL "refusal: accept\n",
		  "flows.yaml:5: 'accept' is neither drop nor reject" },
		{ FIREWALL "reverse_path: loose\n",
		  "flows.yaml:5: 'loose' is neither strict nor off" },
		{ BALANCER, "a policy of a balancer has 'interface', 'table', 'services' and" },
		{ BASE POOLS SERVICE(SERVERS), "'services' are for 'function: balancer'" },
		{ BALANCER SERVICE(SERVERS) POOLS, "'filtering' are for 'function: nat" },
		{ BALANCER SERVICE(SERVERS) ZONES, "'rules' are for 'function: firewall'" },
		{ BALANCER "services: [{address: 192.0.2.10:80, " SERVERS "}]\n",
		  "flows.yaml:5: a service has 'address', 'protocol' and 'servers'" },
		{ BALANCER SERVICE("when_down: keep"), "flows.yaml:5: a service has 'address'" },
		{ BALANCER SERVICE("servers: []"), "flows.yaml:5: a service without a server" },
		{ BALANCER SERVICE("servers: [{weight: 1}]"),
		  "flows.yaml:5: a server without 'address'" },
		{ BALANCER SERVICE("servers: [{address: '[fd00::1]:80'}]"),
		  "the server [fd00::1]:80 is of another family than its service" },
		{ BALANCER "services: [{address: '[fd00::1]:80', protocol: tcp, "
			   "servers: [{address: '[fd00::2]:80'}]}]\n",
		  "the server [fd00::2]:80 is in no prefix of 'routes'" },
		{ BALANCER SERVICE("servers: [{address: 10.1.0.1:80, weight: 0}]"),
		  "flows.yaml:5: '0' is not a number from 1 to 256" },
		{ BALANCER SERVICE("servers: [{address: 10.1.0.1:80, weight: 257}]"),
		  "flows.yaml:5: '257' is not a number from 1 to 256" },
		{ BALANCER SERVICE("servers: [{address: 10.1.0.1:80, drain: on}]"),
		  "flows.yaml:5: 'on' is neither true nor false" },
		{ BALANCER SERVICE("servers: [{address: 10.1.0.1:80}, {address: 10.1.0.1:80}]"),
		  "flows.yaml:5: the service has the server 10.1.0.1:80 already" },
		{ BALANCER "services: [{address: 192.0.2.10:80, protocol: tcp, " SERVERS "},\n"
			   " {address: 192.0.2.11:80, protocol: tcp, " SERVERS "}]\n",
		  "flows.yaml:6: another service of tcp has the server 10.1.0.1:80: answers to" },
		{ BALANCER "services: [{address: 192.0.2.10:80, protocol: tcp, " SERVERS "},\n"
			   " {address: 192.0.2.10:80, protocol: tcp, " SERVERS "}]\n",
		  "flows.yaml:6: two services are tcp 192.0.2.10:80" },
		{ BALANCER SERVICE("servers: [{address: 192.0.2.10:81}]"),
		  "the server 192.0.2.10:81 has the address of a service" },
		{ "function: balancer\ninterface: eth1\ntable: t\n" SERVICE(
			  SERVERS) "routes: [{prefix: 10.2.0.0/16, mac: 02:00:00:00:00:0b}]\n",
		  "the server 10.1.0.1:80 is in no prefix of 'routes'" },
		{ BALANCER SERVICE(SERVERS ", when_down: drop"),
		  "flows.yaml:5: 'drop' is neither end nor keep" },
		{ BALANCER SERVICE(SERVERS ", check: {interval: 10ms}"),
		  "flows.yaml:5: '10ms' is not a time from 100ms to" },
		{ BALANCER SERVICE(SERVERS ", check: {interval: 1s, timeout: 2s}"),
		  "flows.yaml:5: the 'timeout' of a check is longer than its 'interval'" },
		{ BALANCER SERVICE(SERVERS ", check: {rise: 0}"),
		  "flows.yaml:5: '0' is not a number from 1 to 100" },
		{ BALANCER SERVICE(SERVERS ", check: {port: 65536}"),
		  "flows.yaml:5: '65536' is not a number from 1 to 65535" },
		{ BALANCER "services: [{address: 192.0.2.10:80, protocol: udp, check: {}, " SERVERS
			   "}]\n",
		  "flows.yaml:5: a check of a service of udp needs a 'port'" },
		{ "journal: flows\n", "flows.yaml:1: 'flows' is not an absolute path" },
	};
	struct dart_error error;
	struct policy policy;
	size_t i;

	for (i = 0; i < sizeof(mistakes) / sizeof(mistakes[0]); i++) {
		assert_int_equal(parse(&policy, mistakes[i].text, &error), -EINVAL);
		if (!strstr(error.text, mistakes[i].sentence))
			fail_msg("'%s' lacks '%s'", error.text, mistakes[i].sentence);
	}
}

static void test_a_reload_keeps_some_settings(void **state)
{
	struct policy now, next;
	struct dart_error error;

	assert_int_equal(parse(&now, BASE POOLS, &error), 0);
	assert_int_equal(now.timeout_ns[POLICY_TCP], 7440000000000);
	assert_int_equal(parse(&next, BASE POOLS "rate: 7\nlimits: {ports: 1}\n", &error), 0);
	assert_int_equal(policy__check_reload(&now, &next, &error), 0);
	policy__clear(&next);
	assert_int_equal(parse(&next, BASE POOLS "flows: 7\n", &error), 0);
	assert_int_equal(policy__check_reload(&now, &next, &error), -EINVAL);
	assert_non_null(strstr(error.text, "'flows' has another value, which needs a restart"));
	policy__clear(&next);
	policy__clear(&now);
}

static enum policy_action decide(const struct policy *policy, uint8_t protocol, uint32_t source,
				 uint32_t destination, uint16_t port)
{
	const struct end to = { destination, port };

	return policy__decide(policy, protocol, source, &to);
}

static void test_rules(void **state)
{
	const uint32_t inside = 0x0a000001, dmz = 0x0a010001, outside = 0xc6336401;
	struct dart_error error;
	struct policy policy;

	assert_int_equal(
		parse(&policy,
		      FIREWALL ZONES
		      "rules:\n"
		      " - {from: outside, to: dmz, protocol: tcp, ports: [80, 8000-8099]}\n"
		      " - {from: outside, to: dmz, protocol: tcp, action: drop}\n"
		      " - {from: inside}\n"
		      " - {to: dmz, protocol: icmp}\n"
		      "refusal: reject\nlimits: {opening: 10, refusals: 20}\n"
		      "timeouts: {transitory: 30s}\n",
		      &error),
		0);
	assert_int_equal(policy.timeout_ns[POLICY_TRANSITORY], 30000000000);
	assert_int_equal(policy.opening_limit, 10);
	assert_int_equal(policy.refusal_rate, 20);
	assert_true(policy.is_strict);
	assert_int_equal(decide(&policy, 6, outside, dmz, 80), POLICY_ACCEPT);
	assert_int_equal(decide(&policy, 6, outside, dmz, 8099), POLICY_ACCEPT);
	assert_int_equal(decide(&policy, 6, outside, dmz, 8100), POLICY_DROP);
	assert_int_equal(decide(&policy, 17, outside, dmz, 80), POLICY_REJECT);
	assert_int_equal(decide(&policy, 1, outside, dmz, 0), POLICY_ACCEPT);
	assert_int_equal(decide(&policy, 6, inside, dmz, 1), POLICY_ACCEPT);
	assert_int_equal(decide(&policy, 6, inside, outside, 1), POLICY_ACCEPT);
	/* The longest range decides about the zone. */
	assert_int_equal(decide(&policy, 6, dmz, inside, 1), POLICY_REJECT);
	assert_int_equal(decide(&policy, 6, outside, inside, 80), POLICY_REJECT);
	policy__clear(&policy);
}

static void test_services(void **state)
{
	const struct end web = { 0xc000020a, 80 }, names = { 0xc000020a, 53 };
	const struct policy_service *service;
	struct dart_error error;
	struct policy policy;

	assert_int_equal(
		parse(&policy,
		      BALANCER
		      "services:\n"
		      " - address: 192.0.2.10:80\n   protocol: tcp\n   when_down: end\n"
		      "   check: {interval: 5s, timeout: 500ms, rise: 4, fall: 5, port: 81}\n"
		      "   servers:\n"
		      "    - {address: 10.1.0.2:8080, weight: 3}\n"
		      "    - {address: 10.1.0.1:8080, drain: true}\n"
		      " - {address: 192.0.2.10:53, protocol: udp, check: {port: 9, interval: 200ms},"
		      " servers: [{address: 10.1.0.2:8080}]}\n",
		      &error),
		0);
	assert_int_equal(policy.timeout_ns[POLICY_TCP], 900000000000);
	service = policy__find_service(&policy, 6, &web);
	assert_non_null(service);
	assert_true(service->ends_when_down && service->check.is_given);
	assert_int_equal(service->check.interval_ns, 5000000000);
	assert_int_equal(service->check.timeout_ns, 500000000);
	assert_int_equal(service->check.rise, 4);
	assert_int_equal(service->check.fall, 5);
	assert_int_equal(service->check.port, 81);
	assert_int_equal(service->server_count, 2);
	assert_int_equal(policy.servers[service->first_server].end.address, 0x0a010001);
	assert_true(policy.servers[service->first_server].is_draining);
	assert_int_equal(policy.servers[service->first_server + 1].weight, 3);
	service = policy__find_service(&policy, 17, &names);
	assert_non_null(service);
	assert_false(service->ends_when_down);
	assert_int_equal(service->check.timeout_ns, 200000000);
	assert_ptr_equal(&policy.services[policy.servers[service->first_server].service], service);
	assert_null(policy__find_service(&policy, 17, &web));
	assert_true(policy__is_service(&policy, web.address));
	assert_false(policy__is_service(&policy, web.address + 1));
	assert_false(policy__is_service(&policy, web.address - 1));
	policy__clear(&policy);
}

/* Servers are listed in no order, in two services. */
static void test_many_servers(void **state)
{
	const size_t count = POLICY_SERVERS_MAX / 2;
	static char text[POLICY_SERVERS_MAX * 40];
	const struct policy_service *services[2];
	struct dart_error error;
	struct policy policy;
	struct end end;
	size_t length, i, service;

	length = snprintf(text, sizeof(text), BALANCER "services:\n");
	for (service = 0; service < 2; service++) {
		length += snprintf(text + length, sizeof(text) - length,
				   " - address: 192.0.2.1%zu:80\n   protocol: tcp\n   servers:\n",
				   service);
		for (i = 0; i < count; i++)
			length += snprintf(text + length, sizeof(text) - length,
					   "    - {address: 10.1.%zu.%zu:%zu}\n", service,
					   i * 77 % 128, 8000 + i * 77 / 128 % 4);
	}
	assert_int_equal(parse(&policy, text, &error), 0);
	for (service = 0; service < 2; service++)
		services[service] =
			policy__find_service(&policy, 6, &(struct end){ 0xc000020a + service, 80 });
	for (i = 0; i < count; i++) {
		end = policy.servers[services[1]->first_server + i].end;
		assert_ptr_equal(policy__find_server(&policy, services[1], &end),
				 &policy.servers[services[1]->first_server + i]);
		assert_null(policy__find_server(&policy, services[0], &end));
		end.port += 100;
		assert_null(policy__find_server(&policy, services[1], &end));
	}
	policy__clear(&policy);
}

/* The longest range counts, and none of IPv6 contains an address of IPv4. */
static void test_both_families(void **state)
{
	static const struct {
		const char *address;
		enum policy_action action; /* to a host in zone b */
		uint8_t mac; /* of its route; 0: none */
	} hosts[] = {
		{ "2001:db8::1", POLICY_ACCEPT, 1 }, { "2001:db8:1::1", POLICY_REJECT, 2 },
		{ "2001:db9::1", POLICY_DROP, 1 },   { "10.0.0.1", POLICY_ACCEPT, 3 },
		{ "11.0.0.1", POLICY_DROP, 0 },
	};
	struct dart_error error;
	struct policy policy;
	struct end host, other;
	size_t i;

	assert_true(end__parse("[2001:db8:1::2]:80", &other));
	assert_int_equal(parse(&policy,
			       "function: firewall\ninterface: e\ntable: t\nfamilies: both\n"
			       "routes: [{prefix: '::/0', mac: 02:00:00:00:00:01, mtu: 1280},"
			       " {prefix: '2001:db8:1::/48', mac: 02:00:00:00:00:02},"
			       " {prefix: 10.0.0.0/8, mac: 02:00:00:00:00:03, mtu: 576}]\n"
			       "zones: [{name: a, addresses: ['2001:db8::/32', 10.0.0.0/8]},"
			       " {name: b, addresses: ['2001:db8:1::/48']}]\n"
			       "rules: [{from: a, to: b}, {from: b, to: b, action: reject}]\n",
			       &error),
			 0);
	for (i = 0; i < sizeof(hosts) / sizeof(hosts[0]); i++) {
		const struct policy_route *route;

		assert_true(address__parse(hosts[i].address, &host.address));
		assert_int_equal(policy__decide(&policy, 6, host.address, &other), hosts[i].action);
		route = policy__route(&policy, host.address);
		assert_int_equal(route ? route->mac[5] : 0, hosts[i].mac);
	}
	policy__clear(&policy);
}

static void test_ends(void **state)
{
	static const char *const wrong[] = { "",
					     "10.0.0.1",
					     "10.0.0.1:",
					     "10.0.0.1:x",
					     "10.0.0.1:1x",
					     "10.0.0.1:65536",
					     "10.0.0.1:-1",
					     ":1",
					     "10.0.0.256:1",
					     "10.0.0.1: 1" };
	char text[END_TEXT];
	struct end end;
	size_t i;

	assert_true(end__parse("255.255.255.255:65535", &end));
	assert_string_equal(end__print(&end, text), "255.255.255.255:65535");
	assert_true(end__parse("10.0.0.1:65535", &end));
	assert_int_equal(end.address, 0x0a000001);
	assert_int_equal(end.port, 65535);
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_false(end__parse(wrong[i], &end));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("a policy is read", test_all_is_read),
		TEST("the dartd of another host has usual files, and stays until a restart",
		     test_server),
		TEST("each mistake is refused with its line", test_mistakes_have_a_line),
		TEST("a reload keeps some settings", test_a_reload_keeps_some_settings),
		TEST("the first rule that fits decides, and then the refusal", test_rules),
		TEST("services and their servers are found", test_services),
		TEST("each of many servers is found", test_many_servers),
		TEST("ranges of both families are told apart", test_both_families),
		TEST("an end is an address and a port", test_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
