/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The region: memory of the host side by side, mapped in full.  A way fills it: the module, whose
 * /dev/dart_zero it then is, or eBPF programs.
 */
#ifndef REGION_H
#define REGION_H

#include <stdbool.h>
#include <stdint.h>

#include <linux/dart_zero.h>

#include <libdart/error.h>
#include "region_way.h"
#include "selector.h"

struct region {
	const struct region_way *way;
	void *state;		/* of the way */
	int fd;			/* readable while events are pending */
	const uint8_t *memory;	/* the mapping */
	uint64_t capacity;	/* bytes */
	uint32_t cpus;		/* highest possible CPU + 1 */
	uint32_t page_size;	/* bytes */
	uint64_t changes;	/* extents added and removed so far */
	uint32_t rest_max;	/* of its records of sources, as in struct dart_zero_record; 0: 8, or
				 * as many as a second has if these are fewer
				 */
};

/* The errors of @way->open(). */
int region__open(struct region *region, const struct region_way *way, struct dart_error *error);
void region__close(struct region *region);

/* See struct region_way. */
int region__take_source(struct region *region, const struct source *source,
			struct dart_error *error);
void region__give_source(struct region *region, enum dart_zero_source source);

/* These return 0 or -errno. */
int region__info(const struct region *region, struct dart_zero_info *info);
/* If the result changes later, the region has an event. */
int region__quarantine(const struct region *region, struct dart_zero_quarantine *quarantine);

/*
 * -EEXIST: the region shows this window already.  -ENOENT, -ENODEV: the selected object no longer
 * exists.
 */
int region__add_window(struct region *region, const struct selector *selector,
		       struct dart_zero_extent *extent, struct dart_error *error);
int region__add_map(struct region *region, int map_fd, struct dart_zero_extent *extent,
		    struct dart_error *error);

/*
 * Adds the counters called @name: @count new ones, or if @count is 0, the counters that a module
 * registered.
 */
int region__add_counters(struct region *region, const char *name, uint32_t count,
			 struct dart_zero_extent *extent, struct dart_error *error);
int region__add_slab(struct region *region, uint32_t pages, struct dart_zero_extent *extent,
		     struct dart_error *error);
/* The same, with pages for records. */
int region__add_record_pages(struct region *region, uint32_t pages, struct dart_zero_extent *extent,
			     struct dart_error *error);
/*
 * Adds a record of the object that @selector selects.  @record gives the slab, the form and the
 * pieces; without pieces the call only describes a copy.  -ENOSPC: the pages have no room.
 */
int region__add_record(struct region *region, const struct selector *selector,
		       struct dart_zero_record *record, struct dart_error *error);
/*
 * Adds a record of memory of a process.  @record gives the slab, the interval, the process with its
 * locations, and the pieces.  -ENOSPC as above; -ESRCH: the process has ended.
 */
int region__add_process_record(struct region *region, struct dart_zero_record *record,
			       struct dart_error *error);
/* Lends pages; the caller closes @slice->fd. */
int region__add_slice(struct region *region, struct dart_zero_slice *slice,
		      struct dart_error *error);
/*
 * Takes over the slice whose descriptor is @fd, with its slab.  -EEXIST: the region has this slice
 * already, as @adoption->id; -EBUSY: another region has the slice or its slab.
 */
int region__adopt_slice(struct region *region, int fd, struct dart_zero_adoption *adoption,
			struct dart_error *error);
/* Removes a slice or a record.  Memory regions over the pages stay valid. */
void region__remove_part(struct region *region, uint32_t id);

/* Removes an extent.  All memory regions over it must be removed or replaced before. */
void region__remove(struct region *region, uint32_t id);

/*
 * Reads pending events into @events; returns their number or -errno.  The
 * descriptor of the region is readable while events are pending.
 */
int region__read_events(const struct region *region, struct dart_zero_event *events, uint32_t room);

/*
 * Lists the inodes of all network namespaces; the caller frees @inodes.  @is_watched: from now on
 * the region has an event when namespaces change; false stops that.
 */
int region__namespaces(const struct region *region, bool is_watched, uint32_t **inodes,
		       uint32_t *count, struct dart_error *error);

#endif /* REGION_H */
