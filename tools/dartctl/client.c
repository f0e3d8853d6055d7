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

/* A reply as it comes in, and the descriptor with its first byte, or -1. */
struct incoming {
	int socket;
	int fd;
};

static void incoming__take_fd(struct incoming *incoming,
			      struct msghdr *message)
{
	struct cmsghdr *control = CMSG_FIRSTHDR(message);

	if (control && control->cmsg_level == SOL_SOCKET &&
	    control->cmsg_type == SCM_RIGHTS && incoming->fd < 0)
		memcpy(&incoming->fd, CMSG_DATA(control), sizeof(int));
}

static size_t receive_some(void *buffer, size_t size, void *data)
{
	struct incoming *incoming = data;
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec bytes = { buffer, size };
	struct msghdr message = {
		.msg_iov = &bytes,
		.msg_iovlen = 1,
		.msg_control = incoming->fd < 0 ? &control : NULL,
		.msg_controllen = incoming->fd < 0 ? sizeof(control) : 0,
	};
	ssize_t received;

	do {
		received = recvmsg(incoming->socket, &message,
				   MSG_CMSG_CLOEXEC);
	} while (received < 0 && errno == EINTR);
	if (received < 0)
		return (size_t)-1;
	incoming__take_fd(incoming, &message);
	return received;
}

/* One JSON object and the newline behind it. */
static json_t *receive_reply(int socket, int *fd, json_error_t *error)
{
	struct incoming incoming = { .socket = socket, .fd = -1 };
	json_t *reply = json_load_callback(receive_some, &incoming,
					   JSON_DISABLE_EOF_CHECK, error);

	*fd = incoming.fd;
	return reply;
}

static json_t *ask(const struct options *options, const json_t *request, int fd,
		   int *received)
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
		reply = receive_reply(socket, received, &error);
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

json_t *client__fetch(const struct options *options, json_t *request, int fd,
		      const char *member, json_t **reply, int *received)
{
	json_t *result = NULL;

	*received = -1;
	if (!request) {
		fail("memory is short, or a name is not UTF-8");
		return NULL;
	}
	*reply = ask(options, request, fd, received);
	json_decref(request);
	if (*reply) {
		result = member_of(*reply, member);
		if (!result)
			json_decref(*reply);
	}
	if (!result && *received >= 0)
		close(*received);
	return result;
}

json_t *client__ask(const struct options *options, json_t *request, int fd,
		    const char *member, json_t **reply)
{
	json_t *result;
	int received;

	result = client__fetch(options, request, fd, member, reply, &received);
	if (!result)
		return NULL;
	if (received >= 0)
		close(received);
	if (options->json) {
		/* Texts of maps must not steer the terminal. */
		json_dumpf(*reply, stdout, JSON_INDENT(2) | JSON_ENSURE_ASCII);
		putchar('\n');
	}
	return result;
}
