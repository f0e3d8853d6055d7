// SPDX-License-Identifier: LGPL-2.1-or-later
/* A client of the registration socket: see client.h. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <libdart/json.h>

#include "client.h"
#include "descriptor.h"

#define CHUNK 65536 /* bytes for which there is room, at least, when more are asked for */

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

static int open_with(struct dart_registration_client *client, const char *path,
		     int flags, struct dart_error *error)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int code = ENAMETOOLONG;

	*client = (struct dart_registration_client){
		.socket = -1,
		.fd = -1,
		.line_fd = -1,
	};
	if (strlen(path) < sizeof(address.sun_path)) {
		strcpy(address.sun_path, path);
		client->socket = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | flags, 0);
		if (client->socket >= 0 &&
		    !connect(client->socket, (struct sockaddr *)&address, sizeof(address)))
			return 0;
		code = errno;
	}
	dart_registration_client__close(client);
	return dart_error__set(error, code, "cannot reach dartd at %s: %s%s",
			       path, strerror(code), remedy(code));
}

int dart_registration_client__open(struct dart_registration_client *client,
				   const char *path, struct dart_error *error)
{
	return open_with(client, path, 0, error);
}

int dart_registration_client__open_now(struct dart_registration_client *client, const char *path,
				       struct dart_error *error)
{
	return open_with(client, path, SOCK_NONBLOCK, error);
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void dart_registration_client__close(struct dart_registration_client *client)
{
	close_fd(&client->socket);
	close_fd(&client->fd);
	free(client->bytes);
	client->bytes = NULL;
	free(client->line);
	client->line = NULL;
}

int dart_registration_client__begin(struct dart_registration_client *client, const json_t *request,
				    int fd, struct dart_error *error)
{
	free(client->line);
	client->line = json_dumps(request, JSON_COMPACT);
	if (!client->line)
		return dart_error__no_memory(error);
	client->line_length = strlen(client->line) + 1;
	client->line[client->line_length - 1] = '\n';
	client->line_sent = 0;
	client->line_fd = fd;
	return 0;
}

/* Sends the rest of the request; @flags as of sendmsg(2). */
static int client__send(struct dart_registration_client *client, int flags,
			struct dart_error *error)
{
	ssize_t sent;

	while (client->line && client->line_sent < client->line_length) {
		sent = dart_descriptor__send(client->socket, client->line + client->line_sent,
					     client->line_length - client->line_sent, flags,
					     client->line_fd);
		if (sent == -EAGAIN)
			return sent;
		/* If dartd disconnects early, its reply may tell the reason. */
		if (sent == -EPIPE)
			break;
		if (sent < 0)
			return dart_error__system(error, -sent, "cannot send to dartd");
		client->line_sent += sent;
		client->line_fd = -1;
	}
	free(client->line);
	client->line = NULL;
	return 0;
}

/* Appends the bytes that come next, with their descriptor. */
static int client__receive_some(struct dart_registration_client *client,
				int flags, struct dart_error *error)
{
	ssize_t received;
	char *bytes;
	int fd;

	if (client->size - client->length < CHUNK) {
		bytes = realloc(client->bytes, 2 * client->size + CHUNK);
		if (!bytes)
			return dart_error__no_memory(error);
		client->bytes = bytes;
		client->size = 2 * client->size + CHUNK;
	}
	received = dart_descriptor__receive(client->socket, client->bytes + client->length,
					    client->size - client->length, flags, &fd, NULL);
	if (received == -EAGAIN)
		return received;
	if (!received)
		return dart_error__set(error, EPIPE, "dartd has disconnected");
	if (received < 0)
		return dart_error__system(error, -received, "cannot receive from dartd");
	client->length += received;
	if (client->fd < 0)
		client->fd = fd;
	else
		close_fd(&fd);
	return 0;
}

/* Waits for a line; returns its length with the newline, at client->bytes, or -errno. */
static ssize_t client__await_line(struct dart_registration_client *client, int flags,
				  struct dart_error *error)
{
	size_t searched = 0;
	char *end = NULL;
	int ret;

	for (;;) {
		if (client->length > searched)
			end = memchr(client->bytes + searched, '\n', client->length - searched);
		if (end)
			return end + 1 - client->bytes;
		searched = client->length;
		ret = client__receive_some(client, flags, error);
		if (ret)
			return ret;
	}
}

/* Takes a line, and the descriptor that came with it or -1, the caller's. */
static int client__receive(struct dart_registration_client *client, int flags,
			   json_t **line, int *fd, struct dart_error *error)
{
	ssize_t length;

	*fd = -1;
	*line = NULL;
	length = client__await_line(client, flags, error);
	if (length < 0)
		return length;
	*line = dart_json__loadb(client->bytes, length, 0, NULL);
	client->length -= length;
	memmove(client->bytes, client->bytes + length, client->length);
	*fd = client->fd;
	client->fd = -1;
	if (*line)
		return 0;
	close_fd(fd);
	return dart_error__set(error, EPROTO, "cannot understand dartd: its reply is not JSON");
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

	json_unpack((json_t *)reply, "{s:s, s:s}", "error", &name, "message", &message);
	return dart_error__set(error, code_of(name), "%s", message);
}

static int client__proceed(struct dart_registration_client *client, int flags, json_t **reply,
			   int *received, struct dart_error *error)
{
	int ret, fd = -1;

	*reply = NULL;
	if (received)
		*received = -1;
	ret = client__send(client, flags, error) ?:
		      client__receive(client, flags, reply, &fd, error);
	if (!ret && !json_is_true(json_object_get(*reply, "ok")))
		ret = refuse(*reply, error);
	if (ret || !received)
		close_fd(&fd);
	else
		*received = fd;
	return ret;
}

int dart_registration_client__proceed(struct dart_registration_client *client, json_t **reply,
				      int *received, struct dart_error *error)
{
	return client__proceed(client, MSG_DONTWAIT, reply, received, error);
}

short dart_registration_client__events(const struct dart_registration_client *client)
{
	return client->line ? POLLOUT : POLLIN;
}

int dart_registration_client__ask(struct dart_registration_client *client, const json_t *request,
				  int fd, json_t **reply, int *received, struct dart_error *error)
{
	*reply = NULL;
	if (received)
		*received = -1;
	return dart_registration_client__begin(client, request, fd, error) ?:
		       client__proceed(client, 0, reply, received, error);
}

/* Does the reply in @text say that the request succeeded?  That of dartd says so first. */
static bool is_granted(const char *text, size_t length)
{
	static const char begin[] = "{\"ok\":true,";
	bool is_true;
	json_t *json;

	if (length >= sizeof(begin) - 1 && !memcmp(text, begin, sizeof(begin) - 1))
		return true;
	json = dart_json__loadb(text, length, 0, NULL);
	is_true = json_is_true(json_object_get(json, "ok"));
	json_decref(json);
	return is_true;
}

int dart_registration_client__ask_text(struct dart_registration_client *client,
				       const json_t *request, int fd, char **text, size_t *length,
				       json_t **reply, struct dart_error *error)
{
	ssize_t line;
	int ret;

	*text = NULL;
	*reply = NULL;
	ret = dart_registration_client__begin(client, request, fd, error) ?:
		      client__send(client, 0, error);
	if (ret)
		return ret;
	line = client__await_line(client, 0, error);
	if (line < 0)
		return line;
	if (!is_granted(client->bytes, line))
		return client__proceed(client, 0, reply, NULL, error);
	close_fd(&client->fd);
	/* Nothing comes unasked: the line is all that was received, and its memory is given away. */
	*text = client->bytes;
	*length = line;
	client->bytes = NULL;
	client->length = 0;
	client->size = 0;
	return 0;
}

int dart_registration_client__next(struct dart_registration_client *client,
				   json_t **line, struct dart_error *error)
{
	int fd, ret = client__receive(client, 0, line, &fd, error);

	close_fd(&fd);
	return ret;
}
