// SPDX-License-Identifier: LGPL-2.1-or-later
/* Watches the directory of a socket, or the one that will contain it: inotify(7). */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "socket_watch_internal.h"

#define EVENTS                                                                 \
	(IN_CREATE | IN_MOVED_TO | IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF | \
	 IN_ONLYDIR)

/* Bytes: room for an event with any name. */
#define ROOM 4096

static int cannot_watch(const struct dart_socket_watch *watch, int code, struct dart_error *error)
{
	const char *remedy = "";

	if (code == EMFILE)
		remedy = " (raise fs.inotify.max_user_instances or RLIMIT_NOFILE)";
	else if (code == ENOSPC)
		remedy = " (raise fs.inotify.max_user_watches)";
	return dart_error__set(error, code, "cannot wait for %s: %s%s",
			       watch->path, strerror(code), remedy);
}

/*
 * Adds a watch of the directory whose path ends before @slash.  Returns 0, or
 * -ENOENT or -ENOTDIR if there is none.
 */
static int watch_directory(struct dart_socket_watch *watch, char *slash)
{
	int added;

	*slash = '\0';
	added = inotify_add_watch(watch->fd, slash == watch->path ? "/" : watch->path, EVENTS);
	if (added < 0)
		added = -errno;
	*slash = '/';
	if (added < 0)
		return added;
	if (watch->watch >= 0 && watch->watch != added)
		inotify_rm_watch(watch->fd, watch->watch);
	watch->watch = added;
	watch->awaited = slash + 1;
	return 0;
}

/* Is the name after @slash in the directory before it? */
static bool exists(const struct dart_socket_watch *watch, const char *slash)
{
	char *end = strchr(slash + 1, '/');
	struct stat status;
	bool is_there;

	if (!end)
		return false;
	*end = '\0';
	is_there = !stat(watch->path, &status) && S_ISDIR(status.st_mode);
	*end = '/';
	return is_there;
}

/*
 * Moves the watch to the deepest directory that exists.  A directory that was
 * created before its parent was watched is seen by the second look.
 */
static int place(struct dart_socket_watch *watch, struct dart_error *error)
{
	char *slash = strrchr(watch->path, '/');
	int ret;

	for (;;) {
		ret = watch_directory(watch, slash);
		if (!ret && !exists(watch, slash))
			return 0;
		if (!ret)
			slash = strrchr(watch->path, '/');
		else if ((ret != -ENOENT && ret != -ENOTDIR) || slash == watch->path)
			return cannot_watch(watch, -ret, error);
		else
			slash = memrchr(watch->path, '/', slash - watch->path);
	}
}

int dart_socket_watch__open(struct dart_socket_watch *watch, const char *path,
			    struct dart_error *error)
{
	int ret;

	*watch = (struct dart_socket_watch){ .fd = -1, .watch = -1 };
	if (*path != '/')
		return dart_error__set(error, EINVAL, "'%s' is not an absolute path", path);
	watch->path = strdup(path);
	if (!watch->path)
		return dart_error__no_memory(error);
	watch->fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	ret = watch->fd < 0 ? cannot_watch(watch, errno, error) : place(watch, error);
	if (ret)
		dart_socket_watch__close(watch);
	return ret;
}

void dart_socket_watch__close(struct dart_socket_watch *watch)
{
	if (watch->fd >= 0)
		close(watch->fd);
	watch->fd = -1;
	free(watch->path);
	watch->path = NULL;
}

static bool is_awaited(const struct dart_socket_watch *watch, const struct inotify_event *event)
{
	size_t length = strcspn(watch->awaited, "/");

	return event->len && strlen(event->name) == length &&
	       !memcmp(event->name, watch->awaited, length);
}

static int on_event(struct dart_socket_watch *watch,
		    const struct inotify_event *event, struct dart_error *error)
{
	bool is_lost = event->mask & IN_Q_OVERFLOW;
	int ret;

	if (event->wd == watch->watch && (event->mask & IN_IGNORED))
		watch->watch = -1;
	else if (event->wd != watch->watch && !is_lost)
		return DART_SOCKET_UNCHANGED; /* of an earlier watch */

	if (!strchr(watch->awaited, '/') && is_awaited(watch, event))
		return event->mask & IN_ATTRIB ? DART_SOCKET_CHANGED : DART_SOCKET_CREATED;
	if (!is_lost && !is_awaited(watch, event) &&
	    !(event->mask & (IN_IGNORED | IN_DELETE_SELF | IN_MOVE_SELF)))
		return DART_SOCKET_UNCHANGED;
	ret = place(watch, error);
	/* It may have been created before its directory was watched. */
	return ret ?: DART_SOCKET_CREATED;
}

int dart_socket_watch__read(struct dart_socket_watch *watch, struct dart_error *error)
{
	_Alignas(struct inotify_event) char bytes[ROOM];
	int result = DART_SOCKET_UNCHANGED, ret;
	ssize_t length, at;

	while ((length = read(watch->fd, bytes, sizeof(bytes))) > 0) {
		for (at = 0; at < length;) {
			const struct inotify_event *event = (void *)(bytes + at);

			ret = on_event(watch, event, error);
			if (ret < 0)
				return ret;
			if (ret > result)
				result = ret;
			at += sizeof(*event) + event->len;
		}
	}
	return result;
}
