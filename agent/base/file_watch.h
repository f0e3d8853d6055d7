/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Watches: tell when a file is removed.
 *
 * By inotify, so that nothing runs while nothing happens.  A watch looks at the
 * file before it begins to wait and whenever something was said, so it misses
 * nothing, also when the kernel could not keep up.
 */
#ifndef FILE_WATCH_H
#define FILE_WATCH_H

#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/types.h>
#include <systemd/sd-event.h>

#include <libdart/error.h>

struct file_watches {
	int fd;
	sd_event_source *events;
	TAILQ_HEAD(, file_watch) list;
};

/* Embedded in what wants to know; all zeros while it does not run. */
struct file_watch {
	TAILQ_ENTRY(file_watch) link;
	void (*gone)(struct file_watch *watch);
	int wd;
	int fd;			/* O_PATH: the file, or its directory */
	char *name;		/* in that directory, or NULL */
	ino_t inode;
};

/* The @type that a watch is the member "watch" of. */
#define file_watch__owner(owned, type) \
	((type *)((char *)(owned)-offsetof(type, watch)))

int file_watches__open(struct file_watches *watches, sd_event *loop,
		       struct dart_error *error);
/* After all watches have been stopped. */
void file_watches__close(struct file_watches *watches);

/*
 * Calls @gone, which may stop this and other watches, when the file or directory
 * behind @fd has been removed.  A directory is watched from its parent, because
 * a cgroup does not report its own removal.  -ENOENT: it was removed already.
 */
int file_watch__start(struct file_watches *watches, struct file_watch *watch,
		      int fd, void (*gone)(struct file_watch *watch),
		      struct dart_error *error);
/* Also one that does not run. */
void file_watch__stop(struct file_watches *watches, struct file_watch *watch);

#endif /* FILE_WATCH_H */
