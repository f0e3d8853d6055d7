// SPDX-License-Identifier: GPL-2.0-only
/* Descriptors that clients pass and whose close waits: dartd does not wait for them. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <libdart/clock.h>

#include "agent/socket/client.h"
#include "agent/socket/passed.h"
#include "selftests/unit/unit.h"

#define NS_PER_MS INT64_C(1000000)
#define LINGER_S 10
#define PASSED_AT_ONCE 5

static int answer(struct request *request)
{
	request->result = json_true();
	return 0;
}

static const struct request_type types[] = {
	{ "ready", "ready", answer, .member = "", .fd = REQUEST_FD_OPTIONAL },
	{ }
};

struct world {
	sd_event *loop;
	struct request_table tables[2];
	struct client_counts counts;
	struct changes changes;
	struct clients clients;
	int reader; /* of slow_socket() */
};

static void world__open(struct world *world)
{
	*world = (struct world){
		.tables = { { types, NULL } },
		.clients = {
			.tables = world->tables,
			.changes = &world->changes,
			.counts = &world->counts,
		},
		.reader = -1,
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
	close(world->reader);
}

/*
 * A socket whose last close waits for LINGER_S s, or until *@reader is closed: its peer, which
 * takes no bytes.
 */
static int slow_socket(int *reader)
{
	const struct linger linger = { .l_onoff = 1, .l_linger = LINGER_S };
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	const int small = 4096;
	socklen_t size = sizeof(address);
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	static char bytes[65536];

	setsockopt(listener, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small));
	setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &small, sizeof(small));
	assert_int_equal(bind(listener, (struct sockaddr *)&address, size), 0);
	assert_int_equal(listen(listener, 1), 0);
	assert_int_equal(getsockname(listener, (struct sockaddr *)&address, &size), 0);
	assert_int_equal(connect(fd, (struct sockaddr *)&address, size), 0);
	*reader = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	assert_true(*reader >= 0);
	close(listener);
	assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger)), 0);
	while (send(fd, bytes, sizeof(bytes), MSG_DONTWAIT) > 0)
		;
	return fd;
}

/* The socket of a new client. */
static int world__connect(struct world *world)
{
	int ends[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends),
			 0);
	assert_int_equal(client__new(&world->clients, world->loop, ends[1]), 0);
	return ends[0];
}

/* Sends @line with @count copies of @passed, and closes it: only the message refers to it. */
static void pass(int client, const char *line, int passed, size_t count)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(PASSED_AT_ONCE * sizeof(int))];
	} control = {};
	struct iovec vector = { (void *)line, strlen(line) };
	struct msghdr message = {
		.msg_iov = &vector,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = CMSG_SPACE(count * sizeof(int)),
	};
	size_t i;

	control.header.cmsg_level = SOL_SOCKET;
	control.header.cmsg_type = SCM_RIGHTS;
	control.header.cmsg_len = CMSG_LEN(count * sizeof(int));
	for (i = 0; i < count; i++)
		memcpy(CMSG_DATA(&control.header) + i * sizeof(passed), &passed, sizeof(passed));
	assert_int_equal(sendmsg(client, &message, 0), strlen(line));
	close(passed);
}

/* Runs the loop until a reply comes, which must contain @part. */
static void world__wait(struct world *world, int client, const char *part)
{
	char reply[512] = "";

	while (recv(client, reply, sizeof(reply) - 1, 0) < 0)
		assert_true(sd_event_run(world->loop, 5000000) > 0);
	if (!strstr(reply, part))
		fail_msg("%s", reply);
}

/* The loop serves another client at once. */
static void check_others(struct world *world, int64_t start)
{
	int other = world__connect(world);

	assert_true(send(other, "{\"request\": \"ready\"}\n", 21, 0) == 21);
	world__wait(world, other, "\"ok\":true");
	close(other);
	assert_true(dart_clock__ns(CLOCK_MONOTONIC) - start < LINGER_S * 1000 * NS_PER_MS / 2);
}

/* The request takes one descriptor, and is refused with more. */
static void test_passed(void **state)
{
	struct world world;
	size_t count;

	for (count = 1; count <= PASSED_AT_ONCE; count += 2) {
		const int64_t start = dart_clock__ns(CLOCK_MONOTONIC);
		int client;

		world__open(&world);
		client = world__connect(&world);
		pass(client, "{\"request\": \"ready\"}\n", slow_socket(&world.reader), count);
		world__wait(&world, client,
			    count == 1 ? "\"ok\":true" : "more file descriptors than 'ready' takes");
		check_others(&world, start);
		close(client);
		world__close(&world);
	}
}

/* A client disconnects, or has to make room, before all that it sent is read. */
static void test_unread(void **state)
{
	const int64_t start = dart_clock__ns(CLOCK_MONOTONIC);
	struct world world;
	int client;

	world__open(&world);
	client = world__connect(&world);
	pass(client, "{\"reque", slow_socket(&world.reader), 1);
	client__free(TAILQ_FIRST(&world.clients.list));
	/* The peer learns of it, and not only when the last descriptor is closed. */
	assert_true(recv(client, (char[1]){}, 1, 0) >= 0 || errno == ECONNRESET);
	check_others(&world, start);
	close(client);
	world__close(&world);
}

/* The rest of a request comes with a descriptor, which no request may have. */
static void test_late(void **state)
{
	const int64_t start = dart_clock__ns(CLOCK_MONOTONIC);
	struct world world;
	int client;

	world__open(&world);
	client = world__connect(&world);
	assert_int_equal(send(client, "{\"request\":", 11, 0), 11);
	pass(client, "\"ready\"}\n", slow_socket(&world.reader), 2);
	world__wait(&world, client, "more file descriptors than 'ready' takes");
	check_others(&world, start);
	close(client);
	world__close(&world);
}

#define USER 1000
#define OTHER_USER 1001
#define MANY (PASSED_MAX + 8)

/* Returns once a thread has closed a descriptor that @uid passed. */
static void wait_for_close(uid_t uid, int timeout_ms)
{
	struct pollfd closed;
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	passed__close(ends[1], uid);
	closed = (struct pollfd){ .fd = ends[0] };
	assert_int_equal(poll(&closed, 1, timeout_ms), 1);
	close(ends[0]);
}

static void test_many(void **state)
{
	static int readers[MANY];
	int i;

	for (i = 0; i < MANY; i++)
		passed__close(slow_socket(&readers[i]), USER);
	assert_true(passed__are_many(USER));
	assert_false(passed__are_many(OTHER_USER));
	wait_for_close(OTHER_USER, LINGER_S * 1000 / 2);
	for (i = 0; i < MANY; i++)
		close(readers[i]);
	/* Threads close the oldest descriptors of a user first. */
	wait_for_close(USER, -1);
	assert_false(passed__are_many(USER));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("a passed descriptor whose close waits does not hold up dartd", test_passed),
		TEST("nor does a descriptor that a client sent and dartd did not read", test_unread),
		TEST("nor does one that comes late", test_late),
		TEST("descriptors of a user that wait are counted, and no other user's wait for them",
		     test_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
