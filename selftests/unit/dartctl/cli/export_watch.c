// SPDX-License-Identifier: GPL-2.0-only
/* A file that follows an export of dartd, which the test plays. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "selftests/unit/unit.h"
#include "tools/dartctl/cli/export_watch.h"

#define PERIOD_MS	10
#define CLIENTS		8
#define LIMIT_MS	20000	/* a machine may be busy */

/* Each export carries another number. */
static void answer(int client, unsigned int *exports)
{
	char request[512], reply[64];
	ssize_t length = recv(client, request, sizeof(request) - 1, 0);

	if (length <= 0) {
		close(client);
		return;
	}
	request[length] = '\0';
	if (strstr(request, "monitor"))
		snprintf(reply, sizeof(reply), "{\"ok\": true, \"monitor\": true}\n");
	else
		snprintf(reply, sizeof(reply), "{\"ok\": true, \"tables\": [%u]}\n", ++*exports);
	send(client, reply, strlen(reply), MSG_NOSIGNAL);
}

/* Serves until it sent @wanted exports, or the child ended. */
static unsigned int serve(int listener, unsigned int wanted, pid_t child)
{
	struct pollfd fds[1 + CLIENTS] = { { listener, POLLIN, 0 } };
	unsigned int exports = 0, count = 1, i, left;

	while (exports < wanted && poll(fds, count, LIMIT_MS) > 0 &&
	       !waitpid(child, NULL, WNOHANG)) {
		for (left = 1, i = 1; i < count; i++) {
			if (fds[i].revents)
				answer(fds[i].fd, &exports);
			if (fcntl(fds[i].fd, F_GETFD) >= 0)
				fds[left++] = fds[i];
		}
		count = left;
		if (fds[0].revents && count <= CLIENTS)
			fds[count++] = (struct pollfd){ accept4(listener, NULL, NULL, SOCK_CLOEXEC),
							POLLIN, 0 };
	}
	for (i = 1; i < count; i++)
		close(fds[i].fd);
	return exports;
}

static json_t *make(json_t *exported, const void *argument)
{
	return json_incref(exported);
}

/* One requester of many does not answer. */
static int mend(struct dart_registration_client *client, const char *name, struct dart_error *error)
{
	return dart_error__set(error, EHOSTUNREACH, "10.0.0.9 does not answer ARP");
}

static int listen_at(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	strcpy(address.sun_path, path);
	assert_int_equal(bind(listener, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(listen(listener, CLIENTS), 0);
	return listener;
}

static void test_unmendable(void **state)
{
	char directory[] = "/tmp/export_watch.XXXXXX";
	char socket[64], file[64];
	const struct export_kind kind = {
		.object = "table",
		.request = "table-export",
		.member = "tables",
		.part = "requester",
		.remedy = "dartctl requester add",
		.period_ms = PERIOD_MS,
		.mend = mend,
	};
	const struct options options = { .socket = socket };
	const struct export_watch watch = {
		.options = &options,
		.kind = &kind,
		.name = "nat",
		.path = file,
		.make = make,
	};
	unsigned int exports;
	int listener;
	pid_t child;

	assert_non_null(mkdtemp(directory));
	snprintf(socket, sizeof(socket), "%s/socket", directory);
	snprintf(file, sizeof(file), "%s/file", directory);
	listener = listen_at(socket);
	child = fork();
	assert_true(child >= 0);
	if (!child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		_exit(export_watch__run(&watch));
	}
	exports = serve(listener, 3, child);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	close(listener);
	assert_int_equal(unlink(socket), 0);
	/* The third export may not be written yet. */
	assert_int_equal(exports, 3);
	assert_int_equal(unlink(file), 0);
	unlink(strcat(file, ".new"));
	rmdir(directory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("a file follows its table although a requester cannot be mended",
		     test_unmendable),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
