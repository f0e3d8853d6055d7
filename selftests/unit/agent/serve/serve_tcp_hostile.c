// SPDX-License-Identifier: GPL-2.0-only
/* Callers over TCP that are hostile despite their certificate. */
#include "serve_tcp.h"

struct hostile {
	int fd;
	struct dart_tls_stream *tls;
	struct dart_rpc_stream *stream;
};

static void hostile__connect(struct hostile *hostile, struct fixture *fixture, int receive_buffer)
{
	static const char *const names[] = { AGENT };
	struct pollfd descriptors[2];
	struct dart_error error = {};
	int ret;

	hostile->fd = connect_socket(fixture);
	assert_int_equal(setsockopt(hostile->fd, SOL_SOCKET, SO_RCVBUF,
				    &receive_buffer, sizeof(receive_buffer)),
			 0);
	assert_int_equal(dart_tls_stream__open(fixture->tls, hostile->fd, false,
					       names, 1, &hostile->tls, &error),
			 0);
	assert_int_equal(fcntl(hostile->fd, F_SETFL, O_NONBLOCK), 0);
	while (!(ret = dart_tls_stream__handshake(hostile->tls, &error))) {
		descriptors[0] = (struct pollfd){ .fd = hostile->fd, .events = POLLIN };
		wait_for(fixture, descriptors, 1);
	}
	assert_int_equal(ret, 1);
	assert_int_equal(dart_rpc_stream__open(hostile->tls, DART_RPC_ANSWER_MAX,
					       DART_RPC_ANSWER_MAX, &hostile->stream, &error),
			 0);
}

static void hostile__close(struct hostile *hostile)
{
	dart_rpc_stream__free(hostile->stream);
	close(hostile->fd);
}

static void hostile__send(struct hostile *hostile, const void *bytes, size_t length)
{
	struct dart_error error;
	void *out = dart_rpc_stream__out(hostile->stream);

	assert_non_null(out);
	memcpy(out, bytes, length);
	dart_rpc_stream__put(hostile->stream, length);
	assert_int_equal(dart_rpc_stream__flush(hostile->stream, &error), 0);
}

/* The next message of the agent. */
static struct dart_rpc_message hostile__receive(struct hostile *hostile, struct fixture *fixture)
{
	struct dart_rpc_message message;
	struct pollfd descriptors[2];
	struct dart_error error = {};
	const void *bytes;
	size_t length;
	int ret;

	while ((ret = dart_rpc_stream__next(hostile->stream, &bytes, &length, &error)) == -EAGAIN) {
		descriptors[0] = (struct pollfd){ .fd = hostile->fd, .events = POLLIN };
		wait_for(fixture, descriptors, 1);
	}
	if (ret != 1)
		fail_msg("%s", error.text);
	assert_int_equal(dart_rpc_message__decode(bytes, length, &message, &error), 0);
	return message;
}

/* The agent says why, and then it closes the connection. */
static void expect_refused(struct hostile *hostile, struct fixture *fixture,
			   enum dart_rpc_error_code code, const char *words)
{
	const struct dart_rpc_message message = hostile__receive(hostile, fixture);
	char byte;

	assert_int_equal(message.type, DART_RPC_ERROR);
	assert_int_equal(message.error.code, code);
	if (!strstr(message.error.reason, words))
		fail_msg("\"%s\" instead of \"%s\"", message.error.reason, words);
	run_agent(fixture);
	/* An end, not a reset, which could overtake the message. */
	assert_int_equal(recv(hostile->fd, &byte, 1, 0), 0);
	assert_int_equal(counts.peers.connected, 0);
	hostile__close(hostile);
	run_agent(fixture);
	assert_int_equal(fixture->listener.peers.count, 0);
}

static void say_hello(struct hostile *hostile, struct fixture *fixture)
{
	uint8_t bytes[64];

	hostile__send(hostile, bytes, dart_rpc__put_hello(bytes, DART_RPC_ANSWER_MAX, 0, 0));
	assert_int_equal(hostile__receive(hostile, fixture).type, DART_RPC_WELCOME);
}

static void test_version(void **state)
{
	struct dart_rpc_hello *hello;
	struct hostile hostile;
	uint8_t bytes[64] __attribute__((aligned(8)));
	size_t length;

	length = dart_rpc__put_hello(bytes, DART_RPC_ANSWER_MAX, 0, 0);
	hello = (void *)(bytes + sizeof(struct dart_rpc_header));
	hello->abi_version = htole32(9);
	hostile__connect(&hostile, *state, 65536);
	hostile__send(&hostile, bytes, length);
	expect_refused(&hostile, *state, DART_RPC_ERROR_VERSION,
		       "version 9 of the protocol, not 1");
}

static void test_no_hello(void **state)
{
	struct hostile hostile;
	uint8_t bytes[64];

	hostile__connect(&hostile, *state, 65536);
	hostile__send(&hostile, bytes, dart_rpc__put_get_table(bytes, 1, 4096));
	expect_refused(&hostile, *state, DART_RPC_ERROR_MALFORMED, "not a hello");
}

static void test_length(void **state)
{
	static const uint32_t lengths[] = { 0, 15, DART_RPC_REQUEST_MAX + 1,
					    0x7fffffff, UINT32_MAX };
	struct dart_rpc_header header = { .type = htole16(DART_RPC_GET_TABLE) };
	struct hostile hostile;
	size_t i;

	for (i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		hostile__connect(&hostile, *state, 65536);
		say_hello(&hostile, *state);
		header.length = htole32(lengths[i]);
		hostile__send(&hostile, &header, sizeof(header));
		expect_refused(&hostile, *state, DART_RPC_ERROR_MALFORMED, "length of a message");
	}
}

/* A second request after the refused one: the agent does not read it as a request. */
static void test_behind(void **state)
{
	struct hostile hostile;
	uint8_t bytes[64];
	size_t length;

	hostile__connect(&hostile, *state, 65536);
	say_hello(&hostile, *state);
	length = dart_rpc__put_get_table(bytes, 1, 0);
	hostile__send(&hostile, bytes, length);
	hostile__send(&hostile, bytes, length);
	expect_refused(&hostile, *state, DART_RPC_ERROR_MALFORMED, "table");
	assert_int_equal(counts.errors, 1);
}

/*
 * A caller that learns the reason of its end, and then neither closes its end nor sends any more.
 */
static void test_stays(void **state)
{
	struct fixture *fixture = *state;
	struct pollfd descriptors[2];
	struct hostile hostile;
	uint8_t bytes[64];

	hostile__connect(&hostile, fixture, 65536);
	say_hello(&hostile, fixture);
	hostile__send(&hostile, bytes, dart_rpc__put_get_table(bytes, 1, 0));
	assert_int_equal(hostile__receive(&hostile, fixture).type, DART_RPC_ERROR);
	run_agent(fixture);
	assert_int_equal(fixture->listener.peers.count, 1);
	assert_int_equal(counts.peers.connected, 0);
	while (fixture->listener.peers.count)
		wait_for(fixture, descriptors, 0);
	assert_int_equal(counts.cut_off, 0);
	hostile__close(&hostile);
}

/* Bytes from a caller that was refused do not wake the agent for each few of them. */
static void test_pours(void **state)
{
	static uint8_t bytes[1 << 20];
	struct fixture *fixture = *state;
	struct hostile hostile;
	ssize_t sent, total = 0;
	int turns;

	hostile__connect(&hostile, fixture, 65536);
	say_hello(&hostile, fixture);
	hostile__send(&hostile, bytes, dart_rpc__put_get_table(bytes, 1, 0));
	assert_int_equal(hostile__receive(&hostile, fixture).type, DART_RPC_ERROR);
	run_agent(fixture);
	while ((sent = send(hostile.fd, bytes, sizeof(bytes), MSG_NOSIGNAL)) > 0)
		total += sent;
	assert_true(total > 100000);
	for (turns = 0; sd_event_run(fixture->loop, 0) > 0; turns++)
		;
	assert_in_range(turns, 1, 1 + total / 100000);
	/* All of them were taken. */
	assert_true(send(hostile.fd, bytes, sizeof(bytes), MSG_NOSIGNAL) > 0);
	hostile__close(&hostile);
}

/* Messages are as short as the hello says; a hello over TCP that announces receives is refused. */
static void test_hello(void **state)
{
	struct fixture *fixture = *state;
	const uint32_t used = fixture->host->control_region.used;
	struct dart_rpc_message message;
	struct hostile hostile;
	uint8_t bytes[64];

	hostile__connect(&hostile, fixture, 65536);
	hostile__send(&hostile, bytes, dart_rpc__put_hello(bytes, DART_RPC_ANSWER_MIN, 0, 0));
	assert_int_equal(hostile__receive(&hostile, fixture).type, DART_RPC_WELCOME);
	hostile__send(&hostile, bytes, dart_rpc__put_get_table(bytes, 1, used));
	do {
		message = hostile__receive(&hostile, fixture);
		assert_int_equal(message.type, DART_RPC_PART);
		assert_in_range(message.part.length, 1, DART_RPC_ANSWER_MIN - DART_RPC_PART_HEAD);
	} while (!message.is_last);
	hostile__close(&hostile);
	run_agent(fixture);
	hostile__connect(&hostile, fixture, 65536);
	hostile__send(&hostile, bytes, dart_rpc__put_hello(bytes, DART_RPC_ANSWER_MIN, 1, 0));
	expect_refused(&hostile, fixture, DART_RPC_ERROR_MALFORMED, "it has 1 receives");
}

static void test_bytes(void **state)
{
	struct fixture *fixture = *state;
	struct hostile hostile;
	uint64_t seed = 3;
	uint8_t bytes[256];
	int i, round, fd;

	for (round = 0; round < 50; round++) {
		for (i = 0; i < (int)sizeof(bytes); i++)
			bytes[i] = random__below(&seed, 256);
		fd = connect_socket(fixture);
		assert_int_equal(send(fd, bytes, sizeof(bytes), MSG_NOSIGNAL), sizeof(bytes));
		run_agent(fixture);
		close(fd);
		run_agent(fixture);
	}
	assert_int_equal(fixture->listener.peers.count, 0);
	/* It still serves. */
	hostile__connect(&hostile, fixture, 65536);
	say_hello(&hostile, fixture);
	hostile__close(&hostile);
}

#define LARGE (4 << 20)	/* bytes, more than the sockets of both ends take */

/* Sends two requests at once for a large table, without reading the answers. */
static void test_slow(void **state)
{
	struct fixture *fixture = *state;
	struct control_region *region = &fixture->host->control_region;
	struct dart_rpc_client *other = connect_to(fixture);
	struct pollfd descriptors[2];
	struct dart_error error;
	uint8_t request[64], table[4096];
	struct hostile hostile;
	size_t length;

	hostile__connect(&hostile, fixture, 4096);
	say_hello(&hostile, fixture);
	region->memory = calloc(1, LARGE);
	assert_non_null(region->memory);
	region->used = LARGE;
	length = dart_rpc__put_get_table(request, 1, LARGE);
	hostile__send(&hostile, request, length);
	hostile__send(&hostile, request, length);
	run_agent(fixture);
	assert_int_equal(fixture->listener.peers.count, 2);
	assert_int_equal(counts.requests, 1);
	assert_in_range(counts.bytes, 1, LARGE - 1);
	assert_int_equal(counts.cut_off, 0);
	/* The agent serves another caller meanwhile. */
	assert_int_equal(dart_rpc_client__get_table(other, table, sizeof(table), &error), 0);
	expect(fixture, other, DART_RPC_CLIENT_ANSWERED);
	while (fixture->listener.peers.count == 2)
		wait_for(fixture, descriptors, 0);
	assert_int_equal(counts.requests, 2);
	assert_int_equal(counts.cut_off, 1);
	free(region->memory);
	region->memory = fixture->host->table;
	hostile__close(&hostile);
	dart_rpc_client__free(other);
}

/* A begun request must end in time, and so must a handshake. */
static void test_unfinished(void **state)
{
	struct fixture *fixture = *state;
	struct pollfd descriptors[2];
	struct hostile hostile;
	uint8_t request[64];
	int fd;

	hostile__connect(&hostile, fixture, 65536);
	say_hello(&hostile, fixture);
	dart_rpc__put_get_table(request, 1, 4096);
	hostile__send(&hostile, request, 10);
	fd = connect_socket(fixture);
	while (fixture->listener.peers.count)
		wait_for(fixture, descriptors, 0);
	assert_int_equal(counts.cut_off, 1);
	assert_int_equal(refused.handshakes, 1);
	close(fd);
	hostile__close(&hostile);
}

/* As if the agent had not run for a minute, in which the caller could not go on. */
static void test_late(void **state)
{
	struct fixture *fixture = *state;
	struct leases *deadlines = &fixture->listener.peers.deadlines;
	struct hostile hostile;
	uint8_t request[64];
	size_t length;

	hostile__connect(&hostile, fixture, 65536);
	say_hello(&hostile, fixture);
	length = dart_rpc__put_get_table(request, 1, 4096);
	hostile__send(&hostile, request, 10);
	run_agent(fixture);
	TAILQ_FIRST(&deadlines->queue)->deadline -= 60 * 1000000;
	sd_event_source_set_time(deadlines->timer, 0);
	run_agent(fixture);
	assert_int_equal(counts.cut_off, 0);
	assert_int_equal(leases__count(deadlines), 1);
	hostile__send(&hostile, request + 10, length - 10);
	assert_int_equal(hostile__receive(&hostile, fixture).type, DART_RPC_PART);
	hostile__close(&hostile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST_FIXTURE("a hello of another version is refused with both versions",
			     test_version, open_fixture, close_fixture),
		TEST_FIXTURE("a first message other than a hello is refused",
			     test_no_hello, open_fixture, close_fixture),
		TEST_FIXTURE("lengths of messages from 0 to 2^32 - 1 outside the limits are refused",
			     test_length, open_fixture, close_fixture),
		TEST_FIXTURE("a caller with a request behind one that is refused learns why, and its connection is not reset",
			     test_behind, open_fixture, close_fixture),
		TEST_FIXTURE("a caller that was refused and stays is closed after a lease",
			     test_stays, open_fixture, close_fixture),
		TEST_FIXTURE("what a caller that was refused pours out is dropped in large pieces",
			     test_pours, open_fixture, close_fixture),
		TEST_FIXTURE("messages are as short as the hello says, and a hello with receives is refused",
			     test_hello, open_fixture, close_fixture),
		TEST_FIXTURE("50 times random bytes instead of TLS end their connection only",
			     test_bytes, open_fixture, close_fixture),
		TEST_FIXTURE("a caller that does not read its answers is cut off, and another one is served meanwhile",
			     test_slow, open_fixture, close_fixture),
		TEST_FIXTURE("a request or a handshake that does not go on is cut off",
			     test_unfinished, open_fixture, close_fixture),
		TEST_FIXTURE("a caller is not cut off if the agent itself was late",
			     test_late, open_fixture, close_fixture),
	};

	return cmocka_run_group_tests(tests, make_files, remove_files);
}
