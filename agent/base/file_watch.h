/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Watches report the removal of a directory or disk.  inotify wakes them, so nothing polls.
 * A watch checks the name before it waits and after every event, so that it
 * misses no removal, not even after an overflow of the queue.
 */
#ifndef FILE_WATCH_H
#define FILE_WATCH_H

#include <stddef.h>
#include <sys/queue.h>
#include <sys/types.h>
#include <systemd/sd-event.h>

#include <libdart/error.h>

#include "agent/base/entry_index.h"

struct file_watches {
	int fd;
	sd_event_source *events;
	struct entry_index directories;	/* by their watch descriptors */
	TAILQ_HEAD(, watched_directory) list;
};

/* Embedded in the object that depends on the file; all zeros while stopped. */
struct file_watch {
	TAILQ_ENTRY(file_watch) link;
	void (*gone)(struct file_watch *watch);
	struct watched_directory *directory;	/* the parent; NULL: not watched */
	int fd;		/* O_PATH: the parent directory */
	char *name;	/* in the parent directory */
	ino_t inode;
};

/* The object of @type whose member "watch" is @owned. */
#define file_watch__owner(owned, type) \
	((type *)((char *)(owned)-offsetof(type, watch)))

int file_watches__open(struct file_watches *watches, sd_event *loop, struct dart_error *error);
/* After all watches have been stopped. */
void file_watches__close(struct file_watches *watches);

/*
 * Calls @gone, which may stop this and other watches, when the directory @fd is removed, or the
 * kernel's device file in /dev of the disk @fd.  Both are watched from their parent: a cgroup does
 * not report its own removal, and dartd may not be allowed to read the disk. -ENOENT: it was
 * removed already.
 */
int file_watch__start(struct file_watches *watches, struct file_watch *watch, int fd,
		      void (*gone)(struct file_watch *watch), struct dart_error *error);
/* Does nothing to a stopped watch. */
void file_watch__stop(struct file_watches *watches, struct file_watch *watch);

#endif /* FILE_WATCH_H */
