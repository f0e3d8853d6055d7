/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sleeps until files are replaced or written, or symbolic links on the way to them, or
 * sockets take clients.  The files and their directories need not exist.
 */
#ifndef PATH_WATCH_H
#define PATH_WATCH_H

#include <stddef.h>

#include <libdart/error.h>

struct path_watch {
	int inotify;
	const char *const *paths;
	size_t count;
	struct path_identity *armed; /* of each path */
};

enum path_watch_event {
	PATH_WATCH_CHANGED,	/* a file may have changed: look again */
	PATH_WATCH_READABLE,
	PATH_WATCH_TIMEOUT,
};

/* The caller owns @paths, which must outlive @watch. */
int path_watch__open(struct path_watch *watch, const char *const *paths,
		     size_t count, struct dart_error *error);
void path_watch__close(struct path_watch *watch);

/*
 * Makes changes from now on end path_watch__wait().  Arm the watch before each look at the files,
 * because directories come and go.
 */
int path_watch__arm(const struct path_watch *watch, struct dart_error *error);

/*
 * Waits for a change, for @fd to be readable unless it is -1, and for @ms at most
 * unless that is -1.
 */
enum path_watch_event path_watch__wait(const struct path_watch *watch, int fd, int ms);

#endif /* PATH_WATCH_H */
