/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Waits for a UNIX socket to be created again, in a directory that may itself be
 * removed and created again (RuntimeDirectory= of systemd.exec(5)): watches the
 * deepest directory of its path that exists.
 */
#ifndef DART_SOCKET_WATCH_H
#define DART_SOCKET_WATCH_H

#include <libdart/error.h>

struct dart_socket_watch {
	int fd; /* readable when there are events; non-blocking */
	int watch; /* of the directory, or -1 */
	char *path; /* of the socket */
	char *awaited; /* in @path: the name that is awaited in the directory */
};

enum dart_socket_event {
	DART_SOCKET_UNCHANGED,
	DART_SOCKET_CHANGED, /* its mode: another process may listen now */
	DART_SOCKET_CREATED,
};

/* @path is absolute.  Returns 0 or -errno. */
int dart_socket_watch__open(struct dart_socket_watch *watch, const char *path,
			    struct dart_error *error);
void dart_socket_watch__close(struct dart_socket_watch *watch);

/* Reads all events; returns an enum dart_socket_event, or -errno. */
int dart_socket_watch__read(struct dart_socket_watch *watch, struct dart_error *error);

#endif /* DART_SOCKET_WATCH_H */
