// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "client.h"
#include "command.h"

static const char *remedy(int error)
{
	switch (error) {
	case ENOENT:
	case ECONNREFUSED:
		return " (is dartd running? start it with 'systemctl start dartd')";
	case EACCES:
	case EPERM:
		return " (be root or in the group dart)";
	default:
		return "";
	}
}

/* A connected socket, -1 if there is none; why has been said. */
static int connect_to(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd;

	if (strlen(path) >= sizeof(address.sun_path)) {
		fail("cannot reach dartd at %s: the path is too long", path);
		return -1;
	}
	strcpy(address.sun_path, path);

	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd >= 0 && !connect(fd, (struct sockaddr *)&address,
				sizeof(address)))
		return fd;

	fail("cannot reach dartd at %s: %s%s", path, strerror(errno),
	     remedy(errno));
	if (fd >= 0)
		close(fd);
	return -1;
}

/* The file descriptor goes along with the first byte. */
static int send_line(int socket, const char *line, size_t length, int fd)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = { };
	struct iovec bytes = { (void *)line, length };
	struct msghdr message = { .msg_iov = &bytes, .msg_iovlen = 1 };
	ssize_t sent;

	if (fd >= 0) {
		control.header.cmsg_level = SOL_SOCKET;
		control.header.cmsg_type = SCM_RIGHTS;
		control.header.cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(&control.header), &fd, sizeof(fd));
		message.msg_control = &control;
		message.msg_controllen = CMSG_SPACE(sizeof(int));
	}

	while (bytes.iov_len) {
		sent = sendmsg(socket, &message, MSG_NOSIGNAL);
		if (sent < 0 && errno == EINTR)
			continue;
		if (sent < 0)
			return -errno;
		bytes.iov_base = (char *)bytes.iov_base + sent;
		bytes.iov_len -= sent;
		message.msg_control = NULL;
		message.msg_controllen = 0;
	}
	return 0;
}

static int send_request(int socket, const json_t *request, int fd)
{
	char *line = json_dumps(request, JSON_COMPACT);
	size_t length;
	int ret;

	if (!line)
		return -ENOMEM;
	length = strlen(line);
	line[length] = '\n';
	ret = send_line(socket, line, length + 1, fd);
	free(line);
	return ret;
}

/* One JSON object and the newline behind it. */
static json_t *receive_reply(int socket, json_error_t *error)
{
	FILE *stream = fdopen(dup(socket), "r");
	json_t *reply;

	if (!stream)
		return NULL;
	reply = json_loadf(stream, JSON_DISABLE_EOF_CHECK, error);
	fclose(stream);
	return reply;
}

static json_t *ask(const struct options *options, const json_t *request, int fd)
{
	json_error_t error = { .text = "memory is short" };
	json_t *reply = NULL;
	int socket, ret;

	socket = connect_to(options->socket);
	if (socket < 0)
		return NULL;

	ret = send_request(socket, request, fd);
	/* Who hangs up at once may have said why. */
	if (!ret || ret == -EPIPE)
		reply = receive_reply(socket, &error);
	if (!reply && ret)
		fail("cannot send to dartd: %s", strerror(-ret));
	else if (!reply)
		fail("dartd does not answer: %s", error.text);
	close(socket);
	return reply;
}

static json_t *member_of(json_t *reply, const char *member)
{
	const char *error = "EPROTO", *message = "the reply makes no sense";
	json_t *result;

	if (json_is_true(json_object_get(reply, "ok"))) {
		result = json_object_get(reply, member);
		if (result)
			return result;
	}
	json_unpack(reply, "{s:s, s:s}", "error", &error, "message", &message);
	fail("%s [%s]", message, error);
	return NULL;
}

json_t *client__ask(const struct options *options, json_t *request, int fd,
		    const char *member, json_t **reply)
{
	json_t *result;

	if (!request) {
		fail("memory is short, or a name is not UTF-8");
		return NULL;
	}
	*reply = ask(options, request, fd);
	json_decref(request);
	if (!*reply)
		return NULL;

	result = member_of(*reply, member);
	if (!result) {
		json_decref(*reply);
		return NULL;
	}
	if (options->json) {
		/* Texts of maps must not steer the terminal. */
		json_dumpf(*reply, stdout, JSON_INDENT(2) | JSON_ENSURE_ASCII);
		putchar('\n');
	}
	return result;
}
