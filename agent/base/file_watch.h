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

#include "why.h"

struct watches {
	int fd;
	sd_event_source *events;
	TAILQ_HEAD(, watch) list;
};

/* Embedded in what wants to know; all zeros while it does not run. */
struct watch {
	TAILQ_ENTRY(watch) link;
	void (*gone)(struct watch *watch);
	int wd;
	int fd;			/* O_PATH: the file, or its directory */
	char *name;		/* in that directory, or NULL */
	ino_t inode;
};

/* The @type that a watch is the member "watch" of. */
#define watch__owner(owned, type)                                              \
	((type *)((char *)(owned) - offsetof(type, watch)))

int watches__open(struct watches *watches, sd_event *loop, struct why *why);
/* After all watches have been stopped. */
void watches__close(struct watches *watches);

/*
 * Calls @gone, which may stop this and other watches, when the file that @fd is
 * of has been removed.  A directory is watched from its parent, because a
 * cgroup does not say itself that it ends.  -ENOENT: it has been removed already.
 */
int watch__start_file(struct watches *watches, struct watch *watch, int fd,
		      void (*gone)(struct watch *watch), struct why *why);
int watch__start_directory(struct watches *watches, struct watch *watch,
			   int fd, void (*gone)(struct watch *watch),
			   struct why *why);
/* Also one that does not run. */
void watch__stop(struct watches *watches, struct watch *watch);

#endif /* FILE_WATCH_H */
