/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Extents of a region without the module: slabs with one slice each, pages of records, and maps.
 * The functions take the arguments of the requests in <linux/dart_zero.h>, and return 0 or -errno
 * as documented there.
 */
#ifndef GATHER_EXTENTS_H
#define GATHER_EXTENTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include <libdart/error.h>
#include <linux/dart_zero.h>

#include "record_pages.h"
#include "slices.h"

/* Bytes of addresses, like the default of the module's region. */
#define EXTENTS_CAPACITY (4096UL << 20)

struct extent {
	TAILQ_ENTRY(extent) link; /* in the order of @info.offset */
	struct dart_zero_extent info;
	struct record_pages pages; /* of DART_ZERO_EXTENT_RECORDS */
	struct slice *slice; /* of DART_ZERO_EXTENT_SLAB */
};

struct extents {
	TAILQ_HEAD(extents_list, extent) list;
	struct entry_index ids;
	struct slices slices;
	uint8_t *memory; /* EXTENTS_CAPACITY bytes */
	uint32_t page_size;
	uint32_t count;
	uint32_t last_id;
	bool needs_writable; /* maps, too, are mapped for writing */
};

int extents__open(struct extents *extents, struct dart_error *error);
/* Removes all extents.  Nobody may use their memory any more. */
void extents__close(struct extents *extents);

/* Returns an id that no extent, slice or record used before. */
uint32_t extents__new_id(struct extents *extents);
/* Sets the members of @info about extents. */
void extents__info(const struct extents *extents, struct dart_zero_info *info);

int extents__add_slab(struct extents *extents, struct dart_zero_slab *slab);
int extents__add_slice(struct extents *extents, struct dart_zero_slice *slice);
int extents__adopt_slice(struct extents *extents, struct dart_zero_adoption *adoption);
int extents__add_map(struct extents *extents, struct dart_zero_map *request);

/* Returns NULL if no extent has this id. */
struct extent *extents__find(const struct extents *extents, uint32_t id);
/* The memory of the extent reads as 0 from then on. */
void extents__remove(struct extents *extents, struct extent *extent);

#endif /* GATHER_EXTENTS_H */
