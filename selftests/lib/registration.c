// SPDX-License-Identifier: GPL-2.0-only
/* Requests to the registration socket of the agent, with file descriptors. */
#include "registration.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <dart/registration.h>
#include <libdart/registration/descriptor.h>

#include "test.h"

int registration__connect(void)
{
	const struct sockaddr_un address = {
		.sun_family = AF_UNIX,
		.sun_path = DART_REGISTRATION_SOCKET,
	};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	assert_int_equal(connect(fd, (const void *)&address, sizeof(address)), 0);
	return fd;
}

/* Does not use libdart's function, which refuses to send more than one descriptor. */
void registration__send(int socket, const void *bytes, size_t length, const int *fds,
			unsigned int fd_count)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(8 * sizeof(int))];
	} control = {};
	struct iovec vector = {
		.iov_base = (void *)bytes,
		.iov_len = length,
	};
	struct msghdr message = { .msg_iov = &vector, .msg_iovlen = 1 };

	assert_true(fd_count <= 8);
	if (fd_count) {
		message.msg_control = &control;
		message.msg_controllen = CMSG_SPACE(fd_count * sizeof(int));
		control.header.cmsg_level = SOL_SOCKET;
		control.header.cmsg_type = SCM_RIGHTS;
		control.header.cmsg_len = CMSG_LEN(fd_count * sizeof(int));
		memcpy(CMSG_DATA(&control.header), fds, fd_count * sizeof(int));
	}

	while (vector.iov_len) {
		ssize_t sent = sendmsg(socket, &message, MSG_NOSIGNAL);

		/* An agent that disconnects refused the request: see the reply. */
		if (sent < 0)
			return;
		vector.iov_base = (char *)vector.iov_base + sent;
		vector.iov_len -= sent;
		message.msg_control = NULL;
		message.msg_controllen = 0;
	}
}

json_t *registration__reply(int socket)
{
	size_t length = 0, room = 1 << 20;
	char *line = malloc(room);
	json_t *reply = NULL;

	assert_non_null(line);
	while (length < room && recv(socket, line + length, 1, 0) == 1) {
		if (line[length++] == '\n') {
			reply = json_loadb(line, length, 0, NULL);
			assert_non_null(reply);
			break;
		}
	}
	free(line);
	return reply;
}

int registration__reply_fd(int socket)
{
	char reply[4096];
	ssize_t length;
	int fd;

	length = dart_descriptor__receive(socket, reply, sizeof(reply) - 1, 0, &fd, NULL);
	assert_true(length > 0);
	reply[length] = '\0';
	if (!strstr(reply, "\"ok\":true") || reply[length - 1] != '\n')
		fail_msg("%s", reply);
	assert_true(fd >= 0);
	return fd;
}

json_t *registration__ask(int socket, const char *request, int fd)
{
	registration__send(socket, request, strlen(request), &fd, fd >= 0);
	return registration__reply(socket);
}

char *registration__list(void)
{
	static const char *const requests[] = {
		"{\"request\": \"list\"}\n",
		"{\"request\": \"store-list\"}\n",
	};
	int socket = registration__connect();
	json_t *lists = json_array();
	char *text;

	for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
		json_t *reply = registration__ask(socket, requests[i], -1);
		json_t *entry;
		size_t j;

		assert_true(registration__is_ok(reply));
		json_array_foreach(json_object_get(reply, "entries"), j, entry)
			json_object_del(entry, "age_s");
		json_array_append_new(lists, reply);
	}
	text = json_dumps(lists, JSON_SORT_KEYS);
	json_decref(lists);
	close(socket);
	return text;
}

bool registration__is_ok(const json_t *reply)
{
	return json_is_true(json_object_get(reply, "ok"));
}

json_t *registration__ask_about(const char *request, const char *name, int fd)
{
	int socket = registration__connect();
	char line[256];
	json_t *reply;

	snprintf(line, sizeof(line), "{\"request\": \"%s\", \"name\": \"%s\"}\n", request, name);
	reply = registration__ask(socket, line, fd);
	close(socket);
	return reply;
}

int registration__done(const char *name)
{
	json_t *reply = registration__ask_about("show", name, -1);
	int value = -1;

	json_unpack(reply, "{s:{s:{s:[{s:i}]}}}", "entry", "values", "rows", "done", &value);
	json_decref(reply);
	return value;
}

bool registration__becomes_absent(const char *name)
{
	for (int i = 0; i < REGISTRATION_LEASE_SECONDS_MAX * 10; i++) {
		if (registration__done(name) < 0)
			return true;
		usleep(100000);
	}
	return false;
}
