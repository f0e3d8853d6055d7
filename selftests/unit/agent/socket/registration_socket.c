// SPDX-License-Identifier: GPL-2.0-only
/* Agents that start together at one path, and clients that make room for others. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/socket/registration_socket.h"
#include "selftests/unit/unit.h"

#define AGENTS 12
#define ROUNDS 20

static const struct request_table no_requests[] = { { } };
static struct changes changes;
static struct client_counts counts;

static int make_place(void **state)
{
	static char path[64];

	strcpy(path, "/tmp/dart-socket-XXXXXX");
	assert_non_null(mkdtemp(path));
	changes__open(&changes);
	*state = path;
	return 0;
}

static int remove_place(void **state)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -r '%s'", (char *)*state);
	return system(command);
}

/* One agent: writes to @result whether it owns the path, until @done is closed. */
static void start(const char *path, int ready, int result, int done)
{
	struct registration_socket socket;
	struct dart_error error;
	sd_event *loop;
	char byte;
	int ret;

	if (sd_event_new(&loop) < 0 || read(ready, &byte, 1) != 0)
		return;
	ret = registration_socket__open(&socket, loop, path, no_requests, NULL,
					&changes, &counts, &error);
	byte = !ret ? 'y' : ret == -EADDRINUSE ? 'n' : '?';
	/* It ends while it listens: the socket stays, as after a crash. */
	if (write(result, &byte, 1) == 1 && read(done, &byte, 1) != 0)
		abort();
}

static int can_connect(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int ret, fd = socket(AF_UNIX, SOCK_STREAM, 0);

	strcpy(address.sun_path, path);
	ret = connect(fd, (struct sockaddr *)&address, sizeof(address));
	close(fd);
	return !ret;
}

/* Starts the agents at the same moment, returns how many own the path. */
static int count_winners(const char *path)
{
	int ready[2], result[2], done[2], i, winners = 0;
	char byte;

	assert_int_equal(pipe(ready), 0);
	assert_int_equal(pipe(result), 0);
	assert_int_equal(pipe(done), 0);
	for (i = 0; i < AGENTS; i++)
		if (!fork()) {
			close(ready[1]);
			close(done[1]);
			start(path, ready[0], result[1], done[0]);
			_exit(0);
		}
	close(ready[0]);
	close(ready[1]);
	close(result[1]);
	close(done[0]);
	for (i = 0; i < AGENTS; i++) {
		assert_int_equal(read(result[0], &byte, 1), 1);
		assert_int_not_equal(byte, '?');
		winners += byte == 'y';
	}
	assert_true(can_connect(path));
	close(done[1]);
	while (wait(NULL) > 0)
		;
	close(result[0]);
	return winners;
}

static void test_starts(void **state)
{
	char path[128];
	int i;

	snprintf(path, sizeof(path), "%s/socket", (char *)*state);
	for (i = 0; i < ROUNDS; i++)
		assert_int_equal(count_winners(path), 1);
}

/* ---- clients */

static struct clients clients;

/* Clients of @uid, the first with a request at @active. */
static void add(struct client *client, int count, uid_t uid, int64_t active)
{
	while (count--) {
		*client = (struct client){ .uid = uid, .active = active++ };
		TAILQ_INSERT_TAIL(&clients.list, client, link);
		client++;
	}
}

static void test_choice(void **state)
{
	struct client root[2], many[5], few[2], monitors[3];

	TAILQ_INIT(&clients.list);
	add(root, 2, 0, 1);
	assert_null(clients__choose_victim(&clients, 1000, 2));
	assert_ptr_equal(clients__choose_victim(&clients, 0, 2), &root[0]);

	add(few, 2, 1001, 10);
	add(many, 5, 1000, 20);
	assert_ptr_equal(clients__choose_victim(&clients, 1002, 9), &many[0]);
	assert_ptr_equal(clients__choose_victim(&clients, 1000, 9), &many[0]);
	assert_ptr_equal(clients__choose_victim(&clients, 0, 9), &many[0]);
	many[0].active = 99;
	assert_ptr_equal(clients__choose_victim(&clients, 1002, 9), &many[1]);

	TAILQ_INIT(&clients.list);
	root[0].is_monitor = true;
	TAILQ_INSERT_TAIL(&clients.list, &root[0], link);
	assert_null(clients__choose_victim(&clients, 0, 1));
	add(monitors, 3, 1000, 5);
	monitors[0].is_monitor = true;
	monitors[1].is_monitor = true;
	monitors[2].is_monitor = true;
	assert_null(clients__choose_victim(&clients, 1001, 6));
	assert_ptr_equal(clients__choose_victim(&clients, 1001, 5), &monitors[0]);
	assert_ptr_equal(clients__choose_victim(&clients, 0, 6), &monitors[0]);
}

/* ---- no descriptor is free */

#define TURNED_AWAY 20

/* Runs the loop until @fd gets a reply, which must contain @part. */
static void wait_for_reply(sd_event *loop, int fd, const char *part)
{
	char reply[512] = "";
	ssize_t length;

	while ((length = recv(fd, reply, sizeof(reply) - 1, MSG_DONTWAIT)) < 0)
		assert_true(sd_event_run(loop, 20000000) > 0);
	if (!strstr(reply, part))
		fail_msg("%zd bytes: %s", length, reply);
}

/* Each client has sent a request, so that its socket is closed by a thread. */
static void test_no_descriptors(void **state)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct registration_socket socket_of_dartd;
	struct rlimit before, none;
	int fds[TURNED_AWAY], i;
	struct dart_error error;
	sd_event *loop;

	snprintf(address.sun_path, sizeof(address.sun_path), "%s/socket", (char *)*state);
	assert_true(sd_event_new(&loop) >= 0);
	assert_int_equal(registration_socket__open(&socket_of_dartd, loop, address.sun_path,
						   no_requests, NULL, &changes, &counts, &error),
			 0);
	for (i = 0; i < TURNED_AWAY; i++)
		fds[i] = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	none = before;
	none.rlim_cur = fds[TURNED_AWAY - 1] + 1;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	for (i = 0; i < TURNED_AWAY; i++) {
		assert_int_equal(connect(fds[i], (struct sockaddr *)&address, sizeof(address)), 0);
		assert_int_equal(send(fds[i], "x", 1, 0), 1);
		wait_for_reply(loop, fds[i], "too many clients");
	}
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_int_equal(counts.connected, 0);
	for (i = 0; i < TURNED_AWAY; i++)
		close(fds[i]);
	registration_socket__close(&socket_of_dartd);
	sd_event_unref(loop);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST_FIXTURE("of 12 agents that start together beside a dead one's socket, exactly one listens, and it can be reached",
			     test_starts, make_place, remove_place),
		TEST("the client without a request for the longest time makes room, of the user with the most clients; root's do not",
		     test_choice),
		TEST_FIXTURE("without a free descriptor each client is turned away, also one with a request",
			     test_no_descriptors, make_place, remove_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
