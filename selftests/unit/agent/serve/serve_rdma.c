// SPDX-License-Identifier: GPL-2.0-only
/* Callers by RDMA: both ends in this process, with queue pairs that are a few queues. */
#include "serve_rdma.h"

#include <libdart/rpc/client.h>

/* Returns the next event of the client except NOTHING; both sides act only on events. */
static enum dart_rpc_client_event await(struct dart_rpc_client *client,
					struct dart_error *error)
{
	enum dart_rpc_client_event event = DART_RPC_CLIENT_NOTHING;
	struct pollfd descriptors[2];
	unsigned int count;

	while (!event) {
		count = dart_rpc_client__wait(client, descriptors);
		if (poll(descriptors, count, 0) > 0)
			event = dart_rpc_client__on_ready(client, error);
		else if (!run_agent())
			fail_msg("nobody has an event to handle");
	}
	return event;
}

static void expect(struct dart_rpc_client *client, enum dart_rpc_client_event event)
{
	struct dart_error error = {};

	if (await(client, &error) != event)
		fail_msg("another event: %s", error.text);
}

static struct dart_rpc_client *connect_client(void)
{
	struct dart_rpc_client *client;
	struct dart_error error = {};

	if (dart_rpc_client__connect_rdma("127.0.0.1", 1, &client, &error))
		fail_msg("%s", error.text);
	expect(client, DART_RPC_CLIENT_CONNECTED);
	return client;
}

static void see_table(struct dart_rpc_client *client, struct seen_table *seen)
{
	uint8_t bytes[SERVED_TABLE_MAX];
	struct dart_error error;

	assert_int_equal(dart_rpc_client__get_table(client, bytes, sizeof(bytes),
						    &error),
			 0);
	expect(client, DART_RPC_CLIENT_ANSWERED);
	seen_table__open(seen, bytes, dart_rpc_client__length(client), NULL, 0);
}

static void test_values(void **state)
{
	struct dart_rpc_client *client = connect_client();
	struct dart_error error;
	struct seen_table seen;
	uint64_t uncertainty_ns = 0;
	int64_t offset_ns = 0;
	int i;

	dart_rpc_client__clock(client, &offset_ns, &uncertainty_ns);
	assert_true(uncertainty_ns > 0 &&
		    (uint64_t)llabs(offset_ns) <= uncertainty_ns);
	assert_int_equal(dart_rpc_client__window(client), 32768);
	see_table(client, &seen);
	for (i = 0; i < 100; i++) {
		served_memory.large[i]++;
		assert_int_equal(dart_rpc_client__get_values(client, seen.plan,
							     seen.landing,
							     &error),
				 0);
		expect(client, DART_RPC_CLIENT_ANSWERED);
		seen_table__expect_landed(&seen, NULL, 0, 0);
	}
	assert_int_equal(counts.requests, 101);
	/* The last message left, which causes no event. */
	assert_null(message_qp__expire(&agent.message_qp));
	assert_false(message_qp__is_busy(&agent.message_qp));
	assert_int_equal(counts.cut_off, 0);
	seen_table__close(&seen);
	dart_rpc_client__free(client);
}

static void see_large_table(struct dart_rpc_client *client, const uint8_t *bytes)
{
	struct control_region *region = &agent.host->control_region;

	assert_int_equal(dart_rpc_client__length(client), LARGE);
	assert_memory_equal(bytes, region->memory, LARGE);
	free(region->memory);
	region->memory = agent.host->table;
}

static void expect_large_table(struct dart_rpc_client *client,
			       const uint8_t *bytes)
{
	expect(client, DART_RPC_CLIENT_ANSWERED);
	see_large_table(client, bytes);
}

static void test_parts(void **state)
{
	struct dart_rpc_client *client = connect_client();
	static uint8_t bytes[LARGE];
	struct dart_error error;

	use_large_table();
	assert_int_equal(dart_rpc_client__get_table(client, bytes, LARGE, &error),
			 0);
	assert_true(run_agent());
	assert_true(message_qp__is_busy(&agent.message_qp));
	expect_large_table(client, bytes);
	dart_rpc_client__free(client);
}

/* Whatever the descriptors say, the client is called again after MORE. */
static void test_limit(void **state)
{
	enum dart_rpc_client_event event = DART_RPC_CLIENT_NOTHING;
	struct dart_rpc_client *client = connect_client();
	static uint8_t bytes[LARGE];
	struct dart_error error;
	unsigned int more = 0;

	use_large_table();
	dart_rpc_client__limit(client, 1);
	assert_int_equal(dart_rpc_client__get_table(client, bytes, LARGE, &error),
			 0);
	while (event == DART_RPC_CLIENT_NOTHING || event == DART_RPC_CLIENT_MORE) {
		if (event == DART_RPC_CLIENT_MORE)
			event = dart_rpc_client__on_ready(client, &error);
		else
			event = await(client, &error);
		more += event == DART_RPC_CLIENT_MORE;
	}
	assert_int_equal(event, DART_RPC_CLIENT_ANSWERED);
	/* Each message but the last carries less than 4 KiB of the table. */
	assert_in_range(more, LARGE / 4096, LARGE / 3072);
	see_large_table(client, bytes);
	dart_rpc_client__free(client);
}

/* A client that asks for the large table when the agent is about to sleep. */
static struct dart_rpc_client *late;
static uint8_t late_bytes[LARGE];

static void ask_late(struct ibv_cq *cq)
{
	struct dart_error error;

	assert_ptr_equal(cq, agent.message_qp.received);
	/* As after the event. */
	((struct fake_cq *)cq)->is_armed = false;
	assert_int_equal(dart_rpc_client__get_table(late, late_bytes, LARGE,
						    &error),
			 0);
}

static void test_late(void **state)
{
	struct dart_error error;
	uint8_t bytes[4096];
	unsigned int round;

	late = connect_client();
	assert_int_equal(dart_rpc_client__get_table(late, bytes, sizeof(bytes),
						    &error),
			 0);
	assert_true(run_agent());
	expect(late, DART_RPC_CLIENT_ANSWERED);
	use_large_table();
	/* An event without a request, as after a request that was served early. */
	for (round = 0; round < 2; round++) {
		fake__before_arming = round ? ask_late : NULL;
		assert_null(message_qp__serve(&agent.message_qp,
					      &agent.has_more));
	}
	assert_true(message_qp__is_busy(&agent.message_qp));
	expect_large_table(late, late_bytes);
	dart_rpc_client__free(late);
}

static void test_stale(void **state)
{
	struct dart_rpc_client *client = connect_client();
	struct dart_error error;
	struct seen_table seen;

	see_table(client, &seen);
	served_host__change(agent.host, true);
	assert_int_equal(dart_rpc_client__get_values(client, seen.plan,
						     seen.landing, &error),
			 0);
	assert_int_equal(await(client, &error), DART_RPC_CLIENT_STALE);
	assert_null(agent.reason);
	seen_table__close(&seen);
	see_table(client, &seen);
	assert_int_equal(dart_rpc_client__get_values(client, seen.plan,
						     seen.landing, &error),
			 0);
	expect(client, DART_RPC_CLIENT_ANSWERED);
	seen_table__expect_landed(&seen, NULL, 0, 0);
	seen_table__close(&seen);
	dart_rpc_client__free(client);
}

/* The agent's end of the connection fails. */
static void test_failure(void **state)
{
	struct dart_rpc_client *client = connect_client();
	struct dart_error error;

	message_qp__close(&agent.message_qp);
	agent.is_open = false;
	assert_int_equal(await(client, &error), DART_RPC_CLIENT_DISCONNECTED);
	dart_rpc_client__free(client);
}

static void test_gone(void **state)
{
	dart_rpc_client__free(connect_client());
	assert_true(run_agent());
	assert_string_equal(agent.reason, "disconnected: its queue pair failed");
}

/* Numbers of sends in completions of the client; smaller numbers belong to receives. */
#define CLIENT_SEND_ID 8

/* What a client of libdart does not send. */
static void send_raw(const void *bytes, size_t length)
{
	struct fake_qp *qp = (struct fake_qp *)fake.id.qp;

	qp->sends[qp->first_send] =
		(struct fake_work){ CLIENT_SEND_ID, (uint8_t *)bytes, length };
	qp->sends_count++;
	fake_qp__deliver(qp);
}

static void test_malformed(void **state)
{
	struct dart_rpc_client *client = connect_client();
	struct dart_error error = {};
	uint8_t bytes[100];

	memset(bytes, 0xff, sizeof(bytes));
	send_raw(bytes, sizeof(bytes));
	while (run_agent())
		;
	assert_string_equal(agent.reason,
			    "disconnected: it broke a rule of the protocol");
	assert_int_equal(await(client, &error), DART_RPC_CLIENT_DISCONNECTED);
	assert_non_null(strstr(error.text, "breaks a rule"));
	dart_rpc_client__free(client);
}

static void test_long(void **state)
{
	struct dart_rpc_client *client = connect_client();
	static uint8_t bytes[DART_RPC_REQUEST_MAX + 1];

	send_raw(bytes, sizeof(bytes));
	assert_true(run_agent());
	assert_string_equal(agent.reason,
			    "disconnected: its request is too long");
	dart_rpc_client__free(client);
}

static void test_hello(void **state)
{
	struct dart_rpc_hello hello = dart_rpc_hello__make(4096, 0);
	struct dart_control_reject reject;
	struct fake_qp *qp;

	assert_int_equal(fake__accept(&hello, sizeof(hello), &reject, &qp),
			 -EPROTO);
	assert_string_equal(reject.reason, "it has no receives");
	hello = dart_rpc_hello__make(DART_RPC_ANSWER_MAX + 1, 1);
	assert_int_equal(fake__accept(&hello, sizeof(hello), &reject, &qp),
			 -EPROTO);
	assert_false(agent.is_open);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST_FIXTURE("a caller gets the table and values as READs would land them",
			     test_values, open_fixture, close_fixture),
		TEST_FIXTURE("an answer with more parts than both sides have buffers arrives whole",
			     test_parts, open_fixture, close_fixture),
		TEST_FIXTURE("a client with a limit takes so many messages at a time, and says that there is more",
			     test_limit, open_fixture, close_fixture),
		TEST_FIXTURE("a request that arrives when the agent is about to sleep is answered whole",
			     test_late, open_fixture, close_fixture),
		TEST_FIXTURE("a caller whose table is stale goes on with the next one",
			     test_stale, open_fixture, close_fixture),
		TEST_FIXTURE("a caller notices that the queue pair of the agent has failed",
			     test_failure, open_fixture, close_fixture),
		TEST_FIXTURE("the agent notices that a caller has gone",
			     test_gone, open_fixture, close_fixture),
		TEST_FIXTURE("what is not a request is answered with the reason, then the caller is disconnected",
			     test_malformed, open_fixture, close_fixture),
		TEST_FIXTURE("a request that is longer than its receive ends the connection",
			     test_long, open_fixture, close_fixture),
		TEST_FIXTURE("a hello without receives, or with messages that are too long, is refused",
			     test_hello, open_fixture, close_fixture),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
