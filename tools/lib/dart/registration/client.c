// SPDX-License-Identifier: LGPL-2.1-or-later
/* A client of the registration socket: see client.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "client.h"
#include "descriptor.h"

#define CHUNK	65536	/* bytes that are asked for at once */

static const char *remedy(int code)
{
	switch (code) {
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

int dart_registration_client__open(struct dart_registration_client *client,
				   const char *path, struct dart_error *error)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int code = ENAMETOOLONG;

	*client = (struct dart_registration_client){ .socket = -1 };
	if (strlen(path) < sizeof(address.sun_path)) {
		strcpy(address.sun_path, path);
		client->socket = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
		if (client->socket >= 0 &&
		    !connect(client->socket, (struct sockaddr *)&address,
			     sizeof(address)))
			return 0;
		code = errno;
	}
	dart_registration_client__close(client);
	return dart_error__set(error, code, "cannot reach dartd at %s: %s%s",
			       path, strerror(code), remedy(code));
}

void dart_registration_client__close(struct dart_registration_client *client)
{
	if (client->socket >= 0)
		close(client->socket);
	client->socket = -1;
	free(client->bytes);
	client->bytes = NULL;
}

static int send_line(int socket, const json_t *request, int fd)
{
	char *line = json_dumps(request, JSON_COMPACT);
	size_t length, done = 0;
	ssize_t sent = 0;

	if (!line)
		return -ENOMEM;
	length = strlen(line) + 1;
	line[length - 1] = '\n';
	for (; sent >= 0 && done < length; done += sent < 0 ? 0 : sent)
		sent = dart_descriptor__send(socket, line + done, length - done,
					     0, done ? -1 : fd);
	free(line);
	return sent < 0 ? sent : 0;
}

/* Appends what comes next; *@fd becomes a descriptor that comes with it. */
static int receive_some(struct dart_registration_client *client, int *fd,
			struct dart_error *error)
{
	ssize_t received;
	char *bytes;
	int other;

	if (client->size - client->length < CHUNK) {
		bytes = realloc(client->bytes, 2 * client->size + CHUNK);
		if (!bytes)
			return dart_error__no_memory(error);
		client->bytes = bytes;
		client->size = 2 * client->size + CHUNK;
	}
	received = dart_descriptor__receive(client->socket,
					    client->bytes + client->length,
					    CHUNK, 0, &other, NULL);
	if (!received)
		return dart_error__set(error, EPIPE, "dartd has disconnected");
	if (received < 0)
		return dart_error__system(error, -received,
					  "cannot receive from dartd");
	client->length += received;
	if (other >= 0 && *fd < 0)
		*fd = other;
	else if (other >= 0)
		close(other);
	return 0;
}

/* Takes a line, and the descriptor that came with it or -1, the caller's. */
static int receive_line(struct dart_registration_client *client, json_t **line,
			int *fd, struct dart_error *error)
{
	size_t searched = 0, length;
	char *end = NULL;
	int ret;

	*fd = -1;
	*line = NULL;
	for (;;) {
		if (client->length > searched)
			end = memchr(client->bytes + searched, '\n',
				     client->length - searched);
		if (end)
			break;
		searched = client->length;
		ret = receive_some(client, fd, error);
		if (ret)
			goto close;
	}
	length = end + 1 - client->bytes;
	*line = json_loadb(client->bytes, length, 0, NULL);
	client->length -= length;
	memmove(client->bytes, end + 1, client->length);
	if (*line)
		return 0;
	ret = dart_error__set(error, EPROTO,
			      "cannot understand dartd: its reply is not JSON");
close:
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
	return ret;
}

/* The errno called @name, EPROTO if there is none. */
static int code_of(const char *name)
{
	const char *known;
	int code;

	for (code = 1; code < 4096; code++) {
		known = strerrorname_np(code);
		if (known && !strcmp(known, name))
			return code;
	}
	return EPROTO;
}

static int refuse(const json_t *reply, struct dart_error *error)
{
	const char *name = "EPROTO", *message = "the reply makes no sense";

	json_unpack((json_t *)reply, "{s:s, s:s}", "error", &name, "message",
		    &message);
	return dart_error__set(error, code_of(name), "%s", message);
}

int dart_registration_client__ask(struct dart_registration_client *client,
				  const json_t *request, int fd,
				  json_t **reply, int *received,
				  struct dart_error *error)
{
	int ret, other;

	*reply = NULL;
	if (received)
		*received = -1;
	/* If dartd disconnects early, its reply may tell the reason. */
	ret = send_line(client->socket, request, fd);
	if (ret && ret != -EPIPE)
		return dart_error__system(error, -ret, "cannot send to dartd");
	ret = receive_line(client, reply, &other, error);
	if (!ret && !json_is_true(json_object_get(*reply, "ok")))
		ret = refuse(*reply, error);
	if (other >= 0 && (ret || !received))
		close(other);
	else if (received)
		*received = other;
	return ret;
}

int dart_registration_client__next(struct dart_registration_client *client,
				   json_t **line, struct dart_error *error)
{
	int fd, ret = receive_line(client, line, &fd, error);

	if (fd >= 0)
		close(fd);
	return ret;
}
