// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/base/log.h"
#include "registration_socket.h"

#define BACKLOG 64
#define GROUP "dart"

/* One client too many: gets an error if it reads, and is disconnected. */
static void turn_away(int fd)
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
	close(fd);
}

/* Without a free descriptor: it would wait, and dartd would be called again. */
static void registration_socket__turn_away(struct registration_socket *socket)
{
	int fd;

	close(socket->spare);
	fd = accept4(socket->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (fd >= 0)
		turn_away(fd);
	socket->spare = open("/dev/null", O_RDONLY | O_CLOEXEC);
	count__add(&socket->clients.counts->rejected, 1);
	log__peer_warning("a client is turned away: too many files are open");
}

static int on_event(sd_event_source *source, int listening, uint32_t revents,
		    void *userdata)
{
	struct registration_socket *socket = userdata;
	int fd, ret;

	fd = accept4(listening, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (fd < 0) {
		if (errno == EAGAIN || errno == EINTR ||
		    errno == ECONNABORTED || errno == ENOBUFS ||
		    errno == ENOMEM)
			return 0;
		if (errno == EMFILE || errno == ENFILE) {
			registration_socket__turn_away(socket);
			return 0;
		}
		log__error("cannot accept clients: %s", strerror(errno));
		return sd_event_exit(sd_event_source_get_event(source),
				     EXIT_FAILURE);
	}
	if (socket->clients.counts->connected >= socket->most) {
		count__add(&socket->clients.counts->rejected, 1);
		turn_away(fd);
		return 0;
	}

	ret = client__new(&socket->clients, sd_event_source_get_event(source),
			  fd);
	if (ret)
		log__peer_warning("cannot serve a client: %s", strerror(-ret));
	return 0;
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
		return dart_error__system(error, errno, "cannot create %s",
					  directory);
	return 0;
}

/* Removes a socket without a listener; -EADDRINUSE if it has one. */
static int registration_socket__clear(struct registration_socket *socket,
				      struct dart_error *error)
{
	const char *path = socket->address.sun_path;
	struct stat status;

	if (lstat(path, &status)) {
		if (errno == ENOENT)
			return 0;
		return dart_error__system(error, errno, "cannot look at %s",
					  path);
	}
	if (!S_ISSOCK(status.st_mode))
		return dart_error__set(error, EEXIST,
				       "%s exists and is not a socket", path);
	if (!connect(socket->fd, (struct sockaddr *)&socket->address,
		     sizeof(socket->address)) ||
	    errno == EAGAIN)
		return dart_error__set(
			error, EADDRINUSE,
			"another dartd is running: it listens at %s", path);
	if (errno != ECONNREFUSED || unlink(path))
		return dart_error__system(error, errno, "cannot replace %s",
					  path);
	return 0;
}

/*
 * Root, and the group if it exists.  Until then only the agent's user can connect.
 * Clients that wait for the socket by inotify(7) try again at this change.
 */
static int
registration_socket__set_mode(const struct registration_socket *socket,
			      struct dart_error *error)
{
	const char *path = socket->address.sun_path;
	const struct group *group = getgrnam(GROUP);

	/* The file has the group of this process already, see dartd.service. */
	if (group && group->gr_gid != getegid() &&
	    lchown(path, -1, group->gr_gid))
		return dart_error__system(error, errno,
					  "cannot give %s to group %s", path,
					  GROUP);
	if (chmod(path, group ? 0660 : 0600))
		return dart_error__system(error, errno,
					  "cannot set the mode of %s", path);
	return 0;
}

int registration_socket__open(struct registration_socket *result,
			      sd_event *loop, const char *path,
			      const struct request_table *tables,
			      struct request_recorder *recorder,
			      struct changes *changes,
			      struct client_counts *counts,
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

	ret = make_directory(path, error);
	if (ret)
		return ret;
	result->fd =
		socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (result->fd < 0)
		return dart_error__system(error, errno,
					  "cannot create a socket");
	result->spare = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (result->spare < 0) {
		ret = dart_error__system(error, errno, "cannot open /dev/null");
		goto close;
	}
	ret = registration_socket__clear(result, error);
	if (ret)
		goto close_spare;
	/* The file gets this mode, without that of the umask. */
	if (fchmod(result->fd, 0600) ||
	    bind(result->fd, (struct sockaddr *)&result->address,
		 sizeof(result->address))) {
		ret = dart_error__system(error, errno, "cannot bind %s", path);
		goto close_spare;
	}

	if (listen(result->fd, BACKLOG)) {
		ret = dart_error__system(error, errno, "cannot listen at %s",
					 path);
		goto unlink;
	}
	ret = registration_socket__set_mode(result, error);
	if (ret)
		goto unlink;
	ret = sd_event_add_io(loop, &result->events, result->fd, EPOLLIN,
			      on_event, result);
	if (ret < 0) {
		dart_error__system(error, -ret, "cannot wait for clients");
		goto unlink;
	}
	return 0;

unlink:
	unlink(path);
close_spare:
	close(result->spare);
close:
	close(result->fd);
	return ret;
}

void registration_socket__limit(struct registration_socket *socket,
				uint32_t most)
{
	socket->most = most ?: DART_REGISTRATION_CLIENTS;
}

void registration_socket__close(struct registration_socket *socket)
{
	struct client *client;

	unlink(socket->address.sun_path);
	while ((client = TAILQ_FIRST(&socket->clients.list)))
		client__free(client);
	sd_event_source_unref(socket->events);
	close(socket->spare);
	close(socket->fd);
}
