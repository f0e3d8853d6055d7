// SPDX-License-Identifier: GPL-2.0-only
/* Items of a configuration compared with the registrations of dartd. */
#include <string.h>

#include "selftests/unit/unit.h"
#include "tools/dartctl/host/registered.h"

static const char list[] =
	"[{\"request\": {\"request\": \"register-source\", \"source\": \"cpustat\"}, \"origin\": \"command\"},"
	"{\"request\": {\"request\": \"register-source\", \"source\": \"snmp:tcp\", \"netns\": \"blue\"}, \"path\": \"/run/netns/blue\"},"
	"{\"request\": {\"request\": \"register-source\", \"source\": \"snmp:udp\", \"netns\": \"red\"}, \"missing\": \"it ended\"},"
	"{\"request\": {\"request\": \"register-map\"}, \"path\": \"/sys/fs/bpf/a\"},"
	"{\"request\": {\"request\": \"register-host\", \"gather\": \"1s\"}},"
	"{\"request\": {\"request\": \"store-create\", \"name\": \"s\", \"slots_log2\": 4, \"value_length\": 4}},"
	"{\"request\": {\"request\": \"reporter-add\", \"store\": \"s\", \"address\": \"10.0.0.1\"}},"
	"{\"request\": {\"request\": \"table-create\", \"name\": \"t\", \"rows_log2\": 4, \"key_length\": 13, \"value_length\": 7}},"
	"{\"request\": {\"request\": \"requester-add\", \"table\": \"t\", \"address\": \"10.0.0.1\"}},"
	"{\"request\": {\"request\": \"journal-create\", \"name\": \"j\", \"batches_log2\": 4, \"entry_length\": 8}},"
	"{\"request\": {\"request\": \"ledger-create\", \"name\": \"l\", \"words_log2\": 16}},"
	"{\"request\": {\"request\": \"sketch-create\", \"name\": \"k\", \"columns_log2\": 16}}]";

static const struct {
	const char *request, *path;
	bool is_there;
	const char *description;
} items[] = {
	{ "{\"source\": \"cpustat\", \"request\": \"register-source\"}", NULL,
	  true, "source cpustat" },
	{ "{\"source\": \"vmstat\", \"request\": \"register-source\"}", NULL,
	  false, "source vmstat" },
	{ "{\"source\": \"cpustat\", \"request\": \"follow-source\"}", NULL,
	  false, "follower of cpustat" },
	{ "{\"source\": \"snmp:tcp\", \"request\": \"register-source\", \"netns\": \"blue\"}",
	  "/run/netns/blue", true, "source snmp:tcp, netns blue" },
	{ "{\"source\": \"snmp:tcp\", \"request\": \"register-source\", \"netns\": \"red\"}",
	  "/run/netns/red", false, "source snmp:tcp, netns red" },
	{ "{\"source\": \"snmp:udp\", \"request\": \"register-source\", \"netns\": \"red\"}",
	  "/run/netns/red", false, "source snmp:udp, netns red" },
	{ "{\"request\": \"register-host\", \"gather\": \"1s\"}", NULL, true,
	  "host, gathered every 1s" },
	{ "{\"request\": \"register-host\", \"gather\": \"10s\"}", NULL, false,
	  "host, gathered every 10s" },
	{ "{\"request\": \"register-map\"}", "/sys/fs/bpf/a", true,
	  "map /sys/fs/bpf/a" },
	{ "{\"request\": \"register-map\"}", "/sys/fs/bpf/b", false,
	  "map /sys/fs/bpf/b" },
	{ "{\"request\": \"store-create\", \"name\": \"s\", \"slots_log2\": 4, \"value_length\": 4, \"checksum_bits\": 32, \"redundancy\": 2}",
	  NULL, true, "store s" },
	{ "{\"request\": \"store-create\", \"name\": \"s\", \"slots_log2\": 4, \"value_length\": 4, \"redundancy\": 1}",
	  NULL, false, "store s" },
	{ "{\"request\": \"store-create\", \"name\": \"s\", \"slots_log2\": 4, \"value_length\": 4, \"file\": \"/a\"}",
	  "/a", false, "store s" },
	{ "{\"request\": \"store-create\", \"name\": \"s\", \"slots_log2\": 4, \"value_length\": 4, \"epoch_ns\": 1000000000}",
	  NULL, false, "store s" },
	{ "{\"request\": \"store-create\", \"name\": \"s\", \"slots_log2\": 4, \"value_length\": 4, \"transport\": \"auto\"}",
	  NULL, true, "store s" },
	{ "{\"request\": \"store-create\", \"name\": \"s\", \"slots_log2\": 4, \"value_length\": 4, \"transport\": \"rc\"}",
	  NULL, false, "store s" },
	{ "{\"request\": \"store-create\", \"name\": \"s\", \"slots_log2\": 4, \"value_length\": 4, \"later\": 1}",
	  NULL, false, "store s" },
	{ "{\"request\": \"reporter-add\", \"store\": \"s\", \"address\": \"10.0.0.1\"}",
	  NULL, true, "reporter 10.0.0.1, store s" },
	{ "{\"request\": \"reporter-add\", \"store\": \"t\", \"address\": \"10.0.0.1\"}",
	  NULL, false, "reporter 10.0.0.1, store t" },
	{ "{\"request\": \"table-create\", \"name\": \"t\", \"rows_log2\": 4, \"key_length\": 13, \"value_length\": 7, \"cells\": 8, \"packet_length\": 1514, \"shares\": [0, 1023]}",
	  NULL, true, "table t" },
	{ "{\"request\": \"table-create\", \"name\": \"t\", \"rows_log2\": 4, \"key_length\": 13, \"value_length\": 7, \"cells\": 4}",
	  NULL, false, "table t" },
	{ "{\"request\": \"table-create\", \"name\": \"t\", \"rows_log2\": 4, \"key_length\": 13, \"value_length\": 7, \"shares\": [0, 511]}",
	  NULL, false, "table t" },
	{ "{\"request\": \"table-create\", \"name\": \"t\", \"rows_log2\": 4, \"key_length\": 13, \"value_length\": 7, \"user\": \"dart-flows\"}",
	  NULL, true, "table t" },
	{ "{\"request\": \"table-create\", \"name\": \"t\", \"rows_log2\": 4, \"key_length\": 13, \"value_length\": 7, \"user\": \"root\"}",
	  NULL, false, "table t" },
	{ "{\"request\": \"requester-add\", \"table\": \"t\", \"address\": \"10.0.0.1\"}",
	  NULL, true, "requester 10.0.0.1, table t" },
	{ "{\"request\": \"journal-create\", \"name\": \"j\", \"batches_log2\": 4, \"entry_length\": 8, \"batch_log2\": 8, \"lists_log2\": 0, \"parts\": 8}",
	  NULL, true, "journal j" },
	{ "{\"request\": \"journal-create\", \"name\": \"j\", \"batches_log2\": 4, \"entry_length\": 8, \"parts\": 2}",
	  NULL, false, "journal j" },
	{ "{\"request\": \"appender-add\", \"journal\": \"j\", \"address\": \"10.0.0.1\"}",
	  NULL, false, "appender 10.0.0.1, journal j" },
	{ "{\"request\": \"ledger-create\", \"name\": \"l\", \"words_log2\": 16, \"rows\": 2}",
	  NULL, true, "ledger l" },
	{ "{\"request\": \"ledger-create\", \"name\": \"l\", \"words_log2\": 16, \"rows\": 3}",
	  NULL, false, "ledger l" },
	{ "{\"request\": \"adder-add\", \"ledger\": \"l\", \"address\": \"10.0.0.1\"}",
	  NULL, false, "adder 10.0.0.1, ledger l" },
	{ "{\"request\": \"sketch-create\", \"name\": \"k\", \"columns_log2\": 16, \"kind\": \"count-min\", \"rows\": 4, \"period\": 10, \"parts\": 8}",
	  NULL, true, "sketch k" },
	{ "{\"request\": \"sketch-create\", \"name\": \"k\", \"columns_log2\": 16, \"kind\": \"count-sketch\"}",
	  NULL, false, "sketch k" },
	{ "{\"request\": \"sketcher-add\", \"sketch\": \"k\", \"address\": \"10.0.0.1\"}",
	  NULL, false, "sketcher 10.0.0.1, sketch k" },
};

static void for_each(void (*check)(const struct dart_configuration_item *item, size_t i))
{
	struct dart_configuration_item item = { };
	size_t i;

	for (i = 0; i < sizeof(items) / sizeof(items[0]); i++) {
		item.request = json_loads(items[i].request, 0, NULL);
		item.path = (char *)items[i].path;
		assert_non_null(item.request);
		check(&item, i);
		json_decref(item.request);
	}
}

static void check_has(const struct dart_configuration_item *item, size_t i)
{
	json_t *registrations = json_loads(list, 0, NULL), *registered;

	assert_non_null(registrations);
	registered = registered__index(registrations);
	assert_non_null(registered);
	if (registered__has(registered, item) != items[i].is_there)
		fail_msg("%s", items[i].request);
	json_decref(registered);
	json_decref(registrations);
}

static void check_description(const struct dart_configuration_item *item, size_t i)
{
	char text[64], brief[8];

	registered__describe(item, text, sizeof(text));
	assert_string_equal(text, items[i].description);
	registered__describe(item, brief, sizeof(brief));
	assert_memory_equal(brief, text, 7);
}

static void test_has(void **state)
{
	for_each(check_has);
}

static void test_description(void **state)
{
	for_each(check_description);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("an item is found if its request is registered and not missing, and a store with its defaults",
		     test_has),
		TEST("an item is described by kind, name and what it counts for", test_description),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
