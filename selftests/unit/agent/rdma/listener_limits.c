// SPDX-License-Identifier: GPL-2.0-only
/* Which connect requests the limits of the listener admit, and which connections make room. */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/rdma/listener.h"
#include "selftests/unit/unit.h"

static uint32_t probed;
static uint32_t rejected;
static uint32_t unfinished;
static struct listener_limits limits;

static const struct peer_kind kind = { .name = "controller" };
static struct peer_service services[] = {
	{ .kind = &kind, .list = "controllers" },
	{ }
};

/* ---- the connections, of which the limits need two functions */

void connection__probe(struct connection *connection)
{
	probed++;
}

void listener__end(struct listener *listener, struct connection *connection, const char *reason)
{
	TAILQ_REMOVE(&listener->connections, connection, link);
	unfinished += !connection->established;
	free(connection->id);
	free(connection);
}

/* ---- tests */

static int open_listener(void **state)
{
	static struct listener listener;

	listener = (struct listener){ .services = services, .limits = &limits };
	TAILQ_INIT(&listener.connections);
	limits = (struct listener_limits){ };
	services[0].most = 0;
	probed = 0;
	rejected = 0;
	unfinished = 0;
	*state = &listener;
	return listener__open_rates(&listener);
}

static int close_listener(void **state)
{
	struct listener *listener = *state;
	struct connection *connection;

	while ((connection = TAILQ_FIRST(&listener->connections)))
		listener__end(listener, connection, "");
	return 0;
}

/* A connect request; NULL if it is rejected. */
static struct connection *ask(struct listener *listener, const char *address)
{
	struct rdma_cm_id *id = calloc(1, sizeof(*id));
	struct connection *connection;
	struct dart_error error;

	assert_non_null(id);
	id->route.addr.dst_sin.sin_family = AF_INET;
	assert_int_equal(inet_pton(AF_INET, address, &id->route.addr.dst_sin.sin_addr), 1);
	if (listener__admit(listener, services, id, &error)) {
		rejected++;
		free(id);
		return NULL;
	}
	connection = calloc(1, sizeof(*connection));
	assert_non_null(connection);
	connection->id = id;
	connection->kind = &kind;
	TAILQ_INSERT_TAIL(&listener->connections, connection, link);
	return connection;
}

/* The connection becomes established, unless it was rejected. */
static void connect_from(struct listener *listener, const char *address)
{
	struct connection *connection = ask(listener, address);

	if (connection)
		connection->established = 1;
}

/* Half-open and established connections. */
static void assert_connected(const struct listener *listener,
			     uint32_t half_open, uint32_t established)
{
	const struct connection *connection;

	TAILQ_FOREACH(connection, &listener->connections, link) {
		if (connection->established)
			assert_true(established-- > 0);
		else
			assert_true(half_open-- > 0);
	}
	assert_int_equal(half_open, 0);
	assert_int_equal(established, 0);
}

static void test_half_open(void **state)
{
	struct listener *listener = *state;
	char address[32];
	int i;

	limits.half_open = 8;
	connect_from(listener, "10.0.0.1");
	for (i = 0; i < 100; i++) {
		snprintf(address, sizeof(address), "10.1.0.%d", i);
		ask(listener, address);
	}
	connect_from(listener, "10.0.0.2");
	assert_connected(listener, 7, 2);
	assert_int_equal(rejected, 0);
	assert_int_equal(unfinished, 93);
}

static void test_address(void **state)
{
	struct listener *listener = *state;
	int i;

	limits.per_address = 4;
	for (i = 0; i < 10; i++)
		connect_from(listener, "10.0.0.1");
	assert_connected(listener, 0, 4);
	assert_int_equal(rejected, 6);
}

/* A peer that opens more and more connections loses only its own. */
static void test_crowd(void **state)
{
	struct listener *listener = *state;
	struct connection *other;
	int i;

	limits.half_open = 8;
	other = ask(listener, "10.0.0.1");
	for (i = 0; i < 100; i++)
		ask(listener, "10.0.0.9");
	assert_ptr_equal(TAILQ_FIRST(&listener->connections), other);
	other->established = 1;
	assert_connected(listener, 7, 1);
	assert_int_equal(rejected, 0);
}

static void test_rate(void **state)
{
	struct listener *listener = *state;
	int i;

	limits.per_address = 4;
	for (i = 0; i < 300; i++)
		ask(listener, "10.0.0.9");
	assert_true(rejected > 100);
	connect_from(listener, "10.0.0.1");
	assert_connected(listener, 4, 1);
}

static void test_probes(void **state)
{
	struct listener *listener = *state;
	int i;

	services[0].most = 2;
	for (i = 0; i < 10; i++)
		connect_from(listener, "10.0.0.1");
	assert_connected(listener, 0, 2);
	assert_int_equal(probed, 2);
}

static void test_others_of_address(void **state)
{
	struct listener *listener = *state;
	int i;

	limits.per_address = 4;
	for (i = 0; i < 100; i++)
		ask(listener, "10.0.0.1");
	assert_connected(listener, 4, 0);
	connect_from(listener, "10.0.0.1");
	connect_from(listener, "10.0.0.2");
	assert_connected(listener, 3, 2);
	assert_int_equal(rejected, 0);
}

static void test_all(void **state)
{
	struct listener *listener = *state;

	services[0].most = 2;
	connect_from(listener, "10.0.0.1");
	ask(listener, "10.0.0.2");
	connect_from(listener, "10.0.0.3");
	assert_connected(listener, 0, 2);
	assert_null(ask(listener, "10.0.0.4"));
	assert_connected(listener, 0, 2);
}

static void test_list(void **state)
{
	static struct dart_prefixes none;

	services[0].allowed = &none;
	connect_from(*state, "10.0.0.1");
	assert_connected(*state, 0, 1);
	services[0].needs_list = true;
	connect_from(*state, "10.0.0.2");
	assert_connected(*state, 0, 1);
	assert_int_equal(rejected, 1);
	listener__enforce(*state);
	assert_connected(*state, 0, 0);
	services[0].allowed = NULL;
	services[0].needs_list = false;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST_FIXTURE("the oldest connection that is not established makes room for another one of any address",
			     test_half_open, open_listener, close_listener),
		TEST_FIXTURE("a crowd of connections of an address takes its own places, not those of others",
			     test_crowd, open_listener, close_listener),
		TEST_FIXTURE("an address that connects too often is rejected, others are not",
			     test_rate, open_listener, close_listener),
		TEST_FIXTURE("if there is no room, the peers that are connected are probed, once a second at most",
			     test_probes, open_listener, close_listener),
		TEST_FIXTURE("an address with its number of established connections is rejected",
			     test_address, open_listener, close_listener),
		TEST_FIXTURE("connections of an address that are not established do not lock it out, nor others",
			     test_others_of_address, open_listener,
			     close_listener),
		TEST_FIXTURE("of all controllers, one that is not established makes room, an established one does not",
			     test_all, open_listener, close_listener),
		TEST_FIXTURE("without a list a kind of peers that needs one is not allowed, any other is",
			     test_list, open_listener, close_listener),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
