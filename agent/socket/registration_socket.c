// SPDX-License-Identifier: GPL-2.0-only
/* Listens for clients, one dartd for each path, and makes room for new ones. */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/base/log.h"
#include "agent/base/loop_timer.h"
#include "passed.h"
#include "registration_socket.h"

#define BACKLOG 64
#define GROUP "dart"

/* After a client could not be accepted. */
#define PAUSE_MS 100

/* Disconnects one client too many, of @uid, after an error that it gets if it reads. */
static void turn_away(int fd, uid_t uid)
{
	size_t length;
	char *line = reply__line(
		reply__error(
			-EUSERS,
			"too many clients (try again later, or raise 'clients' in the limits of the configuration)"),
		&length);

	if (line)
		send(fd, line, length, MSG_DONTWAIT | MSG_NOSIGNAL);
	free(line);
	passed__close_socket(fd, uid);
}

/* Sets @uid to the user of the client of @fd; returns -errno. */
static int find_user(int fd, uid_t *uid)
{
	struct ucred peer;
	socklen_t size = sizeof(peer);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size))
		return -errno;
	*uid = peer.uid;
	return 0;
}

/* Pauses when memory is short, for example: otherwise the loop would call dartd again at once. */
static int registration_socket__pause(struct registration_socket *socket, int code)
{
	log__peer_error("cannot accept clients: %s (tried again in %d ms)",
			strerror(code), PAUSE_MS);
	sd_event_source_set_enabled(socket->events, SD_EVENT_OFF);
	return loop_timer__start(socket->resume, PAUSE_MS * 1000);
}

static int on_resume(sd_event_source *source, uint64_t time, void *userdata)
{
	struct registration_socket *socket = userdata;

	return sd_event_source_set_enabled(socket->events, SD_EVENT_ON);
}

/* Disconnects a client to make room; returns false if all have to stay. */
static bool registration_socket__evict(struct registration_socket *socket, uid_t uid)
{
	struct client *client = clients__choose_victim(&socket->clients, uid, socket->most);

	if (!client)
		return false;
	log__peer_warning(
		"a client of user %u is disconnected: as many are connected as the configuration allows (%u)",
		client->uid, socket->most);
	count__add(&socket->clients.counts->rejected, 1);
	client__free(client);
	return true;
}

/* Serves the client of @fd, if there is room for it. */
static void registration_socket__take(struct registration_socket *socket, int fd, bool has_room)
{
	sd_event *loop = sd_event_source_get_event(socket->events);
	uid_t uid = -1;
	int ret;

	if (find_user(fd, &uid)) {
		close(fd);
		return;
	}
	if (!has_room && !registration_socket__evict(socket, uid)) {
		count__add(&socket->clients.counts->rejected, 1);
		turn_away(fd, uid);
		return;
	}
	ret = client__new(&socket->clients, loop, fd);
	if (ret)
		log__peer_warning("cannot serve a client: %s", strerror(-ret));
}

/* Opens the spare descriptor again, once one is free: a thread may still close a client's. */
static void registration_socket__keep_spare(struct registration_socket *socket)
{
	if (socket->spare < 0)
		socket->spare = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

/*
 * Accepts a client when no descriptor is free: otherwise the client would wait, and the loop would
 * call dartd again at once.  Only a client of root takes the place of another client.
 */
static int registration_socket__take_spare(struct registration_socket *socket)
{
	int fd, ret = 0;
	uid_t uid = -1;

	if (socket->spare >= 0)
		close(socket->spare);
	socket->spare = -1;
	fd = accept4(socket->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (fd < 0) {
		ret = registration_socket__pause(socket, errno);
	} else if (!find_user(fd, &uid) && !uid && registration_socket__evict(socket, 0)) {
		registration_socket__take(socket, fd, true);
	} else {
		turn_away(fd, uid);
		count__add(&socket->clients.counts->rejected, 1);
		log__peer_warning("a client is turned away: too many files are open");
	}
	registration_socket__keep_spare(socket);
	return ret;
}

static int on_event(sd_event_source *source, int listening, uint32_t revents, void *userdata)
{
	struct registration_socket *socket = userdata;
	int fd;

	registration_socket__keep_spare(socket);
	fd = accept4(listening, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (fd >= 0) {
		registration_socket__take(socket, fd,
					  socket->clients.counts->connected < socket->most);
		return 0;
	}
	if (errno == EAGAIN || errno == EINTR || errno == ECONNABORTED)
		return 0;
	if (errno == EMFILE || errno == ENFILE)
		return registration_socket__take_spare(socket);
	return registration_socket__pause(socket, errno);
}

/* Creates the directory of the socket, as RuntimeDirectory= would. */
static int make_directory(const char *path, struct dart_error *error)
{
	char directory[sizeof(((struct sockaddr_un *)NULL)->sun_path)];
	char *slash;

	strcpy(directory, path);
	slash = strrchr(directory, '/');
	if (!slash || slash == directory)
		return 0;
	*slash = '\0';
	if (mkdir(directory, 0755) && errno != EEXIST)
		return dart_error__system(error, errno, "cannot create %s", directory);
	return 0;
}

static int is_running(const char *path, struct dart_error *error)
{
	return dart_error__set(error, EADDRINUSE, "another dartd is running: it listens at %s",
			       path);
}

/*
 * Several processes that start together: only one replaces the socket that a dead dartd left.  The
 * lock ends with the process; the file stays.
 */
static int registration_socket__lock(struct registration_socket *socket, struct dart_error *error)
{
	char file[sizeof(socket->address.sun_path) + sizeof(".lock")];
	int ret;

	snprintf(file, sizeof(file), "%s.lock", socket->address.sun_path);
	socket->lock = open(file, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (socket->lock < 0)
		return dart_error__system(error, errno, "cannot open %s", file);
	if (!flock(socket->lock, LOCK_EX | LOCK_NB))
		return 0;
	ret = errno == EWOULDBLOCK ? is_running(socket->address.sun_path, error) :
				     dart_error__system(error, errno, "cannot lock %s", file);
	close(socket->lock);
	return ret;
}

/* Removes a socket without a listener; -EADDRINUSE if a listener answers. */
static int registration_socket__clear(struct registration_socket *socket, struct dart_error *error)
{
	const char *path = socket->address.sun_path;
	struct stat status;

	if (lstat(path, &status)) {
		if (errno == ENOENT)
			return 0;
		return dart_error__system(error, errno, "cannot look at %s", path);
	}
	if (!S_ISSOCK(status.st_mode))
		return dart_error__set(error, EEXIST, "%s exists and is not a socket", path);
	if (!connect(socket->fd, (struct sockaddr *)&socket->address, sizeof(socket->address)) ||
	    errno == EAGAIN)
		return is_running(path, error);
	if (errno != ECONNREFUSED || unlink(path))
		return dart_error__system(error, errno, "cannot replace %s", path);
	return 0;
}

/*
 * Root, and the group if it exists.  Until then only the agent's user can connect.
 * Clients that wait for the socket by inotify(7) try again at this change.
 */
static int registration_socket__set_mode(const struct registration_socket *socket,
					 struct dart_error *error)
{
	const char *path = socket->address.sun_path;
	const struct group *group = getgrnam(GROUP);

	/* The file belongs to the group of this process already, see dartd.service. */
	if (group && group->gr_gid != getegid() && lchown(path, -1, group->gr_gid))
		return dart_error__system(error, errno, "cannot give %s to group %s", path, GROUP);
	if (chmod(path, group ? 0660 : 0600))
		return dart_error__system(error, errno, "cannot set the mode of %s", path);
	return 0;
}

static int registration_socket__open_events(struct registration_socket *socket, sd_event *loop)
{
	int ret = sd_event_add_io(loop, &socket->events, socket->fd, EPOLLIN, on_event, socket);

	if (ret >= 0)
		ret = loop_timer__add(loop, &socket->resume, CLOCK_MONOTONIC, on_resume, socket);
	return ret;
}

static void registration_socket__close_events(struct registration_socket *socket)
{
	sd_event_source_disable_unref(socket->resume);
	sd_event_source_disable_unref(socket->events);
}

int registration_socket__open(struct registration_socket *result, sd_event *loop, const char *path,
			      const struct request_table *tables, struct request_recorder *recorder,
			      struct changes *changes, struct client_counts *counts,
			      struct dart_error *error)
{
	int ret;

	*result = (struct registration_socket){
		.most = DART_REGISTRATION_CLIENTS,
		.clients = {
			.tables = tables,
			.recorder = recorder,
			.changes = changes,
			.counts = counts,
		},
	};
	TAILQ_INIT(&result->clients.list);
	result->address.sun_family = AF_UNIX;
	strcpy(result->address.sun_path, path);

	ret = make_directory(path, error) ?: registration_socket__lock(result, error);
	if (ret)
		return ret;
	result->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (result->fd < 0) {
		ret = dart_error__system(error, errno, "cannot create a socket");
		goto unlock;
	}
	result->spare = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (result->spare < 0) {
		ret = dart_error__system(error, errno, "cannot open /dev/null");
		goto close;
	}
	ret = registration_socket__clear(result, error);
	if (ret)
		goto close_spare;
	/* The file gets the mode of the descriptor, less the bits of the umask. */
	if (fchmod(result->fd, 0600) ||
	    bind(result->fd, (struct sockaddr *)&result->address, sizeof(result->address))) {
		ret = dart_error__system(error, errno, "cannot bind %s", path);
		goto close_spare;
	}

	if (listen(result->fd, BACKLOG)) {
		ret = dart_error__system(error, errno, "cannot listen at %s", path);
		goto unlink;
	}
	ret = registration_socket__set_mode(result, error);
	if (ret)
		goto unlink;
	ret = registration_socket__open_events(result, loop);
	if (ret < 0) {
		dart_error__system(error, -ret, "cannot wait for clients");
		goto close_events;
	}
	return 0;

close_events:
	registration_socket__close_events(result);
unlink:
	unlink(path);
close_spare:
	close(result->spare);
close:
	close(result->fd);
unlock:
	close(result->lock);
	return ret;
}

void registration_socket__limit(struct registration_socket *socket,
				uint32_t most, uint32_t requests_per_second)
{
	socket->most = most ?: DART_REGISTRATION_CLIENTS;
	request_rates__limit(&socket->clients.rates, requests_per_second);
}

void registration_socket__close(struct registration_socket *socket)
{
	unlink(socket->address.sun_path);
	clients__close(&socket->clients);
	registration_socket__close_events(socket);
	if (socket->spare >= 0)
		close(socket->spare);
	close(socket->fd);
	close(socket->lock);
}
