// SPDX-License-Identifier: GPL-2.0-only
/* The configuration of dartd: settings, items, files. */
#include <arpa/inet.h>
#include <netinet/in.h>

#include "configuration_files.h"

static void assert_loads(const char *text)
{
	if (load(text))
		fail_msg("%s", error.text);
}

/* As an editor of Windows saves a file: with a byte order mark and other line ends. */
static void test_windows(void **state)
{
	assert_loads("\xef\xbb\xbf# first\r\ndevice: \"~\"\r\nport: 4793\r\n"
		     "sources:\r\n  - cpustat\r\n");
	assert_string_equal(configuration.device, "~");
	assert_int_equal(configuration.port, 4793);
	assert_int_equal(configuration.item_count, 1);
}

static void test_settings(void **state)
{
	assert_loads("device: rxe0\n"
		     "listen: [10.0.0.1, \"fd00:0:0::1\"]\n"
		     "port: 4793\n"
		     "exposure: page\n"
		     "allow:\n"
		     "  controllers: [10.0.0.0/8, 'fd00::/8']\n"
		     "  readers: []\n"
		     "  callers: [10.1.0.0/16]\n"
		     "tcp: {certificate: /c.pem, key: /c.key, authorities: /a.pem,"
		     " subjects: [one.example, 10.0.0.9], port: 4794,"
		     " listen: ['fd00:0:0::1']}\n"
		     "keepalive: 20\nrest: 8\n"
		     "limits: {controllers: 64, readers: 1, clients: 65536,"
		     " callers: 2, per_address: 8, half_open: 9}\n");
	assert_string_equal(configuration.device, "rxe0");
	assert_int_equal(configuration.listen_count, 2);
	assert_string_equal(configuration.listen[0], "10.0.0.1");
	assert_string_equal(configuration.listen[1], "fd00::1");
	assert_int_equal(configuration.port, 4793);
	assert_int_equal(configuration.exposure, DART_CONTROL_EXPOSURE_PAGE);
	assert_int_equal(configuration.rest, 8);
	assert_true(configuration.controllers.is_given);
	assert_int_equal(configuration.controllers.count, 2);
	assert_true(configuration.readers.is_given);
	assert_int_equal(configuration.readers.count, 0);
	assert_int_equal(configuration.callers.count, 1);
	assert_string_equal(configuration.tcp.certificate, "/c.pem");
	assert_string_equal(configuration.tcp.key, "/c.key");
	assert_string_equal(configuration.tcp.authorities, "/a.pem");
	assert_int_equal(configuration.tcp.subject_count, 2);
	assert_string_equal(configuration.tcp.subjects[1], "10.0.0.9");
	assert_int_equal(configuration.tcp.port, 4794);
	assert_int_equal(configuration.tcp.listen_count, 1);
	assert_string_equal(configuration.tcp.listen[0], "fd00::1");
	assert_int_equal(configuration.limits.callers, 2);
	assert_int_equal(configuration.limits.controllers, 64);
	assert_int_equal(configuration.limits.readers, 1);
	assert_int_equal(configuration.limits.clients, 65536);
	assert_int_equal(configuration.limits.per_address, 8);
	assert_int_equal(configuration.limits.half_open, 9);
	assert_int_equal(configuration.keepalive, 20);
	assert_string_equal(configuration.settings_place, "f.yaml:1");
	assert_int_equal(configuration.item_count, 0);
}

static void test_usual_files(void **state)
{
	assert_loads("tcp: {}\n");
	assert_string_equal(configuration.tcp.certificate, "/etc/dart/tls/host.pem");
	assert_string_equal(configuration.tcp.key, "/etc/dart/tls/host.key");
	assert_string_equal(configuration.tcp.authorities, "/etc/dart/tls/authorities.pem");
	assert_string_equal(configuration.tcp.revoked, "/etc/dart/tls/revoked.pem");
	assert_int_equal(configuration.tcp.subject_count, 1);
	assert_string_equal(configuration.tcp.subjects[0], "dart-controller");
}

static void test_chosen_subjects(void **state)
{
	assert_loads("tcp: {subjects: [monitor], revoked: /r.pem}\n");
	assert_string_equal(configuration.tcp.key, "/etc/dart/tls/host.key");
	assert_string_equal(configuration.tcp.revoked, "/r.pem");
	assert_int_equal(configuration.tcp.subject_count, 1);
	assert_string_equal(configuration.tcp.subjects[0], "monitor");
}

static void test_changers(void **state)
{
	assert_loads("tcp: {tables: [flows.example, other.example, flows.example]}\n");
	assert_int_equal(configuration.tcp.subject_count, 3);
	assert_int_equal(configuration.tcp.changer_count, 2);
	assert_string_equal(configuration.tcp.subjects[0], "flows.example");
	assert_string_equal(configuration.tcp.subjects[1], "other.example");
	assert_string_equal(configuration.tcp.subjects[2], "dart-controller");
	/* A name in both lists is one of them that may, in whichever order they come. */
	assert_loads("tcp: {subjects: [a, b, c], tables: [c, d, a]}\n");
	assert_int_equal(configuration.tcp.subject_count, 4);
	assert_int_equal(configuration.tcp.changer_count, 3);
	assert_string_equal(configuration.tcp.subjects[0], "c");
	assert_string_equal(configuration.tcp.subjects[1], "d");
	assert_string_equal(configuration.tcp.subjects[2], "a");
	assert_string_equal(configuration.tcp.subjects[3], "b");
	assert_loads("tcp: {tables: [c], subjects: [c]}\n");
	assert_int_equal(configuration.tcp.subject_count, 1);
	assert_int_equal(configuration.tcp.changer_count, 1);
}

static void test_items(void **state)
{
	assert_loads("sources:\n"
		     "  - cpustat\n"
		     "  - {source: snmp:tcp, netns: blue}\n"
		     "  - {source: snmp:tcp, netns: /run/netns/red}\n"
		     "  - {source: snmp:tcp, netns: /proc/1/ns/net}\n"
		     "  - {source: snmp:tcp, netns: net:17, path: /var/n}\n"
		     "  - {source: snmp:tcp, follow: true}\n"
		     "  - {source: disk:stats, disk: sda}\n"
		     "  - {source: disk:stats, disk: /dev/disk/by-id/x}\n"
		     "  - {source: filesystem, filesystem: /, gather: 10s}\n"
		     "  - {source: netdev:stats, netdev: eth0, follow: false}\n"
		     "  - {source: netdev:stats, netdev: eth0, netns: blue}\n"
		     "maps:\n"
		     "  - {pinned: /sys/fs/bpf/requests, name: requests}\n"
		     "  - pinned: /sys/fs/bpf/other\n"
		     "counters:\n"
		     "  - name: module\n"
		     "  - {name: drops, counters: [rx, tx]}\n"
		     "probes: [tcp, runqlat]\n"
		     "stores:\n"
		     "  - {name: a, slots: 2^20, value: 20}\n"
		     "  - name: b\n"
		     "    reporters: [10.0.0.1, 10.0.0.2]\n"
		     "    slots: 1024\n"
		     "    value: 4\n"
		     "    checksum: 64\n"
		     "    redundancy: 8\n"
		     "    file: /dev/shm/paths\n"
		     "  - {name: c, slots: 1, value: 4, epoch: 1min, keep: 60min, keep_bytes: 10G, schema: int-path, falling: true, transport: rc}\n"
		     "  - {name: d, slots: 1, value: 4, epoch: 1000000}\n"
		     "tables:\n"
		     "  - {name: a, rows: 2^17, key: 13, value: 7}\n"
		     "  - name: b\n"
		     "    rows: 16\n"
		     "    key: 64\n"
		     "    value: 1\n"
		     "    cells: 1\n"
		     "    packet: 64\n"
		     "    shares: 0-511\n"
		     "    file: /dev/shm/table\n"
		     "    requesters: [10.0.0.3]\n"
		     "  - {name: c, rows: 1, key: 1, value: 64, shares: 1023}\n"
		     "journals:\n"
		     "  - {name: a, batches: 2^10, entry: 41}\n"
		     "  - name: b\n"
		     "    batches: 2\n"
		     "    entry: 48\n"
		     "    batch: 64\n"
		     "    lists: 2^16\n"
		     "    parts: 1\n"
		     "    file: /dev/shm/journal\n"
		     "    appenders: [10.0.0.4]\n"
		     "ledgers:\n"
		     "  - {name: a, words: 2^16}\n"
		     "  - {name: b, words: 16, rows: 8, file: /dev/shm/ledger, adders: [10.0.0.5]}\n"
		     "sketches:\n"
		     "  - {name: a, columns: 2^16}\n"
		     "  - {name: b, columns: 16, kind: count-sketch, rows: 8, period: 1min, parts: 2, file: /dev/shm/sketch, sketchers: [10.0.0.6]}\n");
#define SOURCE "{\"request\":\"register-source\",\"source\":"
	assert_items(
		SOURCE "\"cpustat\"} -\n"
		SOURCE "\"snmp:tcp\",\"netns\":\"blue\"} /run/netns/blue\n"
		SOURCE "\"snmp:tcp\",\"netns\":\"red\"} /run/netns/red\n"
		SOURCE "\"snmp:tcp\",\"netns\":\"/proc/1/ns/net\"} /proc/1/ns/net\n"
		SOURCE "\"snmp:tcp\",\"netns\":\"net:17\"} /var/n\n"
		"{\"request\":\"follow-source\",\"source\":\"snmp:tcp\"} -\n"
		SOURCE "\"disk:stats\",\"disk\":\"sda\"} /dev/sda\n"
		SOURCE "\"disk:stats\",\"disk\":\"disk/by-id/x\"} /dev/disk/by-id/x\n"
		SOURCE "\"filesystem\",\"filesystem\":\"/\",\"gather\":\"10s\"} /\n"
		SOURCE "\"netdev:stats\",\"netdev\":\"eth0\"} -\n"
		SOURCE "\"netdev:stats\",\"netns\":\"blue\",\"netdev\":\"eth0\"} /run/netns/blue\n"
		"{\"request\":\"register-map\",\"name\":\"requests\"} /sys/fs/bpf/requests\n"
		"{\"request\":\"register-map\"} /sys/fs/bpf/other\n"
		"{\"request\":\"register-counters\",\"name\":\"module\"} -\n"
		"{\"request\":\"register-counters\",\"name\":\"drops\",\"counters\":[\"rx\",\"tx\"]} -\n"
		"{\"request\":\"probe-load\",\"name\":\"tcp\"} -\n"
		"{\"request\":\"probe-load\",\"name\":\"runqlat\"} -\n"
		"{\"request\":\"store-create\",\"name\":\"a\",\"slots_log2\":20,\"value_length\":20} -\n"
		"{\"request\":\"store-create\",\"name\":\"b\",\"slots_log2\":10,\"value_length\":4,\"redundancy\":8,\"checksum_bits\":64,\"file\":\"/dev/shm/paths\"} /dev/shm/paths\n"
		"{\"request\":\"reporter-add\",\"store\":\"b\",\"address\":\"10.0.0.1\"} -\n"
		"{\"request\":\"reporter-add\",\"store\":\"b\",\"address\":\"10.0.0.2\"} -\n"
		"{\"request\":\"store-create\",\"name\":\"c\",\"slots_log2\":0,\"value_length\":4,\"epoch_ns\":60000000000,\"keep_ns\":3600000000000,\"keep_bytes\":10737418240,\"schema\":\"int-path\",\"falling\":true,\"transport\":\"rc\"} -\n"
		"{\"request\":\"store-create\",\"name\":\"d\",\"slots_log2\":0,\"value_length\":4,\"epoch_reports\":1000000} -\n"
		"{\"request\":\"table-create\",\"name\":\"a\",\"rows_log2\":17,\"key_length\":13,\"value_length\":7} -\n"
		"{\"request\":\"table-create\",\"name\":\"b\",\"rows_log2\":4,\"key_length\":64,\"value_length\":1,\"cells\":1,\"packet_length\":64,\"shares\":[0,511],\"file\":\"/dev/shm/table\"} /dev/shm/table\n"
		"{\"request\":\"requester-add\",\"table\":\"b\",\"address\":\"10.0.0.3\"} -\n"
		"{\"request\":\"table-create\",\"name\":\"c\",\"rows_log2\":0,\"key_length\":1,\"value_length\":64,\"shares\":[1023,1023]} -\n"
		"{\"request\":\"journal-create\",\"name\":\"a\",\"batches_log2\":10,\"entry_length\":41} -\n"
		"{\"request\":\"journal-create\",\"name\":\"b\",\"batches_log2\":1,\"entry_length\":48,\"batch_log2\":6,\"lists_log2\":16,\"parts\":1,\"file\":\"/dev/shm/journal\"} /dev/shm/journal\n"
		"{\"request\":\"appender-add\",\"journal\":\"b\",\"address\":\"10.0.0.4\"} -\n"
		"{\"request\":\"ledger-create\",\"name\":\"a\",\"words_log2\":16} -\n"
		"{\"request\":\"ledger-create\",\"name\":\"b\",\"words_log2\":4,\"rows\":8,\"file\":\"/dev/shm/ledger\"} /dev/shm/ledger\n"
		"{\"request\":\"adder-add\",\"ledger\":\"b\",\"address\":\"10.0.0.5\"} -\n"
		"{\"request\":\"sketch-create\",\"name\":\"a\",\"columns_log2\":16} -\n"
		"{\"request\":\"sketch-create\",\"name\":\"b\",\"columns_log2\":4,\"kind\":\"count-sketch\",\"rows\":8,\"period\":60,\"parts\":2,\"file\":\"/dev/shm/sketch\"} /dev/shm/sketch\n"
		"{\"request\":\"sketcher-add\",\"sketch\":\"b\",\"address\":\"10.0.0.6\"} -\n");
	assert_string_equal(configuration.items[2].file, "f.yaml");
	assert_int_equal(configuration.items[2].line, 4);
	assert_int_equal(configuration.items[17].line, 21);
	assert_int_equal(configuration.items[18].line, 22);
	assert_null(configuration.settings_place);
}

static void test_cgroups(void **state)
{
	assert_loads("sources:\n"
		     "- {source: cgroup:cpu, cgroup: /a/b, follow: true}\n"
		     "- {source: cgroup:cpu, cgroup: /}\n");
	assert_string_equal(json_string_value(json_object_get(
			configuration.items[0].request, "cgroup")), "/a/b");
	assert_string_equal(strstr(configuration.items[0].path, "/a/b"),
			    "/a/b");
	assert_string_equal(json_string_value(json_object_get(
			configuration.items[1].request, "cgroup")), "/");
	assert_string_not_equal(configuration.items[1].path, "/");
}

static void test_host(void **state)
{
	assert_loads("host: {gather: 100ms}\n"
		     "sources: [cpustat]\n");
	assert_items("{\"request\":\"register-host\",\"gather\":\"100ms\"} -\n"
		     SOURCE "\"cpustat\"} -\n");
	assert_loads("host: {gather: 100ms, deferrable: true}\n"
		     "sources:\n"
		     "  - {source: cpustat, gather: 1s, deferrable: true}\n"
		     "  - {source: vmstat, gather: 1s, deferrable: false}\n");
	assert_items(
		"{\"request\":\"register-host\",\"gather\":\"100ms\",\"deferrable\":true} -\n" SOURCE
		"\"cpustat\",\"gather\":\"1s\",\"deferrable\":true} -\n" SOURCE
		"\"vmstat\",\"gather\":\"1s\"} -\n");
}

static void test_empty(void **state)
{
	assert_loads("");
	assert_loads("# device: rxe0\n");
	assert_loads("\n\n");
	assert_loads("sources: []\n");
	assert_int_equal(configuration.item_count, 0);
}

static void write_text(const char *name, const char *text)
{
	write_file(name, text, strlen(text));
}

static void test_directory(void **state)
{
	write_text("f.d/20-b.yaml", "sources: [b]\nallow: {readers: [10.0.0.2]}\n");
	write_text("f.d/10-a.yaml", "sources: [a]\nport: 5\n");
	write_text("f.d/.hidden.yaml", "bad\n");
	write_text("f.d/30.yaml~", "bad\n");
	write_text("f.d/.yaml", "bad\n");
	assert_loads("sources: [z]\nallow: {readers: [10.0.0.1]}\n");
	assert_items(SOURCE "\"z\"} -\n" SOURCE "\"a\"} -\n" SOURCE "\"b\"} -\n");
	assert_string_equal(configuration.items[2].file, "f.d/20-b.yaml");
	assert_int_equal(configuration.items[2].line, 1);
	assert_int_equal(configuration.port, 5);
	assert_int_equal(configuration.readers.count, 2);

	dart_configuration__close(&configuration);
	assert_int_equal(dart_configuration__load_file(&configuration, "f.yaml", &error), 0);
	assert_int_equal(configuration.item_count, 1);

	/* Without the file, the files in its directory are enough. */
	dart_configuration__close(&configuration);
	unlink("f.yaml");
	assert_int_equal(dart_configuration__load(&configuration, "f.yaml", &error), 0);
	assert_int_equal(configuration.item_count, 2);
}

static void test_twice(void **state)
{
	write_text("f.d/a.yaml", "\n\nport: 5\n");
	assert_int_equal(load("\nport: 5\n"), -EINVAL);
	assert_string_equal(error.text,
			    "f.d/a.yaml:3: 'port' occurs twice, also at f.yaml:2 (remove one)");
	write_text("f.d/a.yaml", "probes: [tcp]\n");
	assert_int_equal(load("probes:\n- tcp\n"), -EINVAL);
	assert_string_equal(
		error.text,
		"f.d/a.yaml:1: probe 'tcp' occurs twice, also at f.yaml:2 (remove one)");
}

static void test_missing(void **state)
{
	unlink("f.yaml");
	assert_int_equal(dart_configuration__load(&configuration, "f.yaml", &error), -ENOENT);
	assert_non_null(strstr(error.text, "f.yaml: cannot read it: No such"));

	/* A link that leads nowhere is a mistake, not a missing file. */
	assert_int_equal(symlink("/nowhere", "f.d/a.yaml"), 0);
	assert_int_equal(dart_configuration__load(&configuration, "f.yaml", &error), -EIO);
	assert_non_null(strstr(error.text, "f.d/a.yaml: cannot read it"));
}

static void test_modes(void **state)
{
	write_text("f.yaml", "port: 1\n");
	chmod("f.yaml", 0666);
	assert_int_equal(dart_configuration__load(&configuration, "f.yaml", &error), -EPERM);
	assert_non_null(strstr(error.text, "f.yaml: every user may write to it (chmod o-w f.yaml"));
	chmod("f.yaml", 0664);
	chmod("f.d", 0777);
	assert_int_equal(dart_configuration__load(&configuration, "f.yaml", &error), -EPERM);
	assert_non_null(strstr(error.text, "f.d: every user may write to it"));
	chmod("f.d", 0755);

	unlink("f.yaml");
	assert_int_equal(mkfifo("f.yaml", 0600), 0);
	assert_int_equal(dart_configuration__load(&configuration, "f.yaml", &error), -EINVAL);
	assert_string_equal(error.text, "f.yaml: not a regular file");
	assert_int_equal(dart_configuration__load_file(&configuration, "f.d", &error), -EINVAL);
}

/* Is the address, of either family, in the ranges of @text? */
static bool contains(const char *text, const char *address)
{
	struct sockaddr_in6 address6 = { .sin6_family = AF_INET6 };
	struct sockaddr_in address4 = { .sin_family = AF_INET };
	char file[256];

	snprintf(file, sizeof(file), "allow: {controllers: [%s]}\n", text);
	assert_loads(file);
	if (inet_pton(AF_INET, address, &address4.sin_addr) == 1)
		return dart_prefixes__contain(&configuration.controllers,
					      (struct sockaddr *)&address4);
	assert_int_equal(inet_pton(AF_INET6, address, &address6.sin6_addr), 1);
	return dart_prefixes__contain(&configuration.controllers, (struct sockaddr *)&address6);
}

static void test_prefixes(void **state)
{
	struct sockaddr_in any = { .sin_family = AF_INET };

	assert_true(contains("10.0.0.0/8", "10.255.0.1"));
	assert_false(contains("10.0.0.0/8", "11.0.0.1"));
	assert_true(contains("10.0.0.7", "10.0.0.7"));
	assert_false(contains("10.0.0.7", "10.0.0.6"));
	assert_true(contains("10.0.0.0/15", "10.1.255.255"));
	assert_false(contains("10.0.0.0/15", "10.2.0.0"));
	assert_true(contains("0.0.0.0/0", "1.2.3.4"));
	assert_false(contains("0.0.0.0/0", "::1"));
	assert_true(contains("0.0.0.0/0", "::ffff:1.2.3.4"));
	assert_true(contains("'::/0'", "fd00::1"));
	assert_false(contains("'::/0'", "::ffff:1.2.3.4"));
	assert_true(contains("'fd00::/9'", "fd7f::1"));
	assert_false(contains("'fd00::/9'", "fd80::1"));
	assert_true(contains("10.0.0.1, 'fd00::1'", "fd00::1"));
	assert_false(contains("", "10.0.0.1"));
	assert_loads("");
	assert_true(dart_prefixes__contain(&configuration.controllers, (struct sockaddr *)&any));
}

static void test_objects(void **state)
{
	json_t *request = json_pack("{s:s}", "request", "store-create");
	json_t *disk = json_pack("{s:s, s:s}", "request", "register-source", "disk", "null");
	int fd;

	assert_int_equal(dart_configuration__open_object(request, NULL, &fd, &error), 0);
	assert_int_equal(fd, -1);
	assert_int_equal(dart_configuration__open_object(request, "store", &fd, &error), 0);
	assert_int_equal(write(fd, "x", 1), 1);
	close(fd);
	assert_int_equal(dart_configuration__open_object(request, "none/store",
							 &fd, &error), -ENOENT);
	assert_int_equal(fd, -1);
	assert_int_equal(dart_configuration__open_object(disk, "/dev/null", &fd, &error), -ENOTBLK);
	assert_string_equal(error.text, "'/dev/null' is not a disk");
	json_object_del(disk, "disk");
	assert_int_equal(dart_configuration__open_object(disk, "/dev/null", &fd, &error), -EINVAL);
	json_decref(request);
	json_decref(disk);
}

#define FILES(sentence, function)                                             \
	TEST_FIXTURE(sentence, function, enter_directory, leave_directory)

int main(void)
{
	const struct CMUnitTest tests[] = {
		FILES("settings of every kind are read", test_settings),
		FILES("a file with a byte order mark and line ends of Windows is read as without",
		      test_windows),
		FILES("without files of its own tcp takes those of dartctl tls", test_usual_files),
		FILES("these go with subjects that are chosen", test_chosen_subjects),
		FILES("callers that may change lookup tables are the first subjects", test_changers),
		FILES("items of every kind become requests with the paths of their objects",
		      test_items),
		FILES("cgroups are found where they are mounted", test_cgroups),
		FILES("a host is registered as a whole", test_host),
		FILES("a file with comments only is an empty configuration", test_empty),
		FILES("files of the directory are read in the order of their names, and their lists are joined",
		      test_directory),
		FILES("a setting or item in two files is refused with both places", test_twice),
		FILES("a missing configuration and a link that leads nowhere are told apart",
		      test_missing),
		FILES("files and directories that every user may write to are refused", test_modes),
		FILES("addresses are allowed by IPv4 and IPv6 prefixes", test_prefixes),
		FILES("objects are opened by the type of their request", test_objects),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
