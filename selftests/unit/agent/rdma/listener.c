// SPDX-License-Identifier: GPL-2.0-only
/* Which connect requests the listener accepts, and how it acts without memory. */
#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "agent/rdma/listener.h"
#include "selftests/unit/unit.h"

#define EVENTS_MAX 512

/* The events that the RDMA CM holds for the listener. */
static struct {
	struct rdma_event_channel channel;
	struct rdma_cm_event events[EVENTS_MAX];
	size_t first, count;
	int failures;		/* of the next calls */
	uint32_t rejected;
} cm;

static sd_event *loop;
static uint32_t probed;
static struct connection_counts counts;
static struct peer_counts controllers;
static struct changes changes;
static struct listener_limits limits;
static struct ibv_context context;
static struct dart_cm_contexts cm_contexts;
static const struct device device = { .context = &context,
				      .cm_contexts = &cm_contexts };

static int offer(void *subject, const void *data, struct peer_offer *result,
		 struct dart_error *error)
{
	return 0;
}

static const struct peer_kind kind = {
	.name = "controller",
	.magic = 7,
	.abi_version = 1,
	.request_length = sizeof(struct peer_request),
	.offer = offer,
};

static struct peer_service services[] = {
	{ .kind = &kind, .counts = &controllers, .list = "controllers" },
	{ }
};

static const struct peer_request request = {
	.magic = 7, .abi_version = 1,
};

/* ---- the rooms and libraries around the listener */

struct rdma_event_channel *rdma_create_event_channel(void)
{
	cm.channel.fd = eventfd(0, EFD_NONBLOCK | EFD_SEMAPHORE);
	return &cm.channel;
}

void rdma_destroy_event_channel(struct rdma_event_channel *channel)
{
	close(channel->fd);
}

int rdma_get_cm_event(struct rdma_event_channel *channel,
		      struct rdma_cm_event **event)
{
	if (cm.failures) {
		cm.failures--;
		errno = ENOMEM;
		return -1;
	}
	if (cm.first == cm.count) {
		errno = EAGAIN;
		return -1;
	}
	*event = &cm.events[cm.first++];
	return 0;
}

int rdma_ack_cm_event(struct rdma_cm_event *event)
{
	eventfd_t one;

	return eventfd_read(cm.channel.fd, &one);
}

int rdma_reject(struct rdma_cm_id *id, const void *data, uint8_t length)
{
	cm.rejected++;
	return 0;
}

int rdma_destroy_id(struct rdma_cm_id *id)
{
	free(id);
	return 0;
}

void connection__name_peer(struct rdma_cm_id *id, char *name, size_t size)
{
	snprintf(name, size, "peer");
}

int connection__accept(struct rdma_cm_id *id, uint8_t reads,
		       const struct device *opened,
		       struct ibv_comp_channel *completions,
		       const struct peer_kind *of,
		       const struct peer_offer *offered,
		       struct connection **result, struct dart_error *error)
{
	struct connection *connection = calloc(1, sizeof(*connection));

	assert_non_null(connection);
	connection->id = id;
	connection->kind = of;
	id->context = connection;
	*result = connection;
	return 0;
}

void connection__free(struct connection *connection)
{
	free(connection->id);
	free(connection);
}

const char *device__name(const struct device *opened)
{
	return "rxe0";
}

bool device__is(const struct device *opened, const struct ibv_context *verbs)
{
	return verbs == opened->context;
}

void device__lose(const struct device *opened, bool is_removed,
		  const char *reason)
{
}

void dart_cm_contexts__note(struct dart_cm_contexts *contexts, struct ibv_context *verbs)
{
}

int listener__listen(struct listener *listener,
		     const struct listener_place *place,
		     struct dart_error *error)
{
	return 0;
}

void listener__destroy_ids(struct listener *listener)
{
}

int listener__open_watch(struct listener *listener, sd_event *of,
			 struct dart_error *error)
{
	return 0;
}

void listener__close_watch(struct listener *listener)
{
}

void listener__keep_alive(const struct listener *listener)
{
}

void listener__wait_for_peer(struct listener *listener,
			     struct connection *connection)
{
}

void listener__end_wait(struct listener *listener,
			struct connection *connection)
{
}

void connection__probe(struct connection *connection)
{
	probed++;
}

/* ---- tests */

static int open_listener(void **state)
{
	static struct listener listener;
	const struct listener_place place = { };
	struct dart_error error;

	memset(&cm, 0, sizeof(cm));
	memset(&counts, 0, sizeof(counts));
	memset(&controllers, 0, sizeof(controllers));
	limits = (struct listener_limits){ };
	services[0].most = 0;
	changes__open(&changes);
	assert_true(sd_event_new(&loop) >= 0);
	assert_int_equal(listener__open(&listener, loop, &place, &device,
					services, &limits, &changes, &counts,
					&error), 0);
	*state = &listener;
	return 0;
}

static int close_listener(void **state)
{
	listener__close(*state);
	sd_event_unref(loop);
	return 0;
}

static void push(enum rdma_cm_event_type type, struct rdma_cm_id *id)
{
	struct rdma_cm_event *event = &cm.events[cm.count++];

	assert_true(cm.count <= EVENTS_MAX);
	event->event = type;
	event->id = id;
	event->param.conn.private_data = &request;
	event->param.conn.private_data_len = sizeof(request);
	assert_int_equal(eventfd_write(cm.channel.fd, 1), 0);
}

static struct rdma_cm_id *ask(const char *address)
{
	struct rdma_cm_id *id = calloc(1, sizeof(*id));

	assert_non_null(id);
	id->verbs = &context;
	id->route.addr.dst_sin.sin_family = AF_INET;
	assert_int_equal(inet_pton(AF_INET, address,
				   &id->route.addr.dst_sin.sin_addr), 1);
	push(RDMA_CM_EVENT_CONNECT_REQUEST, id);
	return id;
}


static void run(void)
{
	while (sd_event_run(loop, 0) > 0)
		;
}

/* The last connection becomes established, unless it was rejected. */
static void connect_from(const char *address)
{
	struct rdma_cm_id *id = ask(address);
	uint32_t rejected = cm.rejected;

	run();
	if (cm.rejected == rejected)
		push(RDMA_CM_EVENT_ESTABLISHED, id);
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

static void test_no_device(void **state)
{
	const struct listener_place place = { };
	const struct device none = { };
	struct listener listener;
	struct dart_error error;

	memset(&cm, 0, sizeof(cm));
	changes__open(&changes);
	assert_int_equal(listener__open(&listener, NULL, &place, &none, services,
					&limits, &changes, &counts, &error), 0);
	assert_connected(&listener, 0, 0);
	assert_null(listener.channel);
	listener__enforce(&listener);
	listener__close(&listener);
}

static void test_half_open(void **state)
{
	struct listener *listener = *state;
	char address[32];
	int i;

	limits.half_open = 8;
	connect_from("10.0.0.1");
	for (i = 0; i < 100; i++) {
		snprintf(address, sizeof(address), "10.1.0.%d", i);
		ask(address);
	}
	connect_from("10.0.0.2");
	run();
	assert_connected(listener, 7, 2);
	assert_int_equal(cm.rejected, 0);
	assert_int_equal(counts.unfinished, 93);
}

static void test_address(void **state)
{
	struct listener *listener = *state;
	int i;

	limits.per_address = 4;
	for (i = 0; i < 10; i++)
		connect_from("10.0.0.1");
	run();
	assert_connected(listener, 0, 4);
	assert_int_equal(cm.rejected, 6);
}

/* A peer that opens more and more connections loses only its own. */
static void test_crowd(void **state)
{
	struct listener *listener = *state;
	struct rdma_cm_id *victim;
	int i;

	limits.half_open = 8;
	victim = ask("10.0.0.1");
	for (i = 0; i < 100; i++)
		ask("10.0.0.9");
	run();
	push(RDMA_CM_EVENT_ESTABLISHED, victim);
	run();
	assert_connected(listener, 7, 1);
	assert_int_equal(cm.rejected, 0);
}

static void test_rate(void **state)
{
	int i;

	limits.per_address = 4;
	for (i = 0; i < 300; i++)
		ask("10.0.0.9");
	run();
	connect_from("10.0.0.1");
	run();
	assert_connected(*state, 4, 1);
	assert_true(cm.rejected > 100);
	assert_int_equal(counts.rejected[REJECTED_LIMIT], cm.rejected);
}

static void test_probes(void **state)
{
	int i;

	services[0].most = 2;
	probed = 0;
	for (i = 0; i < 10; i++)
		connect_from("10.0.0.1");
	run();
	assert_connected(*state, 0, 2);
	assert_int_equal(probed, 2);
}

static void test_others_of_address(void **state)
{
	struct listener *listener = *state;
	int i;

	limits.per_address = 4;
	for (i = 0; i < 100; i++)
		ask("10.0.0.1");
	run();
	assert_connected(listener, 4, 0);
	connect_from("10.0.0.1");
	connect_from("10.0.0.2");
	run();
	assert_connected(listener, 3, 2);
	assert_int_equal(cm.rejected, 0);
}

static void test_all(void **state)
{
	struct listener *listener = *state;

	services[0].most = 2;
	connect_from("10.0.0.1");
	ask("10.0.0.2");
	connect_from("10.0.0.3");
	run();
	assert_connected(listener, 0, 2);
	ask("10.0.0.4");
	run();
	assert_connected(listener, 0, 2);
	assert_int_equal(cm.rejected, 1);
	assert_int_equal(counts.rejected[REJECTED_LIMIT], 1);
}

static void test_list(void **state)
{
	static struct dart_prefixes none;

	services[0].allowed = &none;
	connect_from("10.0.0.1");
	run();
	assert_connected(*state, 0, 1);
	services[0].needs_list = true;
	connect_from("10.0.0.2");
	assert_connected(*state, 0, 1);
	assert_int_equal(counts.rejected[REJECTED_NOT_ALLOWED], 1);
	listener__enforce(*state);
	assert_connected(*state, 0, 0);
	services[0].allowed = NULL;
	services[0].needs_list = false;
}

static int note_events_before(sd_event_source *source, int fd,
			      uint32_t revents, void *before)
{
	*(size_t *)before = cm.first;
	return sd_event_source_set_enabled(source, SD_EVENT_OFF);
}

static void test_turns(void **state)
{
	size_t before = SIZE_MAX;
	int i, fd = eventfd(1, EFD_NONBLOCK);

	for (i = 0; i < 200; i++)
		ask("10.0.0.1");
	assert_true(sd_event_add_io(loop, NULL, fd, EPOLLIN,
				    note_events_before, &before) >= 0);
	run();
	assert_true(before <= 1);
	assert_int_equal(cm.first, 200);
	close(fd);
}

static void test_no_memory(void **state)
{
	struct listener *listener = *state;
	int status;

	connect_from("10.0.0.1");
	cm.failures = 2;
	assert_true(sd_event_run(loop, 0) > 0);
	assert_int_equal(sd_event_run(loop, 0), 0);
	while (cm.first < cm.count)
		assert_true(sd_event_run(loop, UINT64_MAX) > 0);
	assert_connected(listener, 0, 1);
	assert_int_equal(sd_event_get_exit_code(loop, &status), -ENODATA);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("without a device nobody is listened for", test_no_device),
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
		TEST_FIXTURE("200 connect requests at once let other event sources take turns",
			     test_turns, open_listener, close_listener),
		TEST_FIXTURE("an event that cannot be read for lack of memory is read later",
			     test_no_memory, open_listener, close_listener),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
