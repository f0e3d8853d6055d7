/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Memory of dartd in which the final bytes of ended slices lie side by side: one READ of some KiB
 * fetches hundreds of them, which lay in a page each, or in a memory region each.  It is an arena
 * that dartd lends itself, and the slices in it are entries that linger.  The bytes of an entry are
 * free for another one after its lease, as those of each other slice.
 */
#ifndef FINALS_H
#define FINALS_H

#include "arena.h"

/* A slice begins at a multiple of this, and a longer one stays where it is. */
#define FINALS_UNIT 64
#define FINALS_SLICE_MAX 1024
/* Whole pages of any size. */
#define FINALS_BYTES (256U << 10)

struct finals {
	struct arena *arena; /* NULL without a slice in it */
	uint8_t *bytes; /* the same memory, to be written */
	uint8_t used[FINALS_BYTES / FINALS_UNIT];
};

/*
 * Finds the first @length free bytes, and borrows the arena before the first use.  Returns 0;
 * -ENOSPC if too few bytes are free; or another -errno; both with a sentence in @error.
 */
int finals__take(struct finals *finals, struct slabs *slabs, uint32_t length,
		 struct arena_place *place, struct dart_error *error);
/* Copies @length bytes from @data to @offset in the bytes at @place. */
void finals__write(struct finals *finals, const struct arena_place *place, uint32_t offset,
		   const void *data, uint32_t length);
/* Nobody READs the bytes any more, and no entry has them; the arena ends with the last ones. */
void finals__give_back(struct finals *finals, const struct arena_place *place);
#endif /* FINALS_H */
