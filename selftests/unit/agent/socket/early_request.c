// SPDX-License-Identifier: GPL-2.0-only
/* Requests that wait, because they cannot succeed yet or take long: only they wait. */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <libdart/clock.h>

#include "agent/socket/client.h"
#include "selftests/unit/unit.h"

#define NS_PER_MS INT64_C(1000000)

/* A handler that takes long. */
#define SLOW_NS (50 * NS_PER_MS)

static int work(struct request *request)
{
	const int64_t start = dart_clock__ns(CLOCK_MONOTONIC);

	while (dart_clock__ns(CLOCK_MONOTONIC) - start < SLOW_NS)
		;
	request->result = json_true();
	return 0;
}

/* A handler, and the event that it waits for. */
struct peer {
	int questions;	/* times that it was asked for */
	int answers_at;	/* the number of the question that it answers */
	bool is_working;	/* before that it has work under way */
};

static int ask_peer(struct request *request)
{
	struct peer *peer = request->subject;

	if (++peer->questions == peer->answers_at) {
		request->result = json_true();
		return 0;
	}
	request->is_early = !peer->is_working;
	request->is_under_way = peer->is_working;
	return dart_error__set(&request->error, EAGAIN, "silence");
}

static int answer(struct request *request)
{
	request->result = json_true();
	return 0;
}

static const struct request_type types[] = {
	{ "peer", "peer", ask_peer, .member = "", .fd = REQUEST_FD_OPTIONAL },
	{ "ready", "ready", answer, .member = "" },
	{ "slow", "slow", work, .member = "" },
	{ }
};

struct world {
	sd_event *loop;
	struct peer peer;
	struct request_table tables[2];
	struct client_counts counts;
	struct changes changes;
	struct clients clients;
};

static void world__open(struct world *world, int answers_at)
{
	*world = (struct world){
		.peer.answers_at = answers_at,
		.tables = { { types, &world->peer } },
		.clients = {
			.tables = world->tables,
			.changes = &world->changes,
			.counts = &world->counts,
		},
	};
	TAILQ_INIT(&world->clients.list);
	changes__open(&world->changes);
	assert_true(sd_event_new(&world->loop) >= 0);
}

static void world__close(struct world *world)
{
	clients__close(&world->clients);
	assert_int_equal(world->counts.connected, 0);
	sd_event_unref(world->loop);
}

/* Returns the socket of a new client that sent the request called @name. */
static int world__ask(struct world *world, const char *name)
{
	char line[64];
	int ends[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
	assert_int_equal(client__new(&world->clients, world->loop, ends[1]), 0);
	snprintf(line, sizeof(line), "{\"request\": \"%s\"}\n", name);
	assert_true(send(ends[0], line, strlen(line), 0) > 0);
	return ends[0];
}

/* Runs the loop until a reply comes, which must contain @part; returns ns. */
static int64_t world__wait(struct world *world, int fd, const char *part)
{
	const int64_t start = dart_clock__ns(CLOCK_MONOTONIC);
	char reply[512] = "";

	while (recv(fd, reply, sizeof(reply) - 1, 0) < 0)
		assert_true(sd_event_run(world->loop, 5000000) > 0);
	if (!strstr(reply, part))
		fail_msg("%s", reply);
	return dart_clock__ns(CLOCK_MONOTONIC) - start;
}

/* More than a second, because each question comes 10 ms after the one before. */
static void test_under_way(void **state)
{
	struct world world;
	int fd;

	world__open(&world, 120);
	world.peer.is_working = true;
	fd = world__ask(&world, "peer");
	assert_true(world__wait(&world, fd, "\"ok\":true") > 1000 * NS_PER_MS);
	assert_int_equal(world.peer.questions, 120);
	close(fd);
	world__close(&world);
}

static void test_answered(void **state)
{
	struct world world;
	int fd;

	world__open(&world, 4);
	fd = world__ask(&world, "peer");
	world__wait(&world, fd, "\"ok\":true");
	assert_int_equal(world.peer.questions, 4);
	assert_int_equal(world.counts.requests, 1);
	assert_int_equal(world.counts.refused_requests, 0);
	/* The same client is served as before. */
	assert_true(send(fd, "{\"request\": \"ready\"}\n", 21, 0) == 21);
	world__wait(&world, fd, "\"ok\":true");
	assert_int_equal(world.counts.requests, 2);
	close(fd);
	world__close(&world);
}

static void test_refused(void **state)
{
	struct world world;
	int64_t ns;
	int fd;

	world__open(&world, 0);
	fd = world__ask(&world, "peer");
	ns = world__wait(&world, fd, "silence");
	assert_true(ns >= 990 * NS_PER_MS);
	assert_true(world.peer.questions > 1);
	assert_int_equal(world.counts.requests, 1);
	assert_int_equal(world.counts.refused_requests, 1);
	close(fd);
	world__close(&world);
}

static void test_others(void **state)
{
	struct world world;
	int64_t start = dart_clock__ns(CLOCK_MONOTONIC);
	int early[8], others[8];
	int i;

	world__open(&world, 0);
	for (i = 0; i < 8; i++)
		early[i] = world__ask(&world, "peer");
	for (i = 0; i < 8; i++) {
		others[i] = world__ask(&world, "ready");
		world__wait(&world, others[i], "\"ok\":true");
		close(others[i]);
	}
	/* Holds unless this machine was stopped meanwhile. */
	if (dart_clock__ns(CLOCK_MONOTONIC) - start < 1000 * NS_PER_MS)
		assert_int_equal(world.counts.refused_requests, 0);
	for (i = 0; i < 8; i++) {
		world__wait(&world, early[i], "silence");
		close(early[i]);
	}
	assert_int_equal(world.counts.refused_requests, 8);
	world__close(&world);
}

static void test_gone(void **state)
{
	struct world world;
	int fd, other;

	world__open(&world, 3);
	fd = world__ask(&world, "peer");
	while (!world.peer.questions)
		assert_true(sd_event_run(world.loop, 5000000) > 0);
	close(fd);
	while (world.counts.connected)
		assert_true(sd_event_run(world.loop, 5000000) > 0);
	assert_int_equal(world.peer.questions, 3);
	/* A request that waits while dartd ends. */
	world.peer = (struct peer){ };
	other = world__ask(&world, "peer");
	while (!world.peer.questions)
		assert_true(sd_event_run(world.loop, 5000000) > 0);
	world__close(&world);
	close(other);
}

/* The user's reserve for a second is left, of which a request takes four times its own time. */
static void test_slow(void **state)
{
	const uid_t user = 1000;
	const int64_t now = dart_clock__ns(CLOCK_BOOTTIME);
	struct world world;
	struct client *client;
	int slow, other, i;

	world__open(&world, 0);
	request_rates__limit(&world.clients.rates, 0);
	for (i = 0; i < 9 * REQUEST_RATE_DEFAULT; i++)
		request_rates__count(&world.clients.rates, user, now);
	slow = world__ask(&world, "slow");
	client = TAILQ_FIRST(&world.clients.list);
	client->uid = user;
	for (i = 0; i < 30; i++)
		assert_true(send(slow, "{\"request\": \"slow\"}\n", 20, 0) == 20);
	while (!client->is_waiting)
		assert_true(sd_event_run(world.loop, 5000000) > 0);
	assert_in_range(world.counts.requests, 2, 10);
	other = world__ask(&world, "ready");
	world__wait(&world, other, "\"ok\":true");
	close(slow);
	close(other);
	world__close(&world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("a request that cannot succeed yet is answered once it does", test_answered),
		TEST("a request waits longer while work for it is under way", test_under_way),
		TEST("after a second it is refused with the reason", test_refused),
		TEST("other clients are answered while eight requests wait", test_others),
		TEST("a client that waits may go, and so may dartd", test_gone),
		TEST("the clients of a user whose requests take long wait", test_slow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
