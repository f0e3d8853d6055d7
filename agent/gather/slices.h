/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Memory that dartd lends to processes of the host, which write it: a memfd for each, so that a
 * process reaches only its own pages.  dartd keeps a second descriptor.  A slice is gone
 * when no other process keeps the memfd open or mapped: inotify(7) reports each close, after which
 * a lease (fcntl(2)) tells.  The kernel reports a close a moment before it is complete, so that
 * dartd asks several times.
 */
#ifndef SLICES_H
#define SLICES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "agent/base/entry_index.h"

/* The memfd of a slab, which dartd lends as at most one slice. */
struct slice {
	TAILQ_ENTRY(slice) link;
	TAILQ_ENTRY(slice) suspect; /* if @is_suspect */
	bool is_suspect; /* it may be gone */
	uint32_t looks; /* since the last report of a close */
	uint64_t next_ns; /* time of the next look, CLOCK_MONOTONIC */
	int memory; /* memfd */
	uint32_t watch; /* of inotify, while @is_watched */
	bool is_watched; /* lent */
	uint32_t id; /* of the lent slice, or 0 */
	uint32_t pages;
	uint64_t inode; /* of @memory */
	uint64_t offset; /* in the region, bytes */
	bool is_gone;
};

enum { SLICES_INOTIFY, SLICES_TIMER, SLICES_FILES };

/* Looks at a slice after a report. */
#define SLICES_LOOKS 5

TAILQ_HEAD(slice_list, slice);

struct slices {
	struct slice_list list;
	struct entry_index watches; /* of lent slices */
	/* By the number of looks, in the order of the next look. */
	struct slice_list suspects[SLICES_LOOKS];
	uint64_t timer_ns; /* when the timer expires; 0: it is off */
	int files[SLICES_FILES]; /* one is readable when slices may be gone */
};

int slices__open(struct slices *slices);
void slices__close(struct slices *slices);

/*
 * Maps @pages new pages, or the pages of the memfd @adopted (unless it is -1; it is duplicated), at
 * @place, instead of the memory mapped there.  -EINVAL: @adopted is not a descriptor of
 * slices__lend(); -EEXIST: *@slice already uses this memory.
 */
int slices__add(struct slices *slices, void *place, uint32_t pages, int adopted,
		struct slice **slice);
/* Sets @pages to the size of a memfd that another dartd lent.  -EINVAL: @fd is another file. */
int slices__pages(int fd, uint32_t *pages);
/* Call it after unmapping the memory. */
void slices__remove(struct slices *slices, struct slice *slice);

/*
 * Returns a descriptor for another process, or -errno; -EUSERS: inotify has no more watches.  The
 * slice is lent as @id from now on.
 */
int slices__lend(struct slices *slices, struct slice *slice, uint32_t id);
/* Takes a lent slice back: slices__next_gone() no longer reports its end. */
void slices__take_back(struct slices *slices, struct slice *slice);

/* Reads the files.  Returns the id of each slice that is gone once, then 0. */
uint32_t slices__next_gone(struct slices *slices);

#endif /* SLICES_H */
