// SPDX-License-Identifier: GPL-2.0-only
/* The configuration file of dart-controller. */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <libdart/error.h>

#include "selftests/unit/unit.h"
#include "tools/controller/settings/config.h"

static struct settings settings;
static struct dart_error error;

static int load_bytes(const char *bytes, size_t length)
{
	FILE *file = fmemopen((void *)bytes, length, "r");
	int err;

	assert_non_null(file);
	err = config__load(&settings, file, "f", &error);
	fclose(file);
	return err;
}

static int load(const char *text)
{
	return load_bytes(text, strlen(text));
}

static int clear_settings(void **state)
{
	settings__clear(&settings);
	return 0;
}

static const char whole[] =
	"interval: 100ms\n"
	"entries: [cpustat, vmstat]\n"
	"flow: {control: credit, bytes: 8M}\n"
	"io: {kind: hybrid, fragments: 8, group: 16}\n"
	"record: {file: /var/r, size: 64M, files: 3}\n"
	"workers: 3\n"
	"handshakes: 100\n"
	"clock_bound: 500ms\n"
	"dscp: 26\n"
	"mirror: 256K\n"
	"shard: {member: 2, members: 3, replication: 1, standby: 10s}\n"
	"limits: {series: 5, all_series: 6, label_bytes: 7}\n"
	"metric_relabel_configs: [{regex: x, action: labeldrop}]\n"
	"replica: b\n"
	"outputs:\n"
	"  - {listen: '[::1]:9000', user: u, password_file: /p, certificate: /c, key: /k,\n"
	"     names: [a.example, b]}\n"
	"  - {web: ':80', token_file: /t}\n"
	"agents:\n"
	"  - host: a\n"
	"  - host: ::1\n"
	"    port: 17\n"
	"    class: 3\n"
	"    interval: 2s\n"
	"    entries: [a, 'b*']\n"
	"    labels: {rack: a7, _x1: \"y\"}\n"
	"sources:\n"
	"  - file_sd: f.json\n"
	"  - dns_srv: _dartd._tcp.example.com\n"
	"    refresh: 1min\n"
	"  - http_sd: https://h/x\n"
	"    authorities: /ca\n"
	"    certificate: /c\n"
	"    key: /k\n"
	"    token_file: /tok\n"
	"    headers: {X-Scope: s}\n"
	"    class: 0\n"
	"    interval: 5s\n"
	"    entries: [c]\n"
	"    labels: {dc: d1}\n";

/* As on the command line. */
static void test_host_with_port(void **state)
{
	assert_int_equal(load("agents:\n"
			      "  - host: 192.0.2.1:4795\n"
			      "  - {host: '[::1]:17'}\n"
			      "  - {host: '[::2]', port: 18}\n"
			      "  - {host: 'h:19', port: 19, transport: tcp}\n"
			      "  - {host: fe80::1, transport: tcp}\n"),
			 0);
	assert_int_equal(settings.target_count, 5);
	assert_string_equal(settings.targets[0].name, "192.0.2.1:4795");
	assert_string_equal(settings.targets[0].host, "192.0.2.1");
	assert_string_equal(settings.targets[1].name, "[::1]:17");
	assert_string_equal(settings.targets[1].host, "::1");
	assert_string_equal(settings.targets[2].name, "[::2]:18");
	assert_string_equal(settings.targets[3].name, "h:19");
	assert_string_equal(settings.targets[4].name, "[fe80::1]:4793");
	settings__clear(&settings);
}

static void test_settings(void **state)
{
	assert_int_equal(load(whole), 0);
	assert_int_equal(settings.interval_ns, 100000000);
	assert_int_equal(settings.workers, 3);
	assert_int_equal(settings.handshakes, 100);
	assert_int_equal(settings.clock_bound_ns, 500000000);
	assert_int_equal(settings.dscp, 26);
	assert_int_equal(settings.mirror_bytes, 262144);
	assert_int_equal(settings.shard.member, 2);
	assert_int_equal(settings.shard.members, 3);
	assert_int_equal(settings.shard.replication, 1);
	assert_int_equal(settings.shard.standby_ns, 10000000000);
	assert_int_equal(settings.limits.series, 5);
	assert_int_equal(settings.limits.all_series, 6);
	assert_int_equal(settings.limits.label_bytes, 7);
	assert_false(relabel_rules__is_empty(settings.metric_relabel));
	assert_string_equal(settings.replica, "b");
	assert_string_equal(settings.outputs.listen.address, "[::1]:9000");
	assert_string_equal(settings.outputs.listen.user, "u");
	assert_string_equal(settings.outputs.listen.password_path, "/p");
	assert_string_equal(settings.outputs.listen.certificate, "/c");
	assert_string_equal(settings.outputs.listen.key, "/k");
	assert_int_equal(settings.outputs.listen.name_count, 2);
	assert_string_equal(settings.outputs.listen.names[1], "b");
	assert_string_equal(settings.outputs.web.address, ":80");
	assert_string_equal(settings.outputs.web.token_path, "/t");
	assert_int_equal(settings.io, SETTINGS_IO_HYBRID);
	assert_string_equal(settings.record.path, "/var/r");
	assert_int_equal(settings.record.size, 64 << 20);
	assert_int_equal(settings.record.files, 3);
	assert_int_equal(settings.io_fragments, 8);
	assert_int_equal(settings.io_group, 16);
	assert_int_equal(settings.entry_count, 2);
	assert_string_equal(settings.entries[1], "vmstat");
	assert_int_equal(settings.target_count, 2);
	assert_string_equal(settings.targets[0].name, "a:4792");
	assert_int_equal(settings.targets[0].interval_ns, 0);
	assert_int_equal(settings.targets[0].class, 1);
	assert_string_equal(settings.targets[1].name, "[::1]:17");
	assert_int_equal(settings.targets[1].class, 3);
	assert_int_equal(settings.flow, SETTINGS_FLOW_CREDIT);
	assert_int_equal(settings.flow_bytes, 8 << 20);
	assert_int_equal(settings.targets[1].interval_ns, 2000000000);
	assert_null(settings.targets[0].entries);
	assert_null(settings.targets[0].labels);
	assert_string_equal(settings.targets[0].source->text, "f");
	assert_int_equal(settings.targets[1].entries->count, 2);
	assert_string_equal(settings.targets[1].entries->names[1], "b*");
	assert_string_equal(settings.targets[1].labels->text, "{\"_x1\":\"y\",\"rack\":\"a7\"}");
}

static void test_sources(void **state)
{
	const struct source_settings *sources;
	struct settings copy = { };

	assert_int_equal(load(whole), 0);
	/* A copy is equal. */
	assert_int_equal(settings__copy(&copy, &settings), 0);
	settings__clear(&settings);
	settings = copy;
	sources = settings.sources;
	assert_int_equal(settings.source_count, 3);
	assert_int_equal(sources[0].kind, SOURCE_FILE_SD);
	assert_string_equal(sources[0].place, "f.json");
	assert_int_equal(sources[0].refresh_ns, 0);
	assert_int_equal(sources[0].defaults.interval_ns, 0);
	assert_int_equal(sources[0].defaults.class, 1);
	assert_null(sources[0].defaults.labels);
	assert_int_equal(sources[1].kind, SOURCE_DNS_SRV);
	assert_int_equal(sources[1].refresh_ns, 60000000000);
	assert_int_equal(sources[2].kind, SOURCE_HTTP_SD);
	assert_string_equal(sources[2].place, "https://h/x");
	assert_string_equal(sources[2].url.authorities, "/ca");
	assert_string_equal(sources[2].url.certificate, "/c");
	assert_string_equal(sources[2].url.key, "/k");
	assert_string_equal(sources[2].url.token_file, "/tok");
	assert_string_equal(json_string_value(json_object_get(sources[2].url.headers, "X-Scope")),
			    "s");
	assert_int_equal(sources[2].defaults.class, 0);
	assert_int_equal(sources[2].defaults.interval_ns, 5000000000);
	assert_string_equal(sources[2].defaults.entries->names[0], "c");
	assert_string_equal(json_string_value(json_object_get(sources[2].defaults.labels, "dc")),
			    "d1");
	assert_string_equal(settings.targets[1].labels->text, "{\"_x1\":\"y\",\"rack\":\"a7\"}");
	assert_int_equal(settings.targets[1].class, 3);
}

static const char transports[] = "agents:\n"
				 "  - host: a\n"
				 "  - host: a\n"
				 "    transport: read\n"
				 "  - {host: b, port: 9, transport: rpc}\n"
				 "sources:\n"
				 "  - file_sd: f.json\n"
				 "  - file_sd: g.json\n"
				 "    transport: read\n"
				 "tls: {key: k, certificate: c, authorities: a}\n"
				 "transport: tcp\n";

static void test_transports(void **state)
{
	struct settings copy;

	assert_int_equal(load(transports), 0);
	assert_int_equal(settings__copy(&copy, &settings), 0);
	settings__clear(&settings);
	settings = copy;
	assert_string_equal(settings.targets[0].name, "a:4793");
	assert_int_equal(settings.targets[0].transport, SETTINGS_TRANSPORT_TCP);
	assert_string_equal(settings.targets[1].name, "a:4792");
	assert_int_equal(settings.targets[1].transport, SETTINGS_TRANSPORT_READ);
	assert_string_equal(settings.targets[2].name, "b:9");
	assert_int_equal(settings.targets[2].transport, SETTINGS_TRANSPORT_RPC);
	assert_int_equal(settings.sources[0].defaults.transport, SETTINGS_TRANSPORT_TCP);
	assert_int_equal(settings.sources[1].defaults.transport, SETTINGS_TRANSPORT_READ);
	assert_string_equal(settings.tls.certificate, "c");
	assert_string_equal(settings.tls.key, "k");
	assert_string_equal(settings.tls.authorities, "a");
	assert_int_equal(settings__check_tls(&settings, &error), 0);
}

/* The command line says another transport, and another certificate. */
static void test_transports_precedence(void **state)
{
	settings.transport = SETTINGS_TRANSPORT_RPC;
	settings.tls.certificate = strdup("mine");
	assert_int_equal(load(transports), -EINVAL);
	assert_string_equal(error.text, "f:3: agent 'a' port 4792 is named twice");
	settings__clear(&settings);
	settings.transport = SETTINGS_TRANSPORT_TCP;
	settings.tls.certificate = strdup("mine");
	assert_int_equal(load(transports), 0);
	assert_string_equal(settings.tls.certificate, "mine");
	assert_null(settings.tls.key);
	assert_int_equal(settings__check_tls(&settings, &error), -EINVAL);
	assert_string_equal(error.text,
			    "TLS needs a certificate, a key and authorities, but has no key");
}

/* One more than there may be. */
static void test_limits(void **state)
{
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	unsigned int i;

	assert_non_null(out);
	fputs("agents:\n", out);
	for (i = 0; i < SETTINGS_TARGETS_MAX; i++)
		fprintf(out, "  - {host: h%u}\n", i);
	fflush(out);
	assert_int_equal(load(text), 0);
	assert_int_equal(settings.target_count, SETTINGS_TARGETS_MAX);
	settings__clear(&settings);
	fputs("  - {host: h}\n", out);
	fclose(out);
	assert_int_equal(load(text), -EINVAL);
	assert_string_equal(error.text, "f:10002: there are more than 10000 agents");
	free(text);
}

static void test_precedence(void **state)
{
	settings.interval_ns = 5;
	settings.flow = SETTINGS_FLOW_BDP;
	settings.workers = 7;
	settings.io = SETTINGS_IO_POLL;
	settings.record.path = strdup("own");
	settings.record.files = 9;
	assert_int_equal(settings__add_entry(&settings, "softnet"), 0);
	assert_int_equal(settings__add_target(&settings, "b", 1, 0), 0);
	assert_int_equal(load(whole), 0);
	assert_int_equal(settings.interval_ns, 5);
	assert_int_equal(settings.workers, 7);
	assert_int_equal(settings.io, SETTINGS_IO_POLL);
	assert_string_equal(settings.record.path, "own");
	assert_int_equal(settings.record.files, 9);
	assert_int_equal(settings.record.size, 64 << 20);
	assert_int_equal(settings.entry_count, 1);
	assert_string_equal(settings.entries[0], "softnet");
	assert_int_equal(settings.target_count, 3);
	assert_int_equal(settings.flow, SETTINGS_FLOW_BDP);
	assert_int_equal(settings.flow_bytes, 0);
}

static void test_flow(void **state)
{
	assert_int_equal(load("flow: {bytes: 4096}\n"), 0);
	assert_int_equal(settings.flow, SETTINGS_FLOW_CREDIT);
	assert_int_equal(settings.flow_bytes, 4096);
	settings__clear(&settings);
	assert_int_equal(load("flow:\n  control: none\n"), 0);
	assert_int_equal(settings.flow, SETTINGS_FLOW_NONE);
	settings__clear(&settings);
	assert_int_equal(load("agents: []\n"), 0);
	assert_int_equal(settings.flow, SETTINGS_FLOW_UNSET);
}

static void test_example(void **state)
{
	FILE *file = fopen("tools/controller/dart-controller.yaml", "r");

	if (!file)
		skip();
	assert_int_equal(config__load(&settings, file, "f", &error), 0);
	fclose(file);
	assert_int_equal(settings.target_count, 2);
}

static void test_windows(void **state)
{
	assert_int_equal(load("\xef\xbb\xbfworkers: 3\r\nagents:\r\n  - host: a\r\n"
			      "    labels: {rack: \"null\", row: \"\"}\r\n"),
			 0);
	assert_int_equal(settings.workers, 3);
	assert_int_equal(settings.target_count, 1);
}

/* More than 1 MiB, which is enough for other files. */
static void test_many(void **state)
{
	const size_t room = 4 << 20;
	char *text = malloc(room);
	size_t length;
	int i;

	assert_non_null(text);
	length = sprintf(text, "agents:\n");
	for (i = 0; i < 10000; i++)
		length += snprintf(text + length, room - length,
				   "- host: host%05d.example\n"
				   "  labels: {rack: r%d, row: w%d, room: one, site: north, owner: team-%d, os: debian}\n",
				   i, i / 40, i / 400, i % 17);
	assert_true(length > 1 << 20);
	if (load_bytes(text, length))
		fail_msg("%s", error.text);
	assert_int_equal(settings.target_count, 10000);
	free(text);
}

/* Labels of agents and sources come first, as a receiver expects of external labels. */
static void test_replica(void **state)
{
	assert_int_equal(load("replica: r1\n"
			      "agents: [{host: a}, {host: b, labels: {rack: a7}},\n"
			      "  {host: c, labels: {replica: own}}]\n"
			      "sources: [{file_sd: f}, {file_sd: g, labels: {replica: own}}]\n"),
			 0);
	assert_int_equal(settings__label_replica(&settings, &error), 0);
	assert_string_equal(settings.targets[0].labels->text, "{\"replica\":\"r1\"}");
	assert_string_equal(settings.targets[1].labels->text,
			    "{\"rack\":\"a7\",\"replica\":\"r1\"}");
	assert_string_equal(settings.targets[2].labels->text, "{\"replica\":\"own\"}");
	assert_string_equal(
		json_string_value(json_object_get(settings.sources[0].defaults.labels, "replica")),
		"r1");
	assert_string_equal(
		json_string_value(json_object_get(settings.sources[1].defaults.labels, "replica")),
		"own");
}

static void test_refused(void **state)
{
	static const struct {
		const char *text, *error;
	} wrong[] = {
		{ "", "f:1: the file is empty" },
		{ "- a\n", "f:1: expected KEY: VALUE lines" },
		{ "interval: 1s\nagents:\n", "f:2: a value is missing" },
		{ "agents: [{host: ~}]\n", "f:1: a value is missing" },
		{ "agents: [{host: a, labels: {rack: }}]\n", "f:1: a value is missing" },
		{ "workers: null\n", "f:1: a value is missing" },
		{ "agents: [&a {host: a}]\n", "f:1: anchors are not supported" },
		{ "workers: !!int 3\n", "f:1: tags are not supported" },
		{ "interval: 1s\nnoise: 1\n", "f:2: unknown key 'noise'" },
		{ "[a]: 1\n", "f:1: unknown key '?'" },
		{ "\"interval\\0x\": 1s\n", "f:1: unknown key '?'" },
		{ "interval: 1s\ninterval: 1s\n", "f:2: 'interval' occurs twice (remove one)" },
		{ "interval: fast\n", "f:1: 'fast' is not an interval" },
		{ "workers: 0\n", "f:1: '0' is not a number of workers" },
		{ "shard: 2/3\n", "f:1: expected KEY: VALUE lines" },
		{ "shard: {member: 0}\n", "f:1: '0' is not the number of a member" },
		{ "metric_relabel_configs: [{action: keeps}]\n", "f:1: 'keeps' is not an action" },
		{ "agents: [{host: a, metric_relabel_configs: [{regex: '('}]}]\n",
		  "f:1: action replace needs a 'target_label'" },
		{ "limits: {series: 0}\n", "f:1: '0' is not a number of series" },
		{ "limits: {label_bytes: 65537}\n", "f:1: '65537' is not a number of bytes" },
		{ "shard: {standby: 2h}\n", "f:1: '2h' is not an interval" },
		{ "shard: {members: 1025}\n", "f:1: '1025' is not a number of members" },
		{ "replica: []\n", "f:1: expected the name of a replica" },
		{ "io: poll\n", "f:1: expected KEY: VALUE lines" },
		{ "record: /var/r\n", "f:1: expected KEY: VALUE lines" },
		{ "record: {size: 1G}\n", "f:1: 'record' needs a 'file'" },
		{ "record: {file: r, size: 1023K}\n",
		  "f:1: '1023K' is not the size of a recording" },
		{ "record: {file: r, files: 1001}\n", "f:1: '1001' is not a number of files" },
		{ "record: {file: []}\n", "f:1: expected the path of a file" },
		{ "record: {file: r, keep: 2}\n", "f:1: unknown key 'keep'" },
		{ "io: {kind: epoll}\n", "f:1: 'epoll' is not a kind of I/O" },
		{ "io: {kind: event, thread: 2}\n",
		  "f:1: unknown key 'thread'" },
		{ "io: {threads: 0}\n", "f:1: '0' is not a number of I/O threads" },
		{ "io: {threads: 17}\n", "f:1: '17' is not a number of I/O threads" },
		{ "io:\n  group: 1025\n",
		  "f:2: '1025' is not a number of queue pairs" },
		{ "io:\n  fragments: 0\n",
		  "f:2: '0' is not a number of fragments" },
		{ "handshakes: 10001\n",
		  "f:1: '10001' is not a number of handshakes" },
		{ "mirror: 2M\n", "f:1: '2M' is not a number of bytes (expected 4K to 1M" },
		{ "dscp: 64\n", "f:1: '64' is not a code point (expected 1 to 63" },
		{ "clock_bound: 2\n", "f:1: '2' is not a bound of clocks" },
		{ "clock_bound: [1s]\n", "f:1: '?' is not a bound of clocks" },
		{ "outputs: {listen: a}\n", "f:1: expected a list" },
		{ "outputs:\n  - listen: 'a:'\n",
		  "f:2: 'a:' is not an address to listen at" },
		{ "outputs:\n  - listen: {}\n",
		  "f:2: '?' is not an address to listen at" },
		{ "outputs:\n  - listen: a\n  - listen: b\n",
		  "f:3: there are two outputs that listen" },
		{ "outputs: [{port: 1}]\n", "f:1: unknown key 'port'" },
		{ "outputs:\n  - web: 'a:'\n",
		  "f:2: 'a:' is not an address to listen at" },
		{ "outputs:\n  - web: a\n  - web: b\n",
		  "f:3: there are two pages" },
		{ "outputs: [{web: a, listen: b}]\n",
		  "f:1: an output is one of listen, web," },
		{ "outputs: [{listen: a, batch: 3}]\n",
		  "f:1: an output is one of listen, web," },
		{ "outputs: [{remote_write: 'http://h/', names: [a]}]\n",
		  "f:1: an output is one of listen, web," },
		{ "outputs: [{web: a, user: u}]\n",
		  "f:1: user and password_file belong together" },
		{ "outputs: [{listen: a, key: k}]\n",
		  "f:1: certificate and key belong together" },
		{ "outputs: [{listen: a, names: ['a:1']}]\n",
		  "f:1: 'a:1' is not a name of a server" },
		{ "outputs: [{listen: a, names: a}]\n", "f:1: expected a list" },
		{ "outputs: [{web: a, token_file: []}]\n", "f:1: expected a text" },
		{ "agents: []\ntransport: udp\n",
		  "f:2: 'udp' is not a transport (expected read, rpc or tcp)" },
		{ "transport: {}\n", "f:1: '?' is not a transport" },
		{ "agents:\n  - {host: a, transport: 1}\n", "f:2: '1' is not a transport" },
		{ "agents:\n  - {host: a, port: 4793, transport: tcp}\n"
		  "  - {host: a, transport: tcp}\n",
		  "f:3: agent 'a' port 4793 is named twice" },
		{ "tls: {certificate: c, password: x}\n", "f:1: unknown key 'password'" },
		{ "tls: {key: ''}\n", "f:1: expected a path" },
		{ "tls: c\n", "f:1: expected KEY: VALUE lines" },
		{ "workers: [1]\n", "f:1: '?' is not a number of workers" },
		{ "interval: [1s]\n", "f:1: '?' is not an interval" },
		{ "entries: cpustat\n", "f:1: expected a list" },
		{ "entries: [a, a]\n", "f:1: entry 'a' is named twice" },
		{ "entries: [[a]]\n", "f:1: expected the name of an entry" },
		{ "agents: a\n", "f:1: expected a list" },
		{ "agents:\n  - a\n", "f:2: expected KEY: VALUE lines" },
		{ "agents:\n  - port: 1\n", "f:2: an agent has no 'host'" },
		{ "agents:\n  - host: ''\n", "f:2: '' is not an agent" },
		{ "agents:\n  - host: {}\n", "f:2: '?' is not an agent" },
		{ "agents:\n  - host: a:0\n", "f:2: 'a:0' is not an agent" },
		{ "agents:\n  - host: '[::1'\n", "f:2: '[::1' is not an agent" },
		{ "agents:\n  - host: a:1\n    port: 2\n",
		  "f:2: agent 'a' has port 1, but its 'port' is 2" },
		{ "agents:\n  - host: a:4792\n  - host: a\n",
		  "f:3: agent 'a' port 4792 is named twice" },
		{ "agents:\n  - host: a\n    port: 0\n", "f:3: '0' is not a port" },
		{ "agents:\n  - host: a\n    port: 65536\n", "f:3: '65536' is not a port" },
		{ "agents:\n  - host: a\n    port: -1\n", "f:3: '-1' is not a port (expected 1 to 65535)" },
		{ "agents:\n  - host: a\n    interval: 0s\n", "f:3: '0s' is not an interval" },
		{ "agents:\n  - host: a\n  - host: a\n", "f:3: agent 'a' port 4792 is named twice" },
		{ "agents:\n  - host: a\n    class: 4\n", "f:3: '4' is not a class" },
		{ "agents:\n  - host: a\n    class: 00\n", "f:3: '00' is not a class" },
		{ "agents:\n  - host: a\n    class: {}\n", "f:3: '?' is not a class" },
		{ "flow: credit\n", "f:1: expected KEY: VALUE lines" },
		{ "flow:\n  kind: credit\n", "f:2: unknown key 'kind'" },
		{ "flow:\n  control: fast\n", "f:2: 'fast' is not a flow control" },
		{ "flow:\n  control: []\n", "f:2: '?' is not a flow control" },
		{ "flow:\n  bytes: 2G\n", "f:2: '2G' is not a number of bytes" },
		{ "flow:\n  bytes: ''\n", "f:2: '' is not a number of bytes" },
		{ "flow:\n  bytes: 16K\n  control: none\n", "f:2: flow control 'none' has no bytes" },
		{ "agents:\n  - host: a\n    labels: [x]\n", "f:3: expected KEY: VALUE lines" },
		{ "agents:\n  - host: a\n    labels: {'': y}\n", "f:3: '' is not the name of a label" },
		{ "agents:\n  - host: a\n    labels: {\"x\\ty\": y}\n",
		  "f:3: 'x\\x09y' is not the name of a label" },
		{ "agents:\n  - host: a\n    labels: {x: [y]}\n", "f:3: expected the text of label 'x'" },
		{ "agents:\n  - host: a\n    entries: x\n", "f:3: expected a list" },
		{ "sources: {file_sd: a}\n", "f:1: expected a list" },
		{ "sources:\n  - refresh: 1s\n", "f:2: a source has no 'file_sd'" },
		{ "sources:\n  - file_sd: ''\n", "f:2: '' is not a path" },
		{ "sources:\n  - file_sd: []\n", "f:2: expected a path" },
		{ "sources:\n  - http_sd: ftp://x\n", "f:2: 'ftp://x' is not a URL" },
		{ "sources:\n  - http_sd: http://\n", "f:2: 'http://' is not a URL" },
		{ "sources:\n  - http_sd: ftp://u:s@x\n", "f:2: 'ftp://x' is not a URL" },
		{ "sources:\n  - http_sd: http://u:s@x\n  - http_sd: http://u:s@x\n", "f:3: source 'http://x' is named twice" },
		{ "sources:\n  - dns_srv: a b\n", "f:2: 'a b' is not a name" },
		{ "sources:\n  - file_sd: a\n    dns_srv: b\n", "f:3: a source is either" },
		{ "sources:\n  - file_sd: a\n  - file_sd: a\n", "f:3: source 'a' is named twice" },
		{ "sources:\n  - file_sd: a\n    token_file: t\n", "f:2: authorities, certificate, key, token_file and headers belong to http_sd" },
		{ "sources:\n  - http_sd: http://h\n    key: k\n", "f:2: certificate and key belong together" },
		{ "sources:\n  - http_sd: http://h\n    headers: {'a b': c}\n", "f:3: 'a b' is not the name of a header" },
		{ "sources:\n  - http_sd: http://h\n    headers: {a: \"c\\nd: e\"}\n", "f:3: the header 'a' is empty, or has control" },
		{ "sources:\n  - http_sd: http://h\n    headers: {authorization: c}\n", "f:3: the header 'authorization' is not to be chosen (use token_file" },
		{ "sources:\n  - http_sd: http://h\n    headers: [a]\n", "f:3: expected" },
		{ "sources:\n  - file_sd: a\n    refresh: 0\n", "f:3: '0' is not an interval" },
		{ "sources:\n  - file_sd: a\n    host: b\n", "f:3: unknown key 'host'" },
		{ "agents: [\n", "not YAML" },
		{ "a: *b\n", "f:1: aliases are not supported" },
		{ "\xff\xfe\x00", "f:" },
	};
	size_t i;

	for (i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		/* fmemopen() cannot open an empty file. */
		assert_int_equal(load(*wrong[i].text ? wrong[i].text : "\n"), -EINVAL);
		if (!strstr(error.text, wrong[i].error))
			fail_msg("%s: %s", wrong[i].text, error.text);
		settings__clear(&settings);
	}
}

static void test_flipped_bits(void **state)
{
	char bytes[sizeof(whole) - 1];
	unsigned int round, flips;

	srandom(1);
	for (round = 0; round < 20000; round++) {
		memcpy(bytes, whole, sizeof(bytes));
		for (flips = random() % 4 + 1; flips; flips--)
			bytes[random() % sizeof(bytes)] ^= 1 << random() % 8;
		if (load_bytes(bytes, random() % sizeof(bytes) + 1))
			assert_memory_equal(error.text, "f:", 2);
		settings__clear(&settings);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST_FIXTURE("a configuration file sets the interval, the entries and the agents",
			      test_settings, NULL, clear_settings),
		TEST_FIXTURE("a host may have its port, as on the command line", test_host_with_port,
			     NULL, clear_settings),
		TEST_FIXTURE("a configuration file names sources, and what their agents have; settings that are copied are the same",
			      test_sources, NULL, clear_settings),
		TEST_FIXTURE("a configuration file has a transport for all, wherever it is, for an agent and for a source, and certificates",
			      test_transports, NULL, clear_settings),
		TEST_FIXTURE("the command line overrides the transport and the certificates of the file",
			      test_transports_precedence, NULL, clear_settings),
		TEST_FIXTURE("a configuration file names 10,000 agents, and not one more",
			      test_limits, NULL, clear_settings),
		TEST_FIXTURE("flow control is credit if a file has only its bytes, and not set without",
			      test_flow, NULL, clear_settings),
		TEST_FIXTURE("the command line overrides the interval, entries and flow control of the file and adds agents",
			      test_precedence, NULL, clear_settings),
		TEST_FIXTURE("the example configuration that is installed is valid",
			      test_example, NULL, clear_settings),
		TEST_FIXTURE("agents and sources get the label of the replica unless they have it",
			     test_replica, NULL, clear_settings),
		TEST("each mistake in a configuration file is refused with the number of its line",
		     test_refused),
		TEST_FIXTURE(
			"a file with a byte order mark and line ends of Windows is read as without",
			test_windows, NULL, clear_settings),
		TEST_FIXTURE("10,000 agents with labels are read from a file",
			     test_many, NULL, clear_settings),
		TEST("a file with flipped bits never crashes the parser, and a refusal names the file",
		     test_flipped_bits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
