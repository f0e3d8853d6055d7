/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DART_ZERO_EXTENT_H
#define DART_ZERO_EXTENT_H

#include <linux/mm_types.h>

#include <linux/dart_zero.h>

struct bpf_map;
struct dart_source;

/*
 * Pages that are somebody else's, put side by side.  An extent belongs to at
 * most one region, whose lock guards its place there (@info.id, @info.offset);
 * all else is constant.
 */
struct dart_extent {
	struct dart_zero_extent info;
	const struct dart_source *source;	/* of a window */
	struct bpf_map *map;			/* of a map; held */
	/*
	 * @info.pages of them, NULL where a CPU is not possible.  They are not
	 * counted here: static per-CPU memory never goes away, and the values
	 * of a map stay while the map is held.
	 */
	struct page *pages[];
};

/*
 * Both return a new extent with no place yet (@info.data is relative to the
 * first page), or ERR_PTR().  Process context; the caller has checked that it
 * may have what it asks for.
 */
struct dart_extent *dart_extent_new_window(u32 source_id);
struct dart_extent *dart_extent_new_map(int fd);
void dart_extent_free(struct dart_extent *extent);

/* Do @a and @b show the same memory? */
bool dart_extent_same(const struct dart_extent *a, const struct dart_extent *b);

#endif /* DART_ZERO_EXTENT_H */
