// SPDX-License-Identifier: GPL-2.0-only
/* rpc_client HOST: libdart's client of calls over RDMA asks the agent of HOST, which is this one. */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dart/control.h>
#include <libdart/rpc/client.h>

#include "selftests/lib/test.h"

#define TIMEOUT_MS 60000
#define TABLE_MAX (1 << 20)
/* Less than the bytes of the table in a message. */
#define MESSAGE_MIN 2048

static const char *host;
static uint8_t table[TABLE_MAX], again[TABLE_MAX];

/* The next event of the client but NOTHING. */
static enum dart_rpc_client_event await(struct dart_rpc_client *client, struct dart_error *error)
{
	enum dart_rpc_client_event event;
	struct pollfd descriptors[2];
	unsigned int count;

	while (!(event = dart_rpc_client__on_ready(client, error))) {
		count = dart_rpc_client__wait(client, descriptors);
		assert_true(poll(descriptors, count, TIMEOUT_MS) > 0);
	}
	return event;
}

static void expect(struct dart_rpc_client *client, enum dart_rpc_client_event wanted)
{
	struct dart_error error = {};

	if (await(client, &error) != wanted)
		fail_msg("another event: %s", error.text);
}

static struct dart_rpc_client *connect_client(void)
{
	struct dart_rpc_client *client;
	struct dart_error error;

	if (dart_rpc_client__connect_rdma(host, DART_CONTROL_PORT, 0, &client, &error))
		fail_msg("%s", error.text);
	expect(client, DART_RPC_CLIENT_CONNECTED);
	return client;
}

static size_t get_table(struct dart_rpc_client *client, uint8_t *bytes)
{
	struct dart_error error;

	assert_int_equal(dart_rpc_client__get_table(client, bytes, TABLE_MAX, &error), 0);
	expect(client, DART_RPC_CLIENT_ANSWERED);
	return dart_rpc_client__length(client);
}

static void test_connection(void **state)
{
	struct dart_rpc_client *client = connect_client();
	uint64_t uncertainty_ns = 0;
	int64_t offset_ns = 0;

	dart_rpc_client__clock(client, &offset_ns, &uncertainty_ns);
	assert_true(uncertainty_ns > 0 && (uint64_t)llabs(offset_ns) <= uncertainty_ns);
	/* Eight receives of 4 KiB. */
	assert_int_equal(dart_rpc_client__window(client), 32768);
	dart_rpc_client__free(client);
}

/* Whatever the descriptors say, the client is called again after MORE. */
static void test_limit(void **state)
{
	enum dart_rpc_client_event event = DART_RPC_CLIENT_MORE;
	struct dart_rpc_client *client = connect_client();
	size_t length = get_table(client, table);
	struct dart_error error = {};
	size_t more = 0;

	assert_true(length > 2 * 4096);
	dart_rpc_client__limit(client, 1);
	assert_int_equal(dart_rpc_client__get_table(client, again, TABLE_MAX, &error), 0);
	for (;;) {
		event = event == DART_RPC_CLIENT_MORE ? dart_rpc_client__on_ready(client, &error) :
							await(client, &error);
		if (event > DART_RPC_CLIENT_MORE || event == DART_RPC_CLIENT_ANSWERED)
			break;
		more += event == DART_RPC_CLIENT_MORE;
	}
	if (event != DART_RPC_CLIENT_ANSWERED)
		fail_msg("event %d: %s", event, error.text);
	assert_int_equal(dart_rpc_client__length(client), length);
	assert_memory_equal(table, again, length);
	assert_in_range(more, length / 4096, length / MESSAGE_MIN);
	dart_rpc_client__free(client);
}

static void get_values(struct dart_rpc_client *client, size_t length,
		       enum dart_rpc_client_event wanted)
{
	struct dart_read_plan *reads;
	struct dart_rpc_plan *plan;
	struct dart_table *decoded;
	struct dart_error error;
	void *landing;

	assert_int_equal(dart_table__decode(table, length, &decoded, NULL, &error), 0);
	assert_int_equal(dart_read_plan__new(decoded, NULL, decoded->entry_count, &reads), 0);
	assert_int_equal(dart_rpc_plan__new(decoded, reads, NULL, decoded->entry_count, &plan), 0);
	landing = malloc(dart_rpc_plan__landing_size(plan));
	assert_non_null(landing);
	assert_int_equal(dart_rpc_client__get_values(client, plan, landing, &error), 0);
	expect(client, wanted);
	free(landing);
	dart_rpc_plan__free(plan);
	dart_read_plan__free(reads);
	dart_table__free(decoded);
}

static void test_stale(void **state)
{
	struct dart_rpc_client *client = connect_client();
	size_t length = get_table(client, table);
	int i;

	get_values(client, length, DART_RPC_CLIENT_ANSWERED);
	/* When most places are those of removed entries, the agent writes all sections again. */
	for (i = 0; i < 16; i++)
		assert_int_equal(system("dartctl register source snmp:udp >/dev/null &&"
					" dartctl unregister snmp:udp >/dev/null"), 0);
	get_values(client, length, DART_RPC_CLIENT_STALE);
	length = get_table(client, table);
	get_values(client, length, DART_RPC_CLIENT_ANSWERED);
	dart_rpc_client__free(client);
}

int main(int argc, char *argv[])
{
	const struct CMUnitTest tests[] = {
		TEST("a connection tells the offset of the clock, and how much can be under way",
		     test_connection),
		TEST("a client with a limit takes so many messages at a time, and says that there is more",
		     test_limit),
		TEST("a client whose table is stale goes on with the next one", test_stale),
	};

	if (argc != 2) {
		fputs("usage: rpc_client HOST\n", stderr);
		return 2;
	}
	host = argv[1];
	return cmocka_run_group_tests(tests, NULL, NULL);
}
