/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Memory that dartd lends to processes of the host, which write it: a memfd for each, so that a
 * process reaches only its own pages.  dartd keeps a second descriptor.  A slice is gone
 * when no other process keeps the memfd open or mapped: inotify(7) and leases (fcntl(2)) tell.
 */
#ifndef SLICES_H
#define SLICES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

/* The memfd of a slab, which dartd lends as at most one slice. */
struct slice {
	TAILQ_ENTRY(slice) link;
	int memory; /* memfd */
	int watch; /* of inotify, or -1: not lent */
	uint32_t id; /* of the lent slice, or 0 */
	uint32_t pages;
	uint64_t inode; /* of @memory */
	uint64_t offset; /* in the region, bytes */
	bool is_gone;
};

struct slices {
	TAILQ_HEAD(, slice) list;
	int inotify; /* readable when slices may be gone */
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

/* Returns a descriptor for another process, or -errno.  The slice is lent as @id from now on. */
int slices__lend(struct slices *slices, struct slice *slice, uint32_t id);
/* Takes a lent slice back: slices__next_gone() no longer reports its end. */
void slices__take_back(struct slices *slices, struct slice *slice);

/* Reads the inotify descriptor.  Returns the id of each slice that is gone once, then 0. */
uint32_t slices__next_gone(struct slices *slices);

#endif /* SLICES_H */
