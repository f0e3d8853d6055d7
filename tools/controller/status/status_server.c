// SPDX-License-Identifier: GPL-2.0-only
/* Answers on the control socket, without waiting for anybody. */
#include "status_server.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "control_socket.h"
#include "status_report.h"
#include "tools/controller/io/timers.h"
#include "tools/controller/schedule.h"

#define CLIENTS_MAX 8
/* A client that neither writes nor reads for so long is disconnected. */
#define IDLE_US 10000000ULL

struct client {
	struct status_server *server;
	sd_event_source *source; /* owns the descriptor */
	int fd;
	struct timer idle;
	char request[CONTROL_SOCKET_REQUEST_MAX];
	size_t request_length;
	struct status_report report;
	char *piece; /* NULL: none */
	size_t length, sent;
	LIST_ENTRY(client) place;
};

struct status_server {
	const struct target_context *context;
	const struct output *output;
	uint64_t started_ns;
	struct sockaddr_un address;
	sd_event_source *source; /* owns the descriptor */
	unsigned int count;
	LIST_HEAD(, client) clients;
};

static void client__free(struct client *client)
{
	LIST_REMOVE(client, place);
	client->server->count--;
	timer__stop(&client->idle);
	sd_event_source_disable_unref(client->source);
	free(client->piece);
	free(client);
}

static void on_idle(void *data)
{
	client__free(data);
}

/* Prints the next piece.  False if there is none. */
static bool client__print(struct client *client)
{
	FILE *out;

	free(client->piece);
	client->piece = NULL;
	client->sent = 0;
	out = open_memstream(&client->piece, &client->length);
	if (!out)
		return false;
	if (status_report__print(&client->report, out))
		return !fclose(out);
	fclose(out);
	return false;
}

/* One piece at most: the loop has other events. */
static void client__write(struct client *client)
{
	ssize_t sent;

	if ((!client->piece || client->sent == client->length) &&
	    !client__print(client)) {
		client__free(client);
		return;
	}
	sent = send(client->fd, client->piece + client->sent,
		    client->length - client->sent, MSG_NOSIGNAL | MSG_DONTWAIT);
	if (sent > 0) {
		client->sent += sent;
		timer__set(&client->idle, IDLE_US);
	} else if (errno != EAGAIN && errno != EINTR) {
		client__free(client);
	}
}

/* Anything but a request for the status ends the connection. */
static void client__read(struct client *client)
{
	static const char wanted[] = CONTROL_SOCKET_STATUS;
	ssize_t got;

	got = recv(client->fd, client->request + client->request_length,
		   sizeof(client->request) - client->request_length,
		   MSG_DONTWAIT);
	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (got <= 0) {
		client__free(client);
		return;
	}
	client->request_length += got;
	if (client->request_length >= sizeof(wanted) ||
	    memcmp(client->request, wanted, client->request_length)) {
		client__free(client);
		return;
	}
	if (client->request_length == sizeof(wanted) - 1)
		sd_event_source_set_io_events(client->source, EPOLLOUT);
}

static int on_client(sd_event_source *source, int fd, uint32_t events,
		     void *data)
{
	struct client *client = data;

	if (events & EPOLLOUT)
		client__write(client);
	else
		client__read(client);
	return 0;
}

static int on_connection(sd_event_source *source, int fd, uint32_t events,
			 void *data)
{
	struct status_server *server = data;
	struct client *client;
	int peer;

	peer = accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (peer < 0)
		return 0;
	client = server->count < CLIENTS_MAX ? calloc(1, sizeof(*client)) :
					       NULL;
	if (!client || sd_event_add_io(server->context->event, &client->source,
				       peer, EPOLLIN, on_client, client) < 0) {
		free(client);
		close(peer);
		return 0;
	}
	sd_event_source_set_io_fd_own(client->source, true);
	client->server = server;
	client->fd = peer;
	client->report = (struct status_report){
		.context = server->context,
		.output = server->output,
		.started_ns = server->started_ns,
	};
	timer__init(&client->idle, server->context->timers, on_idle, client);
	timer__set(&client->idle, IDLE_US);
	LIST_INSERT_HEAD(&server->clients, client, place);
	server->count++;
	return 0;
}

static int bind_to(int fd, const struct sockaddr_un *address)
{
	/* bind() takes it over for the file. */
	if (fchmod(fd, 0660))
		return -errno;
	return bind(fd, (const struct sockaddr *)address, sizeof(*address)) ?
		       -errno :
		       0;
}

/* A socket that nobody listens at was left by a controller that was killed. */
static bool is_abandoned(const struct sockaddr_un *address)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	bool refused;

	if (fd < 0)
		return false;
	refused = connect(fd, (const struct sockaddr *)address,
			  sizeof(*address)) &&
		  errno == ECONNREFUSED;
	close(fd);
	return refused;
}

/* Returns a descriptor, or -errno with a sentence in @error. */
static int listen_at(const struct sockaddr_un *address,
		     struct dart_error *error)
{
	struct stat status;
	int fd, err;

	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return dart_error__system(error, errno, "cannot open a socket");
	err = bind_to(fd, address);
	if (err == -EADDRINUSE && !lstat(address->sun_path, &status) &&
	    S_ISSOCK(status.st_mode) && is_abandoned(address) &&
	    !unlink(address->sun_path))
		err = bind_to(fd, address);
	if (!err && listen(fd, CLIENTS_MAX))
		err = -errno;
	if (!err)
		return fd;
	close(fd);
	return dart_error__system(error, -err,
				  "cannot listen at '%s' (see --socket)",
				  address->sun_path);
}

int status_server__new(const struct target_context *context,
		       const struct output *output, const char *path,
		       struct status_server **serverp, struct dart_error *error)
{
	struct status_server *server;
	struct sockaddr_un address;
	int ret, fd;

	*serverp = NULL;
	ret = control_socket__address(path, NULL, &address, error);
	if (ret <= 0)
		return ret;
	fd = listen_at(&address, error);
	if (fd < 0)
		return fd;
	server = calloc(1, sizeof(*server));
	ret = server ? sd_event_add_io(context->event, &server->source, fd,
				       EPOLLIN, on_connection, server) :
		       -ENOMEM;
	if (ret < 0) {
		free(server);
		close(fd);
		unlink(address.sun_path);
		return dart_error__system(error, -ret,
					  "cannot set up the event loop");
	}
	sd_event_source_set_io_fd_own(server->source, true);
	server->context = context;
	server->output = output;
	server->started_ns = monotonic_ns();
	server->address = address;
	LIST_INIT(&server->clients);
	*serverp = server;
	return 0;
}

void status_server__free(struct status_server *server)
{
	if (!server)
		return;
	while (!LIST_EMPTY(&server->clients))
		client__free(LIST_FIRST(&server->clients));
	unlink(server->address.sun_path);
	sd_event_source_disable_unref(server->source);
	free(server);
}
