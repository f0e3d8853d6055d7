// SPDX-License-Identifier: GPL-2.0-only
/* Clients of the control socket: see control.h. */
#include "control.h"

#include <errno.h>
#include <libdart/json.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "control_answer.h"

struct client {
	struct control *control; /* NULL: the place is free */
	sd_event_source *io;
	uint64_t number; /* in the order of their arrival */
	int fd;
	char request[CONTROL_REQUEST_MAX];
	size_t received;
	char *answer; /* NULL: none */
	size_t length, sent;
};

struct control {
	struct control_subject subject;
	sd_event *event;
	sd_event_source *io;
	char path[sizeof(((struct sockaddr_un *)0)->sun_path)];
	int fd;
	uint64_t arrivals;
	struct client clients[CONTROL_CLIENTS];
};

static void end_client(struct client *client)
{
	sd_event_source_disable_unref(client->io);
	close(client->fd);
	free(client->answer);
	*client = (struct client){};
}

/* Returns 0 when all of the answer is sent, -EAGAIN or another -errno. */
static int send_answer(struct client *client)
{
	ssize_t sent;

	while (client->answer && client->sent < client->length) {
		sent = send(client->fd, client->answer + client->sent,
			    client->length - client->sent, MSG_DONTWAIT | MSG_NOSIGNAL);
		if (sent < 0)
			return errno == EINTR ? -EAGAIN : -errno;
		client->sent += sent;
	}
	free(client->answer);
	client->answer = NULL;
	return 0;
}

static int answer_line(struct client *client, size_t length)
{
	json_t *json = control_answer__make(&client->control->subject, client->request, length);

	client->answer = json ? dart_json__dumps(json, JSON_COMPACT) : NULL;
	json_decref(json);
	if (!client->answer)
		return -ENOMEM;
	client->length = strlen(client->answer) + 1;
	client->answer[client->length - 1] = '\n';
	client->sent = 0;
	client->received -= length + 1;
	memmove(client->request, client->request + length + 1, client->received);
	return send_answer(client);
}

/* Answers the lines that have arrived, one after the other. */
static int answer_lines(struct client *client)
{
	const char *end;
	int ret = 0;

	while (!ret && (end = memchr(client->request, '\n', client->received)))
		ret = answer_line(client, end - client->request);
	if (!ret && client->received == sizeof(client->request))
		return -E2BIG;
	return ret;
}

static int receive(struct client *client)
{
	ssize_t received;

	received = recv(client->fd, client->request + client->received,
			sizeof(client->request) - client->received, MSG_DONTWAIT);
	if (received < 0)
		return errno == EINTR ? -EAGAIN : -errno;
	if (!received)
		return -EPIPE;
	client->received += received;
	return answer_lines(client);
}

static int on_client(sd_event_source *source, int fd, uint32_t events, void *data)
{
	struct client *client = data;
	int ret;

	if (client->answer)
		ret = send_answer(client) ?: answer_lines(client);
	else
		ret = receive(client);
	if (ret && ret != -EAGAIN) {
		end_client(client);
		return 0;
	}
	sd_event_source_set_io_events(source, client->answer ? EPOLLOUT : EPOLLIN);
	return 0;
}

/* A free place, that of the client that has been there longest if there is none. */
static struct client *place_for_client(struct control *control)
{
	struct client *oldest = &control->clients[0];
	int i;

	for (i = 0; i < CONTROL_CLIENTS; i++) {
		if (!control->clients[i].control)
			return &control->clients[i];
		if (control->clients[i].number < oldest->number)
			oldest = &control->clients[i];
	}
	end_client(oldest);
	return oldest;
}

static int on_arrival(sd_event_source *source, int listener, uint32_t events, void *data)
{
	struct control *control = data;
	struct client *client;
	int fd;

	fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (fd < 0)
		return 0;
	client = place_for_client(control);
	client->fd = fd;
	if (sd_event_add_io(control->event, &client->io, fd, EPOLLIN, on_client, client) < 0) {
		end_client(client);
		return 0;
	}
	client->control = control;
	client->number = control->arrivals++;
	return 0;
}

/* Is the socket one that a killed daemon left? */
static bool is_abandoned(const struct sockaddr_un *address)
{
	const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	bool is_refused;

	if (fd < 0)
		return false;
	is_refused = connect(fd, (const struct sockaddr *)address, sizeof(*address)) &&
		     errno == ECONNREFUSED;
	close(fd);
	return is_refused;
}

/* Removes a socket without a listener, and nothing else. */
static int clear(const struct sockaddr_un *address, struct dart_error *error)
{
	const char *path = address->sun_path;
	struct stat status;

	if (lstat(path, &status)) {
		if (errno == ENOENT)
			return 0;
		return dart_error__system(error, errno, "cannot look at '%s'", path);
	}
	if (!S_ISSOCK(status.st_mode))
		return dart_error__set(error, EEXIST,
				       "'%s' exists and is not a socket (see --control)", path);
	if (!is_abandoned(address))
		return dart_error__set(error, EADDRINUSE,
				       "another dart-flows listens at '%s' (see --control)", path);
	if (unlink(path))
		return dart_error__system(error, errno, "cannot replace '%s'", path);
	return 0;
}

static int listen_at(struct control *control, const char *path, struct dart_error *error)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int ret;

	if (strlen(path) >= sizeof(address.sun_path))
		return dart_error__set(error, ENAMETOOLONG, "the path '%s' is too long", path);
	strcpy(address.sun_path, path);
	ret = clear(&address, error);
	if (ret)
		return ret;
	control->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (control->fd < 0 ||
	    bind(control->fd, (const struct sockaddr *)&address, sizeof(address)))
		return dart_error__system(error, errno, "cannot listen at '%s'", path);
	strcpy(control->path, path);
	if (chmod(path, 0600) || listen(control->fd, CONTROL_CLIENTS))
		return dart_error__system(error, errno, "cannot listen at '%s'", path);
	return 0;
}

int control__new(sd_event *event, const char *path, const struct control_subject *subject,
		 struct control **made, struct dart_error *error)
{
	struct control *control = calloc(1, sizeof(*control));
	int ret;

	if (!control)
		return dart_error__no_memory(error);
	control->subject = *subject;
	control->event = event;
	control->fd = -1;
	ret = listen_at(control, path, error);
	if (!ret) {
		ret = sd_event_add_io(event, &control->io, control->fd, EPOLLIN, on_arrival,
				      control);
		if (ret < 0)
			dart_error__system(error, -ret, "cannot set up the event loop");
	}
	if (ret < 0) {
		control__free(control);
		return ret;
	}
	*made = control;
	return 0;
}

void control__free(struct control *control)
{
	int i;

	if (!control)
		return;
	for (i = 0; i < CONTROL_CLIENTS; i++)
		if (control->clients[i].control)
			end_client(&control->clients[i]);
	sd_event_source_disable_unref(control->io);
	if (control->fd >= 0)
		close(control->fd);
	if (*control->path)
		unlink(control->path);
	free(control);
}
