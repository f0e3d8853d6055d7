// SPDX-License-Identifier: GPL-2.0-only
/* Serves the control socket, without waiting for any client. */
#include "status_server.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "status_report.h"
#include "tools/controller/base/schedule.h"
#include "tools/controller/base/timers.h"

int control_socket__address(const char *path, const char *otherwise, struct sockaddr_un *address,
			    struct dart_error *error)
{
	const char *directory = getenv("RUNTIME_DIRECTORY");
	int length;

	if (!directory || !*directory)
		directory = otherwise;
	if (!path && !directory)
		return 0;
	*address = (struct sockaddr_un){ .sun_family = AF_UNIX };
	if (path)
		length = snprintf(address->sun_path, sizeof(address->sun_path), "%s", path);
	else
		length = snprintf(address->sun_path, sizeof(address->sun_path), "%.*s/control.sock",
				  (int)strcspn(directory, ":"), directory);
	if (length && length < (int)sizeof(address->sun_path))
		return 1;
	return dart_error__set(
		error, EINVAL,
		"'%.200s' is not the path of a socket (expected 1 to %zu characters)",
		path ?: directory, sizeof(address->sun_path) - 1);
}

#define CLIENTS_MAX 8
/* A client that neither writes nor reads for so long is disconnected. */
#define IDLE_US 10000000ULL
/* Without free descriptors the server pauses for so long, because the listener stays readable. */
#define PAUSE_US 1000000ULL

struct client {
	struct status_server *server;
	sd_event_source *source; /* owns the descriptor */
	int fd;
	struct timer idle;
	char request[CONTROL_SOCKET_REQUEST_MAX];
	size_t request_length;
	struct status_report report;
	char *piece; /* the piece being sent; NULL before the first */
	size_t length, sent;
	LIST_ENTRY(client) place;
};

struct status_server {
	struct target_context *context;
	const struct output *output;
	uint64_t started_ns;
	struct sockaddr_un address;
	int lock; /* locks the path of the socket while the server exists */
	sd_event_source *source; /* owns the descriptor */
	struct timer resume;
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

/* Prints the next piece.  Returns false after the last one. */
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

/* Sends at most one piece, so that the loop can handle other events. */
static void client__write(struct client *client)
{
	ssize_t sent;

	if ((!client->piece || client->sent == client->length) && !client__print(client)) {
		client__free(client);
		return;
	}
	sent = send(client->fd, client->piece + client->sent, client->length - client->sent,
		    MSG_NOSIGNAL | MSG_DONTWAIT);
	if (sent > 0) {
		client->sent += sent;
		timer__set(&client->idle, IDLE_US);
	} else if (errno != EAGAIN && errno != EINTR) {
		client__free(client);
	}
}

static bool client__may_ask(const struct client *client, const char *wanted)
{
	return client->request_length <= strlen(wanted) &&
	       !memcmp(client->request, wanted, client->request_length);
}

/* Ends the connection unless the client asks for the status, or for the shard. */
static void client__read(struct client *client)
{
	const char *wanted = CONTROL_SOCKET_STATUS;
	ssize_t got;

	got = recv(client->fd, client->request + client->request_length,
		   sizeof(client->request) - client->request_length, MSG_DONTWAIT);
	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (got <= 0) {
		client__free(client);
		return;
	}
	client->request_length += got;
	if (!client__may_ask(client, wanted))
		wanted = CONTROL_SOCKET_SHARD;
	/* Both begin with an s. */
	if (!client__may_ask(client, wanted)) {
		client__free(client);
		return;
	}
	client->report.is_of_shard = *wanted == CONTROL_SOCKET_SHARD[0] &&
				     !strcmp(wanted, CONTROL_SOCKET_SHARD);
	if (client->request_length == strlen(wanted))
		sd_event_source_set_io_events(client->source, EPOLLOUT);
}

static int on_client(sd_event_source *source, int fd, uint32_t events, void *data)
{
	struct client *client = data;

	if (events & EPOLLOUT)
		client__write(client);
	else
		client__read(client);
	return 0;
}

static void on_resume(void *data)
{
	struct status_server *server = data;

	sd_event_source_set_enabled(server->source, SD_EVENT_ON);
}

static int on_connection(sd_event_source *source, int fd, uint32_t events, void *data)
{
	struct status_server *server = data;
	struct client *client;
	int peer;

	peer = accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (peer < 0) {
		if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED) {
			sd_event_source_set_enabled(source, SD_EVENT_OFF);
			timer__set(&server->resume, PAUSE_US);
		}
		return 0;
	}
	client = server->count < CLIENTS_MAX ? calloc(1, sizeof(*client)) : NULL;
	if (!client || sd_event_add_io(server->context->event, &client->source, peer, EPOLLIN,
				       on_client, client) < 0) {
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
	int err = 0;

	/* bind() gives the mode of the descriptor to the file, less the bits of the umask. */
	if (fchmod(fd, 0660) || bind(fd, (const struct sockaddr *)address, sizeof(*address)))
		return -errno;
	if (chmod(address->sun_path, 0660) || listen(fd, CLIENTS_MAX)) {
		err = -errno;
		unlink(address->sun_path);
	}
	return err;
}

/* A socket without a listener was left by a controller that was killed. */
static bool is_abandoned(const struct sockaddr_un *address)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	bool refused;

	if (fd < 0)
		return false;
	refused = connect(fd, (const struct sockaddr *)address, sizeof(*address)) &&
		  errno == ECONNREFUSED;
	close(fd);
	return refused;
}

static int refuse(const struct sockaddr_un *address, int code, struct dart_error *error)
{
	return dart_error__system(error, code, "cannot listen at '%s' (see --socket)",
				  address->sun_path);
}

/*
 * Lets only one of several controllers take over or remove the socket of a dead one.  The lock ends
 * with the process; its file stays.  Returns a descriptor, or -errno with a sentence in @error.
 */
static int lock(const struct sockaddr_un *address, struct dart_error *error)
{
	char file[sizeof(address->sun_path) + sizeof(".lock")];
	int fd, ret;

	snprintf(file, sizeof(file), "%s.lock", address->sun_path);
	fd = open(file, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return dart_error__system(error, errno, "cannot open '%s'", file);
	if (!flock(fd, LOCK_EX | LOCK_NB))
		return fd;
	ret = errno == EWOULDBLOCK ? refuse(address, EADDRINUSE, error) :
				     dart_error__system(error, errno, "cannot lock '%s'", file);
	close(fd);
	return ret;
}

/* Returns a descriptor, or -errno with a sentence in @error. */
static int listen_at(const struct sockaddr_un *address, struct dart_error *error)
{
	struct stat status;
	int fd, err;

	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return dart_error__system(error, errno, "cannot open a socket");
	err = bind_to(fd, address);
	if (err == -EADDRINUSE && !lstat(address->sun_path, &status) && S_ISSOCK(status.st_mode) &&
	    is_abandoned(address) && !unlink(address->sun_path))
		err = bind_to(fd, address);
	if (!err)
		return fd;
	close(fd);
	return refuse(address, -err, error);
}

/* Afterwards the server owns both descriptors, or they are closed. */
static int status_server__open(struct status_server *server, struct dart_error *error)
{
	int fd, ret;

	server->lock = lock(&server->address, error);
	if (server->lock < 0)
		return server->lock;
	fd = listen_at(&server->address, error);
	if (fd < 0) {
		close(server->lock);
		return fd;
	}
	ret = sd_event_add_io(server->context->event, &server->source, fd, EPOLLIN, on_connection,
			      server);
	if (ret < 0) {
		unlink(server->address.sun_path);
		close(fd);
		close(server->lock);
		return dart_error__system(error, -ret, "cannot set up the event loop");
	}
	sd_event_source_set_io_fd_own(server->source, true);
	return 0;
}

int status_server__new(struct target_context *context, const struct output *output,
		       const char *path, struct status_server **serverp, struct dart_error *error)
{
	struct status_server *server;
	struct sockaddr_un address;
	int ret;

	*serverp = NULL;
	ret = control_socket__address(path, NULL, &address, error);
	if (ret <= 0)
		return ret;
	server = calloc(1, sizeof(*server));
	if (!server)
		return dart_error__no_memory(error);
	server->context = context;
	server->output = output;
	server->started_ns = monotonic_ns();
	server->address = address;
	LIST_INIT(&server->clients);
	timer__init(&server->resume, context->timers, on_resume, server);
	ret = status_server__open(server, error);
	if (ret)
		free(server);
	else
		*serverp = server;
	return ret;
}

void status_server__free(struct status_server *server)
{
	if (!server)
		return;
	while (!LIST_EMPTY(&server->clients))
		client__free(LIST_FIRST(&server->clients));
	timer__stop(&server->resume);
	unlink(server->address.sun_path);
	sd_event_source_disable_unref(server->source);
	close(server->lock);
	free(server);
}
