// SPDX-License-Identifier: GPL-2.0-only
/* Receives the requests of a client and sends the replies. */
#include <errno.h>
#include <jansson.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <libdart/clock.h>
#include <libdart/registration/descriptor.h>

#include "agent/base/log.h"
#include "client.h"
#include "dispatch.h"
#include "passed.h"

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void client__free(struct client *client)
{
	TAILQ_REMOVE(&client->clients->list, client, link);
	count__add(&client->clients->counts->connected, -1);
	if (client->is_monitor)
		changes__unsubscribe(client->clients->changes, &client->subscriber);
	sd_event_source_disable_unref(client->events);
	sd_event_source_disable_unref(client->again);
	passed__close(client->passed_fd, client->uid);
	close_fd(&client->reply_fd);
	passed__close_socket(client->fd, client->uid);
	free(client->output);
	free(client);
}

/* Writes some of the reply, with the descriptor that goes with it. */
static ssize_t client__send_some(struct client *client)
{
	ssize_t sent;

	sent = dart_descriptor__send(client->fd, client->output + client->output_sent,
				     client->output_length - client->output_sent, MSG_DONTWAIT,
				     client->reply_fd);
	if (sent > 0)
		close_fd(&client->reply_fd);
	return sent;
}

/* Writes as much of the output as the peer takes; -errno if it disconnected. */
static int client__send(struct client *client)
{
	uint32_t events = EPOLLOUT;
	ssize_t sent = 0;
	int ret;

	while (client->output_sent < client->output_length) {
		sent = client__send_some(client);
		if (sent < 0)
			break;
		client->output_sent += sent;
	}
	if (sent < 0 && sent != -EAGAIN)
		return sent;
	if (sent >= 0) {
		free(client->output);
		client->output = NULL;
		/* The end of a monitor is an EPOLLHUP, which needs no bit. */
		events = client->is_monitor ? 0 : EPOLLIN;
	}
	ret = sd_event_source_set_io_events(client->events, events);
	/* After the loop has ended, monitors still get the last changes. */
	return ret == -ESTALE ? 0 : ret;
}

static size_t client__waiting(const struct client *client)
{
	return client->output ? client->output_length - client->output_sent : 0;
}

static int client__append(struct client *client, const char *line, size_t length)
{
	size_t waiting = client__waiting(client);
	char *output;
	int ret;

	/* One batch may be longer than the queue: the peer reads meanwhile. */
	if (waiting + length > DART_REGISTRATION_MONITOR_QUEUE) {
		ret = client__send(client);
		if (ret < 0)
			return ret;
		waiting = client__waiting(client);
		if (waiting + length > DART_REGISTRATION_MONITOR_QUEUE)
			return -ENOBUFS;
	}
	if (waiting)
		memmove(client->output, client->output + client->output_sent, waiting);
	output = realloc(client->output, waiting + length);
	if (!output)
		return -ENOMEM;
	memcpy(output + waiting, line, length);
	client->output = output;
	client->output_sent = 0;
	client->output_length = waiting + length;
	return waiting ? 0 : client__send(client);
}

static void on_change(struct change_subscriber *subscriber, const char *line, size_t length)
{
	struct client *client =
		(struct client *)((char *)subscriber - offsetof(struct client, subscriber));
	int ret = client__append(client, line, length);

	if (ret >= 0)
		return;
	if (ret != -EPIPE)
		log__peer_warning("a monitor is disconnected: %s",
				  ret == -ENOBUFS ? "it reads too slowly" : strerror(-ret));
	client__free(client);
}

static int monitor(struct request *request)
{
	request->is_monitor = true;
	request->result = json_true();
	return 0;
}

const struct request_type client_requests[] = {
	{ "monitor", "monitor", monitor, .member = "" },
	{ }
};

static int on_again(sd_event_source *source, uint64_t time, void *userdata);

static int client__handle_request(struct client *client)
{
	struct request request = {
		.fd = client->passed_fd,
		.has_extra_fd = client->has_extra_fd,
		.uid = client->uid,
		.reply_fd = &client->reply_fd,
		.slice = &client->slice,
	};
	const int64_t start = dart_clock__ns(CLOCK_MONOTONIC);
	json_t *reply;

	reply = dispatch(client->clients->tables, client->clients->recorder, &request,
			 client->is_too_long ? NULL : client->request, client->request_length - 1);
	if (!request.is_free)
		request_rates__spend(&client->clients->rates, client->uid,
				     dart_clock__ns(CLOCK_MONOTONIC) - start);
	if ((request.is_early || request.is_under_way) &&
	    client__may_wait_for(client, request.is_under_way)) {
		json_decref(reply);
		return client__wait_for(client, on_again);
	}
	if (request.has_short_reply)
		client->output = reply__short(&client->output_length);
	else if (request.answer.length)
		client->output = reply_text__end(&request.answer, &client->output_length);
	else
		client->output = reply__line(reply, &client->output_length);
	client->output_sent = 0;
	client->active = dart_clock__ns(CLOCK_BOOTTIME);
	count__add(&client->clients->counts->requests, 1);
	count__add(&client->clients->counts->refused_requests, request.is_refused);
	passed__close(client->passed_fd, client->uid);
	client->passed_fd = -1;
	client->has_extra_fd = false;
	client->is_too_long = false;
	client->request_length = 0;
	client->arrived = 0;
	if (request.is_monitor) {
		client->is_monitor = true;
		client->subscriber.receive = on_change;
		changes__subscribe(client->clients->changes, &client->subscriber);
	}
	return client->output ? client__send(client) : -ENOMEM;
}

static int on_again(sd_event_source *source, uint64_t time, void *userdata)
{
	struct client *client = userdata;
	int ret;

	ret = sd_event_source_set_enabled(client->events, SD_EVENT_ON);
	if (ret >= 0)
		ret = client__handle_request(client);
	if (ret < 0)
		client__free(client);
	return 0;
}

/* Takes @length bytes at most, with the file descriptor that came with them. */
static ssize_t client__take(struct client *client, size_t length, bool is_first)
{
	bool has_more;
	ssize_t taken;
	int fd;

	taken = passed__receive(client->fd, client->request + client->request_length, length, &fd,
				&has_more, client->uid);
	if (taken > 0 && has_more)
		client->has_extra_fd = true;
	if (fd >= 0 && is_first && client->passed_fd < 0) {
		client->passed_fd = fd;
	} else if (fd >= 0) {
		client->has_extra_fd = true;
		passed__close(fd, client->uid);
	}
	return taken;
}

/* Looks at the bytes that have arrived; returns how many belong to this request, 0 at the end. */
static ssize_t client__peek(const struct client *client, char *bytes, size_t room)
{
	const ssize_t length = recv(client->fd, bytes, room, MSG_PEEK | MSG_DONTWAIT);
	const char *end = length > 0 ? memchr(bytes, '\n', length) : NULL;

	if (length < 0)
		return -errno;
	return end ? end + 1 - bytes : length;
}

/*
 * Takes the first @length bytes of a request.  The first one comes alone, to know with which byte
 * of which request a file descriptor arrived, unless none may come with this request.
 */
static ssize_t client__take_first(struct client *client, size_t length)
{
	ssize_t first, rest;

	if (*client->request == DART_REGISTRATION_SHORT)
		return client__take(client, length, true);
	first = client__take(client, 1, true);
	if (first < 1 || length == 1)
		return first;
	client->request_length = 1;
	rest = client__take(client, length - 1, false);
	client->request_length = 0;
	/* An error comes again. */
	return rest > 0 ? first + rest : first;
}

/*
 * Receives up to the end of a request and no further.  Returns 1 if the request is complete, 0 to
 * call again, -EAGAIN if the rest has not arrived, -EPIPE if the peer has closed, or another
 * -errno.
 */
static int client__receive_some(struct client *client)
{
	const bool is_first = !client->request_length && !client->is_too_long;
	char *bytes = client->request + client->request_length;
	ssize_t length =
		client__peek(client, bytes, sizeof(client->request) - client->request_length);

	if (length > 0)
		length = is_first ? client__take_first(client, length) :
				    client__take(client, length, false);
	if (length < 0)
		return length == -EINTR ? 0 : length;
	if (!length)
		return -EPIPE;

	client->request_length += length;
	if (bytes[length - 1] == '\n')
		return 1;
	if (client->request_length == sizeof(client->request)) {
		client->is_too_long = true;
		client->request_length = 0;
	}
	return 0;
}

/* Returns 1 if the request is complete, 0 if not yet, -errno. */
static int client__receive(struct client *client)
{
	int ret;

	/* A client whose request never ends takes turns with the others. */
	do {
		ret = client__receive_some(client);
	} while (!ret && !client->is_too_long);
	return ret == -EAGAIN ? 0 : ret;
}

/* Returns 0, or -errno to disconnect it. */
static int client__serve(struct client *client)
{
	struct request_rates *rates = &client->clients->rates;
	int64_t now = dart_clock__ns(CLOCK_BOOTTIME);
	int ret;

	if (!clients__allow(client->clients, client->uid, now))
		return client__wait(client);
	ret = client__receive(client);
	/* A request without an end counts as several. */
	if (ret > 0 || client->is_too_long)
		request_rates__count(rates, client->uid, now);
	return ret > 0 ? client__handle_request(client) : ret;
}

static int on_event(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
	struct client *client = userdata;
	int ret;

	if (client->output)
		ret = client__send(client);
	else if (client->is_monitor)
		ret = -EPIPE;
	else
		ret = client__serve(client);
	if (ret < 0)
		client__free(client);
	return 0;
}

int client__new(struct clients *clients, sd_event *loop, int fd)
{
	struct client *client;
	struct ucred peer;
	socklen_t size = sizeof(peer);
	int ret;

	client = calloc(1, sizeof(*client));
	if (!client) {
		passed__close_socket(fd, 0);
		return -ENOMEM;
	}
	client->fd = fd;
	client->passed_fd = -1;
	client->reply_fd = -1;
	client->clients = clients;
	TAILQ_INSERT_TAIL(&clients->list, client, link);
	count__add(&clients->counts->connected, 1);
	count__add(&clients->counts->total, 1);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size)) {
		ret = -errno;
		goto free_client;
	}
	client->uid = peer.uid;
	client->active = dart_clock__ns(CLOCK_BOOTTIME);

	ret = sd_event_add_io(loop, &client->events, fd, EPOLLIN, on_event, client);
	if (ret < 0)
		goto free_client;
	return 0;

free_client:
	client__free(client);
	return ret;
}

static uint32_t clients__count(const struct clients *clients, uid_t uid)
{
	const struct client *client;
	uint32_t count = 0;

	TAILQ_FOREACH(client, &clients->list, link)
		count += client->uid == uid;
	return count;
}

struct client *clients__choose_victim(const struct clients *clients, uid_t uid, uint32_t most)
{
	struct client *client, *chosen = NULL;
	uint32_t count, highest = 0;

	TAILQ_FOREACH(client, &clients->list, link) {
		count = client->uid ? clients__count(clients, client->uid) : 0;
		if (!client->uid && (uid || client->is_monitor))
			continue;
		if (client->is_monitor && uid && count <= most / 2)
			continue;
		if (chosen &&
		    (count < highest || (count == highest && client->active >= chosen->active)))
			continue;
		chosen = client;
		highest = count;
	}
	return chosen;
}

void clients__close(struct clients *clients)
{
	struct client *client;

	while ((client = TAILQ_FIRST(&clients->list)))
		client__free(client);
	sd_event_source_disable_unref(clients->resume);
	request_rates__close(&clients->rates);
}
