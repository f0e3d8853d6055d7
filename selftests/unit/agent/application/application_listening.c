// SPDX-License-Identifier: GPL-2.0-only
/*
 * A hundred processes listen: each has its own port, and all of them are found with one list of the
 * kernel's sockets.
 */
#include <arpa/inet.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/application/listening.h"
#include "selftests/unit/unit.h"

#define PROCESSES 100

static struct server {
	pid_t pid;
	uint16_t port;
} servers[PROCESSES];

static struct listening listening;

/* Listens at a free port, which it returns, with *@fd. */
static uint16_t listen_at(int family, int *fd)
{
	struct sockaddr_storage address = { .ss_family = family };
	socklen_t length = sizeof(address);
	const struct sockaddr_in *bound = (const struct sockaddr_in *)&address;

	*fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (bind(*fd, (const struct sockaddr *)&address, length) || listen(*fd, 1) ||
	    getsockname(*fd, (struct sockaddr *)&address, &length))
		return 0;
	/* At the same place in both families. */
	return ntohs(bound->sin_port);
}

static void start(struct server *server, bool has_own_namespace)
{
	int pipes[2], fd;

	assert_return_code(pipe(pipes), 0);
	server->pid = fork();
	if (!server->pid) {
		/* If a test fails. */
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (has_own_namespace && unshare(CLONE_NEWUSER | CLONE_NEWNET))
			_exit(1);
		server->port = listen_at(AF_INET, &fd);
		if (write(pipes[1], &server->port, sizeof(server->port)) < 0)
			_exit(1);
		pause();
		_exit(0);
	}
	close(pipes[1]);
	if (read(pipes[0], &server->port, sizeof(server->port)) <= 0)
		server->port = 0;
	close(pipes[0]);
}

static void end(struct server *server)
{
	kill(server->pid, SIGKILL);
	waitpid(server->pid, NULL, 0);
}

static void test_many(void **state)
{
	unsigned int i;

	for (i = 0; i < PROCESSES; i++)
		start(&servers[i], false);
	listening__keep(&listening);
	for (i = 0; i < PROCESSES; i++) {
		assert_int_not_equal(servers[i].port, 0);
		assert_int_equal(listening__port(&listening, servers[i].pid), servers[i].port);
	}
	assert_int_equal(listening.reads, 1);
	listening__drop(&listening);
	for (i = 0; i < PROCESSES; i++)
		end(&servers[i]);
}

static void test_new(void **state)
{
	const uint64_t reads = listening.reads;
	struct server server;

	start(&servers[0], false);
	assert_int_equal(listening__port(&listening, servers[0].pid), servers[0].port);
	start(&server, false);
	assert_int_equal(listening__port(&listening, server.pid), server.port);
	assert_int_equal(listening.reads - reads, 2);
	end(&server);
	assert_int_equal(listening__port(&listening, server.pid), 0);
	end(&servers[0]);
}

static void test_lowest(void **state)
{
	int fds[2];
	const uint16_t one = listen_at(AF_INET, &fds[0]), other = listen_at(AF_INET6, &fds[1]);
	const uint16_t found = listening__port(&listening, getpid());

	/* Before other tests fork. */
	close(fds[0]);
	if (fds[1] >= 0)
		close(fds[1]);
	assert_int_not_equal(one, 0);
	if (!other)
		print_message("this machine has no IPv6\n");
	assert_int_equal(found, other && other < one ? other : one);
}

static void test_namespaces(void **state)
{
	const uint64_t reads = listening.reads;
	struct server server;

	start(&server, true);
	if (!server.port) {
		end(&server);
		skip();
	}
	start(&servers[0], false);
	listening__keep(&listening);
	assert_int_equal(listening__port(&listening, server.pid), server.port);
	assert_int_equal(listening__port(&listening, servers[0].pid), servers[0].port);
	assert_int_equal(listening__port(&listening, server.pid), server.port);
	assert_int_equal(listening.reads - reads, 2);
	listening__drop(&listening);
	end(&server);
	end(&servers[0]);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST("a hundred processes are found with one list", test_many),
		TEST("a process that has started since is found as well", test_new),
		TEST("a process is named by its lowest port", test_lowest),
		TEST("each network namespace has its own list", test_namespaces),
	};

	return cmocka_run_group_tests_name("application_listening", tests, NULL, NULL);
}
