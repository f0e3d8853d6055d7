// SPDX-License-Identifier: GPL-2.0-only
/* Waits for changes of files by inotify(7). */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <libdart/clock.h>

#include "path_watch.h"

/* A file was replaced or written; IN_ATTRIB: the agent opened its socket. */
#define CHANGES		(IN_MOVED_TO | IN_CLOSE_WRITE | IN_ATTRIB | \
			 IN_DELETE_SELF | IN_MOVE_SELF)

/* As many as the kernel follows. */
#define LINKS_MAX	40

/* Tells which file, and which contents, a path leads to; zeros: to nothing. */
struct path_identity {
	dev_t device;
	ino_t inode;
	off_t size;
	struct timespec changed;
};

static struct path_identity identity_of(const char *path)
{
	struct stat status;

	if (stat(path, &status))
		return (struct path_identity){ };
	return (struct path_identity){
		.device = status.st_dev,
		.inode = status.st_ino,
		.size = status.st_size,
		.changed = status.st_ctim,
	};
}

int path_watch__open(struct path_watch *watch, const char *const *paths,
		     size_t count, struct dart_error *error)
{
	*watch = (struct path_watch){
		.inotify = inotify_init1(IN_CLOEXEC | IN_NONBLOCK),
		.paths = paths,
		.count = count,
	};
	if (watch->inotify < 0)
		return dart_error__system(error, errno,
					  "cannot watch files (see fs.inotify.max_user_instances)");
	watch->armed = calloc(count + 1, sizeof(*watch->armed));
	if (watch->armed)
		return 0;
	close(watch->inotify);
	return dart_error__no_memory(error);
}

void path_watch__close(struct path_watch *watch)
{
	close(watch->inotify);
	free(watch->armed);
}

/* Shortens @path to its directory: "/" or "." at last. */
static void to_directory(char path[static PATH_MAX])
{
	char *slash = strrchr(path, '/');

	if (!slash)
		strcpy(path, ".");
	else
		slash[slash == path] = '\0';
}

/*
 * Watches the directory of @path; if it does not exist, the nearest directory above it,
 * for the creation of the next.
 */
static int add(int inotify, const char *path, struct dart_error *error)
{
	char directory[PATH_MAX], missing[PATH_MAX];
	uint32_t mask;

	do {
		snprintf(directory, sizeof(directory), "%s", path);
		to_directory(directory);
		missing[0] = '\0';
		mask = CHANGES | IN_ONLYDIR | IN_MASK_ADD;
		while (inotify_add_watch(inotify, directory, mask) < 0) {
			if (errno != ENOENT || !strcmp(directory, "/") || !strcmp(directory, "."))
				return dart_error__system(error, errno, "cannot watch '%s'",
							  directory);
			strcpy(missing, directory);
			to_directory(directory);
			mask |= IN_CREATE;
		}
		/* Another process may create it in between. */
	} while (*missing && !access(missing, F_OK));
	return 0;
}

/* Follows the symbolic link @path.  False if it is no link. */
static bool read_link(const char *path, char target[static PATH_MAX])
{
	char text[PATH_MAX], directory[PATH_MAX];
	ssize_t length = readlink(path, text, sizeof(text) - 1);

	if (length <= 0)
		return false;
	text[length] = '\0';
	snprintf(directory, sizeof(directory), "%s", path);
	to_directory(directory);
	if (*text == '/')
		return snprintf(target, PATH_MAX, "%s", text) < PATH_MAX;
	return snprintf(target, PATH_MAX, "%s/%s", directory, text) < PATH_MAX;
}

/*
 * Watches the place and the destination of each symbolic link on the way to @path,
 * @left at most. Without permission for some of them it watches the rest.
 */
static void add_links(int inotify, const char *path, unsigned int *left)
{
	char prefix[PATH_MAX], target[PATH_MAX];
	const char *end = path;
	struct dart_error error;

	while (*end) {
		end += strspn(end, "/");
		end += strcspn(end, "/");
		snprintf(prefix, sizeof(prefix), "%.*s", (int)(end - path), path);
		if (!*left || !read_link(prefix, target))
			continue;
		--*left;
		add(inotify, prefix, &error);
		add(inotify, target, &error);
		add_links(inotify, target, left);
	}
}

int path_watch__arm(const struct path_watch *watch, struct dart_error *error)
{
	int ret = 0;
	size_t i;

	for (i = 0; !ret && i < watch->count; i++) {
		unsigned int links = LINKS_MAX;

		ret = add(watch->inotify, watch->paths[i], error);
		add_links(watch->inotify, watch->paths[i], &links);
		watch->armed[i] = identity_of(watch->paths[i]);
	}
	return ret;
}

/* Since it was armed: does a path lead to something else? */
static bool path_watch__differs(const struct path_watch *watch)
{
	const struct path_identity *armed;
	struct path_identity now;
	size_t i;

	for (i = 0; i < watch->count; i++) {
		armed = &watch->armed[i];
		now = identity_of(watch->paths[i]);
		if (now.device != armed->device || now.inode != armed->inode ||
		    now.size != armed->size || now.changed.tv_sec != armed->changed.tv_sec ||
		    now.changed.tv_nsec != armed->changed.tv_nsec)
			return true;
	}
	return false;
}

/* Is the event about one of the files, or about a directory above one? */
static bool path_watch__concerns(const struct path_watch *watch, const struct inotify_event *event)
{
	const char *slash;
	size_t i;

	if (!event->len || event->mask & IN_ISDIR)
		return true;
	for (i = 0; i < watch->count; i++) {
		slash = strrchr(watch->paths[i], '/');
		if (!strcmp(event->name, slash ? slash + 1 : watch->paths[i]))
			return true;
	}
	return false;
}

static bool path_watch__has_changed(const struct path_watch *watch)
{
	union {
		struct inotify_event event;
		char bytes[4096];
	} events;
	const struct inotify_event *event;
	bool has_changed = false, has_others = false;
	ssize_t length, at;

	while ((length = read(watch->inotify, &events, sizeof(events))) > 0) {
		for (at = 0; at < length; at += sizeof(*event) + event->len) {
			event = (const void *)(events.bytes + at);
			if (path_watch__concerns(watch, event))
				has_changed = true;
			else
				has_others = true;
		}
	}
	/* A link with another name, perhaps. */
	return has_changed || (has_others && path_watch__differs(watch));
}

enum path_watch_event path_watch__wait(const struct path_watch *watch, int fd, int ms)
{
	struct pollfd files[] = {
		{ .fd = watch->inotify, .events = POLLIN },
		{ .fd = fd, .events = POLLIN },
	};
	const int64_t end = dart_clock__ms(CLOCK_MONOTONIC) + ms;
	int64_t left;

	for (;;) {
		left = end - dart_clock__ms(CLOCK_MONOTONIC);
		if (ms < 0)
			left = -1;
		else if (left < 0)
			left = 0;
		if (!poll(files, 2, left))
			return PATH_WATCH_TIMEOUT;
		if (files[0].revents && path_watch__has_changed(watch))
			return PATH_WATCH_CHANGED;
		if (files[1].revents)
			return PATH_WATCH_READABLE;
	}
}
