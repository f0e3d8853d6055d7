// SPDX-License-Identifier: GPL-2.0-only
/* Checks of servers at addresses of this host: one answers, one refuses, and one is silent. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "selftests/unit/unit.h"
#include "tools/flows/health/health.h"

#define PATIENCE_US 60000000
#define MANY 700 /* servers: more than checks at a time */
#define SILENT 400 /* fewer */

_Static_assert(MANY > HEALTH_AT_ONCE && SILENT < HEALTH_AT_ONCE, "see above");

static struct scene {
	sd_event *event;
	sd_event_source *end;
	struct policy policy, other;
	struct health *health;
	unsigned int changes;
	bool is_down[MANY];
	const char *reason;
	bool is_late;
} scene;

static void on_changed(void *subject, size_t server, bool is_up, const char *reason)
{
	assert_true(server < MANY);
	/* Each one is news. */
	assert_true(scene.is_down[server] == is_up);
	assert_true(is_up == !reason);
	scene.is_down[server] = !is_up;
	scene.reason = reason;
	scene.changes++;
}

static const struct health_handlers handlers = { on_changed };

static int on_late(sd_event_source *source, uint64_t usec, void *data)
{
	scene.is_late = true;
	return 0;
}

/* Servers at these ports of 127.0.0.1, or @count servers at one port of several addresses. */
static void read_policy(struct policy *policy, const uint16_t *ports, size_t count,
			const char *check)
{
	static char text[MANY * 40 + 400];
	struct dart_error error;
	size_t length, i;

	length = snprintf(text, sizeof(text),
			  "function: balancer\ninterface: eth1\ntable: t\n"
			  "routes: [{prefix: 0.0.0.0/0, mac: 02:00:00:00:00:0b}]\n"
			  "services:\n - address: 192.0.2.10:80\n   protocol: tcp\n"
			  "   check: {interval: 100ms, timeout: 100ms, %s}\n   servers:\n",
			  check);
	for (i = 0; i < count; i++)
		length += snprintf(text + length, sizeof(text) - length,
				   "   - {address: 127.%zu.%zu.1:%u}\n", i / 256, i % 256,
				   ports[i]);
	if (policy__parse(policy, text, length, "flows.yaml", &error))
		fail_msg("%s", error.text);
}

static void open_scene(const uint16_t *ports, size_t count, const char *check)
{
	struct dart_error error;

	memset(&scene, 0, sizeof(scene));
	assert_int_equal(sd_event_new(&scene.event), 0);
	assert_return_code(sd_event_add_time_relative(scene.event, &scene.end, CLOCK_MONOTONIC,
						      PATIENCE_US, 1000, on_late, NULL),
			   0);
	read_policy(&scene.policy, ports, count, check);
	assert_int_equal(
		health__new(scene.event, &scene.policy, &handlers, NULL, &scene.health, &error), 0);
}

static void close_scene(void)
{
	health__free(scene.health);
	sd_event_source_disable_unref(scene.end);
	sd_event_unref(scene.event);
	policy__clear(&scene.policy);
}

static void run(void)
{
	assert_false(scene.is_late);
	assert_return_code(sd_event_run(scene.event, UINT64_MAX), 0);
}

/* Lets time pass until a server has been checked so often since. */
static void run_checks(size_t server, uint64_t more)
{
	const uint64_t before = health__result(scene.health, server).checks;

	while (health__result(scene.health, server).checks < before + more)
		run();
}

/* A port of 127.0.NUMBER.1 that a socket has, which listens if @backlog is not negative. */
static int open_port(unsigned int number, uint16_t *port, int backlog)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_port = htons(*port),
		.sin_addr.s_addr = htonl(0x7f000001 + (number << 8)),
	};
	const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), yes = 1;
	socklen_t length = sizeof(address);

	assert_true(fd >= 0);
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &length), 0);
	*port = ntohs(address.sin_port);
	if (backlog >= 0)
		assert_int_equal(listen(fd, backlog), 0);
	return fd;
}

static void test_first_result(void **state)
{
	uint16_t ports[2] = {};
	const int open = open_port(0, &ports[0], 100), closed = open_port(1, &ports[1], -1);

	open_scene(ports, 2, "rise: 50, fall: 50");
	run_checks(0, 1);
	run_checks(1, 1);
	assert_int_equal(scene.changes, 1);
	assert_true(scene.is_down[1]);
	assert_string_equal(scene.reason, "Connection refused");
	assert_int_equal(health__result(scene.health, 0).failures, 0);
	assert_string_equal(health__result(scene.health, 1).reason, "Connection refused");
	close_scene();
	close(open);
	close(closed);
}

static void test_rise_and_fall(void **state)
{
	uint16_t port = 0;
	int fd = open_port(0, &port, 100);

	open_scene(&port, 1, "rise: 2, fall: 3");
	run_checks(0, 2);
	close(fd);
	run_checks(0, 2);
	assert_int_equal(scene.changes, 0);
	run_checks(0, 1);
	assert_true(scene.is_down[0]);
	fd = open_port(0, &port, 100);
	run_checks(0, 1);
	assert_true(scene.is_down[0]);
	run_checks(0, 1);
	assert_false(scene.is_down[0]);
	assert_int_equal(scene.changes, 2);
	close_scene();
	close(fd);
}

/* A queue of connections that is full: SYNs get no answer. */
static void test_silent_server(void **state)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	uint16_t port = 0;
	const int fd = open_port(0, &port, 0);
	int fillers[3], i;

	address.sin_port = htons(port);
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	for (i = 0; i < 3; i++) {
		fillers[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
		connect(fillers[i], (struct sockaddr *)&address, sizeof(address));
	}
	open_scene(&port, 1, "fall: 1");
	run_checks(0, 1);
	assert_true(scene.is_down[0]);
	assert_string_equal(scene.reason, "no answer in time");
	close_scene();
	for (i = 0; i < 3; i++)
		close(fillers[i]);
	close(fd);
}

/* The time-out and the answer are both there when the loop runs again. */
static void test_late_loop(void **state)
{
	uint16_t ports[20] = {};
	int fds[20];
	size_t i;

	for (i = 0; i < 20; i++)
		fds[i] = open_port(i, &ports[i], 100);
	open_scene(ports, 20, "fall: 1");
	for (i = 0; i < 20; i++)
		run();
	usleep(300000);
	for (i = 0; i < 20; i++)
		while (!health__result(scene.health, i).checks)
			run();
	assert_int_equal(scene.changes, 0);
	for (i = 0; i < 20; i++)
		assert_int_equal(health__result(scene.health, i).failures, 0);
	close_scene();
	for (i = 0; i < 20; i++)
		close(fds[i]);
}

/* A port of all addresses of this host. */
static int open_any(uint16_t *port, int backlog)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	const int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	socklen_t length = sizeof(address);

	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &length), 0);
	if (backlog >= 0)
		assert_int_equal(listen(fd, backlog), 0);
	*port = ntohs(address.sin_port);
	return fd;
}

/* Connections of checks that were closed wait there, too. */
static void accept_all(int listener)
{
	int fd;

	while ((fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC)) >= 0)
		close(fd);
}

/* More servers than checks at a time: each is checked, and none holds others up. */
static void test_many(void **state)
{
	uint16_t ports[MANY], open_port, closed_port;
	const int open = open_any(&open_port, MANY), closed = open_any(&closed_port, -1);
	size_t i;

	for (i = 0; i < MANY; i++)
		ports[i] = i % 2 ? open_port : closed_port;
	open_scene(ports, MANY, "fall: 1");
	for (i = 0; i < MANY; i++)
		while (health__result(scene.health, i).checks < 2) {
			run();
			accept_all(open);
		}
	for (i = 0; i < MANY; i++)
		assert_int_equal(scene.is_down[i], i % 2 == 0);
	close_scene();
	close(open);
	close(closed);
}

/* Each of them takes the whole time-out: the server that answers is checked after each interval. */
static void test_many_silent(void **state)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	uint16_t ports[SILENT] = {}, silent_port;
	const int open = open_port(0, &ports[0], 100), silent = open_any(&silent_port, 0);
	int fillers[3];
	size_t i;

	address.sin_port = htons(silent_port);
	for (i = 0; i < 3; i++) {
		fillers[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
		connect(fillers[i], (struct sockaddr *)&address, sizeof(address));
	}
	for (i = 1; i < SILENT; i++)
		ports[i] = silent_port;
	open_scene(ports, SILENT, "fall: 1");
	run_checks(SILENT - 1, 10);
	assert_int_equal(scene.changes, SILENT - 1);
	assert_false(scene.is_down[0]);
	/* Twice as often as a silent one. */
	assert_true(health__result(scene.health, 0).checks > 15);
	close_scene();
	for (i = 0; i < 3; i++)
		close(fillers[i]);
	close(silent);
	close(open);
}

static void test_other_policy(void **state)
{
	uint16_t ports[3] = {};
	const int closed = open_port(0, &ports[0], -1), open = open_port(1, &ports[1], 100);
	const int second = open_port(2, &ports[2], -1);
	struct dart_error error;

	open_scene(ports, 2, "fall: 1");
	run_checks(0, 1);
	assert_int_equal(scene.changes, 1);
	/* A server that was down before is not reported again. */
	read_policy(&scene.other, ports, 3, "fall: 1");
	assert_int_equal(health__set_policy(scene.health, &scene.other, &error), 0);
	policy__clear(&scene.policy);
	run_checks(0, 1);
	run_checks(2, 1);
	assert_int_equal(scene.changes, 2);
	assert_true(scene.is_down[0] && !scene.is_down[1] && scene.is_down[2]);
	health__free(scene.health);
	scene.health = NULL;
	policy__clear(&scene.other);
	close_scene();
	close(closed);
	close(open);
	close(second);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("the first result of a server counts", test_first_result),
		TEST("later results count when there are enough in turn", test_rise_and_fall),
		TEST("a server that does not answer in time is down", test_silent_server),
		TEST("an answer counts, even if the loop comes late to it", test_late_loop),
		TEST("more servers are checked than checks are under way", test_many),
		TEST("hundreds of silent servers hold no other one up", test_many_silent),
		TEST("servers keep their state under another policy", test_other_policy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
