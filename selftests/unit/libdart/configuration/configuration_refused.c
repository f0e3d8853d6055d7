// SPDX-License-Identifier: GPL-2.0-only
/* Configurations of dartd that are refused, each with its line. */
#include <libdart/yaml_file.h>

#include "configuration_files.h"

static void test_line_7(void **state)
{
	assert_int_equal(load("device: rxe0\n"
			      "port: 4792\n"
			      "sources:\n"
			      "  - cpustat\n"
			      "  - vmstat\n"
			      "  - source: snmp:tcp\n"
			      "    namespace: blue\n"),
			 -EINVAL);
	assert_string_equal(
		error.text,
		"f.yaml:7: unknown key 'namespace' (the keys here are source, netns, netdev, disk, cgroup, filesystem, path, gather, deferrable, follow)");
	assert_int_equal(configuration.item_count, 0);
}

static void test_refused(void **state)
{
	static const struct {
		const char *text, *error;
	} wrong[] = {
		{ "a\n", "f.yaml:1: expected KEY: VALUE lines" },
		{ "- a\n", "f.yaml:1: expected KEY: VALUE lines" },
		{ "devise: rxe0\n", "f.yaml:1: unknown key 'devise'" },
		{ "[a]: b\n", "f.yaml:1: unknown key '?'" },
		{ "port: 1\n\nport: 1\n", "f.yaml:3: 'port' occurs twice" },
		{ "port: 0\n", "'0' is not a number from 1 to 65535" },
		{ "port: 65536\n", "'65536' is not a number" },
		{ "port: 0x10\n", "'0x10' is not a number" },
		{ "port: -1\n", "'-1' is not a number" },
		{ "port: ' 1'\n", "' 1' is not a number" },
		{ "port: 99999999999999999999\n", "is not a number" },
		{ "port: [1]\n", "'' is not a number" },
		{ "device:\n", "f.yaml:1: a value is missing" },
		{ "port: 4792\ndevice: ~\n", "f.yaml:2: a value is missing" },
		{ "device: null\n", "f.yaml:1: a value is missing" },
		{ "device: NULL\n", "f.yaml:1: a value is missing" },
		{ "device: \"\"\n", "expected a text" },
		{ "sources: [cpustat, ~]\n", "f.yaml:1: a value is missing" },
		{ "~: 1\n", "f.yaml:1: a value is missing" },
		{ "~\n", "f.yaml:1: a value is missing" },
		{ "---\n", "a value is missing" },
		{ "\xff\xfe" "d\n", "f.yaml:1: not a text file" },
		{ "device: \"a\\0b\"\n", "expected a text" },
		{ "device: \"\\e[2J\"\n", "expected a text" },
		{ "device: \"\\x85\"\n", "expected a text" },
		{ "device: [rxe0]\n", "expected a text" },
		{ "exposure: all\n", "'all' is neither exact nor page" },
		{ "rest: 0\n", "1 to 64" },
		{ "rest: 65\n", "1 to 64" },
		{ "listen: 10.0.0.1\n", "expected a list" },
		{ "listen: []\n", "no address to listen at" },
		{ "listen: [host]\n", "'host' is not an address" },
		{ "listen: ['::1', '0::1']\n", "::1 occurs twice, also at f.yaml:1" },
		{ "tcp: true\n", "expected KEY: VALUE lines" },
		{ "tcp: {key: /k}\n", "'tcp' needs a certificate, a key" },
		{ "tcp: {certificate: /c, key: /k, authorities: /a}\n",
		  "'tcp' needs a certificate, a key" },
		{ "tcp: {certificate: /c, key: /k, authorities: /a, subjects: []}\n",
		  "'tcp' needs a certificate, a key" },
		{ "tcp: {certificate: c.pem}\n",
		  "'c.pem' is not an absolute path" },
		{ "tcp: {subjects: ['*.example']}\n",
		  "each caller is named in full" },
		{ "tcp: {subjects: ['']}\n", "expected a text" },
		{ "tcp: {tables: ['*']}\n", "each caller is named in full" },
		{ "tcp: {tables: all}\n", "expected a list" },
		{ "tcp: {port: 0}\n", "'0' is not a number" },
		{ "tcp: {listen: []}\n", "no address to listen at" },
		{ "tcp: {listen: [host]}\n", "'host' is not an address" },
		{ "tcp: {cipher: none}\n", "unknown key 'cipher'" },
		{ "limits: {callers: 0}\n", "'0' is not a number" },
		{ "allow: {callers: all}\n", "expected a list" },
		{ "allow: [10.0.0.1]\n", "expected KEY: VALUE lines" },
		{ "allow: {controllers: all}\n", "expected a list" },
		{ "allow: {controllers: [all]}\n", "'all' is not an address" },
		{ "allow: {controllers: [10.0.0.1/8]}\n",
		  "'10.0.0.1/8' has bits behind its prefix (write 10.0.0.0/8)" },
		{ "allow: {readers: [10.0.0.0/33]}\n", "from 0 to 32" },
		{ "allow: {readers: [10.0.0.0/]}\n", "from 0 to 32" },
		{ "allow: {readers: [10.0.0.0/08]}\n", "from 0 to 32" },
		{ "allow: {readers: ['fd00::/129']}\n", "from 0 to 128" },
		{ "allow: {readers: ['::ffff:10.0.0.0/104']}\n", "write it as IPv4" },
		{ "limits: {controllers: 0}\n", "'0' is not a number from 1" },
		{ "limits: {half_open: 65537}\n", "'65537' is not a number from 1" },
		{ "keepalive: 4\n", "'4' is not a number from 5 to 3600" },
		{ "limits: {agents: 1}\n", "unknown key 'agents'" },
		{ "host: {}\n", "'gather' is missing" },
		{ "host: true\n", "expected KEY: VALUE lines" },
		{ "host: {netns: a}\n", "unknown key 'netns'" },
		{ "sources: cpustat\n", "expected a list" },
		{ "sources:\n", "f.yaml:1: a value is missing" },
		{ "sources: [[cpustat]]\n", "expected KEY: VALUE lines" },
		{ "sources: ['']\n", "expected a text" },
		{ "sources: [{netns: a}]\n", "'source' is missing" },
		{ "sources: [{source: a, netns: a, disk: b}]\n",
		  "a: a source takes one of a namespace, a disk, a cgroup or a filesystem" },
		{ "sources: [{source: a, netdev: a, cgroup: /b}]\n",
		  "takes one of" },
		{ "sources: [{source: a, netns: b, follow: true}]\n",
		  "a: 'follow' is for all" },
		{ "sources: [{source: a, filesystem: var}]\n",
		  "'var' is not the path of a mount point from the root" },
		{ "sources: [{source: a, disk: b, follow: true}]\n",
		  "a: 'follow' is for all" },
		{ "sources: [{source: a, follow: yes}]\n",
		  "'yes' is neither true nor false" },
		{ "sources: [{source: a, cgroup: b}]\n",
		  "'b' is not the path of a cgroup" },
		{ "sources: [{source: a, cgroup: /b/../c}]\n", "without '.'" },
		{ "sources: [{source: a, netns: b/}]\n", "without '.'" },
		{ "sources: [{source: a, netns: ../b}]\n", "without '.'" },
		{ "sources: [{source: a, path: /b}]\n", "'path' needs the name" },
		{ "sources: [{source: a, disk: b, path: c}]\n", "'c' is not a path from the root" },
		{ "sources:\n- a\n- b\n- a\n",
		  "f.yaml:4: source 'a' occurs twice, also at f.yaml:2" },
		{ "sources:\n- {source: a, netns: b}\n- {netns: b, source: a}\n",
		  "source 'a' of b occurs twice, also at f.yaml:2" },
		{ "maps: [/sys/fs/bpf/a]\n", "expected KEY: VALUE lines" },
		{ "maps: [{name: a}]\n", "the path that it is 'pinned' at" },
		{ "maps: [{pinned: a}]\n", "'a' is not a path from the root" },
		{ "maps: [{pinned: /a, name: b}, {pinned: /c, name: b}]\n",
		  "map 'b' occurs twice" },
		{ "counters: [{counters: [a]}]\n", "'name' is missing" },
		{ "counters: [{name: a, counters: []}]\n", "no counter in the list" },
		{ "counters: [{name: a, counters: [{}]}]\n", "expected a text" },
		{ "counters: [{name: a}, {name: a}]\n", "counters 'a' occurs twice" },
		{ "probes: [tcp, tcp]\n", "probe 'tcp' occurs twice" },
		{ "stores: [{slots: 2^4, value: 4}]\n", "has no 'name'" },
		{ "stores: [{name: a, value: 4}]\n", "has no 'slots'" },
		{ "stores: [{name: a, slots: 2^4}]\n", "has no 'value'" },
		{ "stores: [{name: a, slots: 3, value: 4}]\n",
		  "'3' is not a power of two" },
		{ "stores: [{name: a, slots: 0, value: 4}]\n",
		  "'0' is not a power of two" },
		{ "stores: [{name: a, slots: 2^33, value: 4}]\n",
		  "'2^33' is not a power of two from 2^0 to 2^32" },
		{ "stores: [{name: a, slots: 2^, value: 4}]\n", "'2^' is not a power of two" },
		{ "stores: [{name: a, slots: 2, value: 3}]\n", "from 4 to 64" },
		{ "stores: [{name: a, slots: 2, value: 4, checksum: 9}]\n",
		  "a checksum has 8, 16, 32 or 64 bits" },
		{ "stores: [{name: a, slots: 2, value: 4, redundancy: 9}]\n",
		  "from 1 to 8" },
		{ "stores: [{name: a, slots: 2, value: 4, epoch: soon}]\n",
		  "a time such as 1min, or a number of reports" },
		{ "stores: [{name: a, slots: 2, value: 4, epoch: 1ms}]\n",
		  "1 s at least" },
		{ "stores: [{name: a, slots: 2, value: 4, keep: 1min}]\n",
		  "no 'epoch'" },
		{ "stores: [{name: a, slots: 2, value: 4, epoch: 1s, keep: 5}]\n",
		  "a time such as 1440min" },
		{ "stores: [{name: a, slots: 2, value: 4, epoch: 1s, keep_bytes: much}]\n",
		  "a size such as 10G" },
		{ "stores: [{name: a, slots: 2, value: 4, file: b}]\n",
		  "'b' is not a path" },
		{ "stores: [{name: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa, slots: 2, value: 4}]\n",
		  "at most 39 bytes" },
		{ "stores:\n- {name: a, slots: 2, value: 4}\n"
		  "- {name: a, slots: 2, value: 4}\n",
		  "f.yaml:3: store 'a' occurs twice, also at f.yaml:2" },
		{ "stores: [{name: a, slots: 2, value: 4, file: /b}, {name: b, slots: 2, value: 4, file: /b}]\n",
		  "/b occurs twice" },
		{ "stores: [{name: a, slots: 2, value: 4, reporters: ['::1']}]\n",
		  "'::1' is not the IPv4 address of a reporter" },
		{ "stores: [{name: a, slots: 2, value: 4, reporters: [224.0.0.1]}]\n",
		  "is not the IPv4 address" },
		{ "stores: [{name: a, slots: 2, value: 4, reporters: [10.0.0.1, 10.0.0.1]}]\n",
		  "reporter 10.0.0.1 of store 'a' occurs twice" },
		{ "journals: [{batches: 2, entry: 4}]\n", "has no 'name'" },
		{ "journals: [{name: a, entry: 4}]\n", "has no 'batches'" },
		{ "journals: [{name: a, batches: 2}]\n", "has no 'entry'" },
		{ "journals: [{name: a, batches: 1, entry: 4}]\n", "at least 2 batches" },
		{ "journals: [{name: a, batches: 2, entry: 4, batch: 32}]\n", "at least 64 bytes" },
		{ "journals: [{name: a, batches: 2, entry: 4, appenders: [10.0.0.1, 10.0.0.1]}]\n",
		  "appender 10.0.0.1 of journal 'a' occurs twice" },
		{ "ledgers: [{words: 16}]\n", "has no 'name'" },
		{ "ledgers: [{name: a}]\n", "has no 'words'" },
		{ "ledgers: [{name: a, words: 8}]\n", "at least 16 words" },
		{ "ledgers: [{name: a, words: 16, adders: [10.0.0.1, 10.0.0.1]}]\n",
		  "adder 10.0.0.1 of ledger 'a' occurs twice" },
		{ "sketches: [{columns: 16}]\n", "has no 'name'" },
		{ "sketches: [{name: a}]\n", "has no 'columns'" },
		{ "sketches: [{name: a, columns: 8}]\n", "at least 16 columns" },
		{ "sketches: [{name: a, columns: 2^21}]\n",
		  "'2^21' is not a power of two from 2^0 to 2^20" },
		{ "sketches: [{name: a, columns: 16, kind: other}]\n",
		  "'other' is not 'count-min' or 'count-sketch'" },
		{ "sketches: [{name: a, columns: 16, period: 1500ms}]\n",
		  "'1500ms' is not a period of whole seconds, 1s to 3600s" },
		{ "sketches: [{name: a, columns: 16, period: 3601s}]\n", "is not a period" },
		{ "sketches: [{name: a, columns: 16, sketchers: [10.0.0.1, 10.0.0.1]}]\n",
		  "sketcher 10.0.0.1 of sketch 'a' occurs twice" },
		{ "tables: [{rows: 2, key: 4, value: 4}]\n", "has no 'name'" },
		{ "tables: [{name: a, key: 4, value: 4}]\n", "has no 'rows'" },
		{ "tables: [{name: a, rows: 2, value: 4}]\n", "has no 'key'" },
		{ "tables: [{name: a, rows: 2, key: 4}]\n", "has no 'value'" },
		{ "tables: [{name: a, rows: 2^29, key: 4, value: 4}]\n",
		  "'2^29' is not a power of two from 2^0 to 2^28" },
		{ "tables: [{name: a, rows: 2, key: 65, value: 4}]\n",
		  "from 1 to 64" },
		{ "tables: [{name: a, rows: 2, key: 4, value: 0}]\n",
		  "from 1 to 64" },
		{ "tables: [{name: a, rows: 2, key: 4, value: 4, cells: 9}]\n",
		  "from 1 to 8" },
		{ "tables: [{name: a, rows: 2, key: 4, value: 4, packet: 63}]\n",
		  "from 64 to 4096" },
		{ "tables: [{name: a, rows: 2, key: 4, value: 4, shares: 5-4}]\n",
		  "'5-4' is not a range of shares from 0 to 1023" },
		{ "tables: [{name: a, rows: 2, key: 4, value: 4, shares: 0-1024}]\n",
		  "'0-1024' is not a range" },
		{ "tables: [{name: a, rows: 2, key: 4, value: 4, shares: 0-}]\n",
		  "'0-' is not a range" },
		{ "tables: [{name: a, rows: 2, key: 4, value: 4, shares: 1-2-3}]\n",
		  "'1-2-3' is not a range" },
		{ "tables: [{name: a, rows: 2, key: 4, value: 4, file: b}]\n",
		  "'b' is not a path" },
		{ "tables: [{name: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa, rows: 2, key: 4, value: 4}]\n",
		  "at most 39 bytes" },
		{ "tables:\n- {name: a, rows: 2, key: 4, value: 4}\n"
		  "- {name: a, rows: 2, key: 4, value: 4}\n",
		  "f.yaml:3: table 'a' occurs twice, also at f.yaml:2" },
		{ "stores: [{name: a, slots: 2, value: 4, file: /b}]\n"
		  "tables: [{name: a, rows: 2, key: 4, value: 4, file: /b}]\n",
		  "/b occurs twice" },
		{ "tables: [{name: a, rows: 2, key: 4, value: 4, requesters: ['::1']}]\n",
		  "'::1' is not the IPv4 address of a requester" },
		{ "tables: [{name: a, rows: 2, key: 4, value: 4, requesters: [10.0.0.1, 10.0.0.1]}]\n",
		  "requester 10.0.0.1 of table 'a' occurs twice" },
		{ "port: &a 1\n", "f.yaml:1: anchors are not supported" },
		{ "listen: &a [10.0.0.1]\n", "anchors are not supported" },
		{ "port: *a\n", "f.yaml:1: aliases are not supported" },
		{ "port: !!int 1\n", "tags are not supported" },
		{ "listen: !a []\n", "tags are not supported" },
		{ "port: 1\n---\nport: 2\n", "f.yaml:2: a second document" },
		{ "a: [[[[[[[[a]]]]]]]]\n", "nested too deeply" },
		{ "port: 1\n\x01\n", "f.yaml:2: not a text file" },
		{ "port: 1\n# \xff\xfe\n", "f.yaml:2: not a text file" },
		{ "port: 1\n# \xc0\x80\n", "f.yaml:2: not a text file" },
		{ "port: [1\n", "not YAML" },
		{ "port: 1\n\tx: 2\n", "f.yaml:2: not YAML" },
	};
	size_t i;

	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		if (load(wrong[i].text) != -EINVAL)
			fail_msg("taken: %s", wrong[i].text);
		if (strncmp(error.text, "f.yaml:", 7) || !strstr(error.text, wrong[i].error))
			fail_msg("%s: %s", wrong[i].text, error.text);
		assert_int_equal(configuration.item_count, 0);
	}
}

static void test_nul(void **state)
{
	write_file("f.yaml", "port: 1\n\0\n", 10);
	assert_int_equal(dart_configuration__load(&configuration, "f.yaml", &error), -EINVAL);
	assert_non_null(strstr(error.text, "f.yaml:2: not a text file"));
}

/* Nine levels of nine aliases would be 387,420,489 values. */
static void test_bomb(void **state)
{
	char text[2048] = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n";
	int i, j;

	for (i = 1; i < 9; i++) {
		sprintf(text + strlen(text), "a%d: &a%d [", i, i);
		for (j = 0; j < 9; j++)
			sprintf(text + strlen(text), "*a%d,", i - 1);
		strcat(text, "]\n");
	}
	assert_int_equal(load(text), -EINVAL);
	assert_non_null(strstr(error.text, "f.yaml:1: anchors"));
}

static void test_huge(void **state)
{
	const size_t length = DART_YAML_BYTES_MAX + 1;
	char *text = malloc(length + 1);

	assert_non_null(text);
	memset(text, '#', length);
	text[length] = '\0';
	assert_int_equal(load(text), -EFBIG);
	assert_non_null(strstr(error.text, "more than 1048576 bytes"));
	text[length - 1] = '\0';
	assert_int_equal(load(text), 0);

	memset(text, '[', length - 1);
	assert_int_equal(load(text), -EINVAL);
	memset(text, ',', length - 1);
	memcpy(text, "sources: [", 10);
	assert_int_equal(load(text), -EINVAL);
	free(text);

	text = malloc(length);
	strcpy(text, "probes: [");
	while (strlen(text) < 500000)
		sprintf(text + strlen(text), "%s",
			"a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,");
	strcat(text, "]");
	assert_int_equal(load(text), -EINVAL);
	assert_non_null(strstr(error.text, "too many values"));
	free(text);
}

#define FILES(sentence, function)                                             \
	TEST_FIXTURE(sentence, function, enter_directory, leave_directory)

int main(void)
{
	const struct CMUnitTest tests[] = {
		FILES("an unknown key in line 7 is refused with that line and the known keys",
		      test_line_7),
		FILES("each wrong key, type, number, address, combination and repetition is refused with its line",
		      test_refused),
		FILES("a NUL byte is refused with its line", test_nul),
		FILES("aliases that would expand to millions of values are refused", test_bomb),
		FILES("files of more than 1 MiB, deep nesting and 200,000 values are refused",
		      test_huge),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
