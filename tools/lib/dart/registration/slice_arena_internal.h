/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Arenas: memory in which the slices of a set lie side by side, so that thousands of small ones
 * take one descriptor and few READs.  An arena is ordinary memory until dartd has registered a
 * slice in it, then memory that dartd lends.
 */
#ifndef DART_SLICE_ARENA_H
#define DART_SLICE_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include <libdart/error.h>

struct dart_slice_state;

struct dart_slice_arena {
	TAILQ_ENTRY(dart_slice_arena) link;
	uint8_t *memory; /* stays where it is */
	size_t length; /* bytes, whole pages */
	int fd; /* from dartd, or -1 */
	TAILQ_HEAD(, dart_slice_state) members; /* removed ones too */
	unsigned int slices; /* that are not removed */
	uint32_t units; /* of DART_REGISTRATION_SLICE_ALIGNMENT bytes */
	uint32_t search_from; /* no unit below is free */
	uint32_t written; /* all units from here on are zero */
	uint8_t used[]; /* by unit */
};

TAILQ_HEAD(dart_slice_arenas, dart_slice_arena);

/* Finds @length zero bytes at *@offset of *@arena, in a new arena if @arenas are full. */
int dart_slice_arenas__take(struct dart_slice_arenas *arenas, size_t length,
			    struct dart_slice_arena **arena, size_t *offset,
			    struct dart_error *error);
/* Controllers do not READ them any more. */
void dart_slice_arena__give_back(struct dart_slice_arena *arena, size_t offset, size_t length);

/*
 * Takes @fd over, and maps its memory in place of the application's, with the bytes that the
 * application has written.
 */
int dart_slice_arena__lend(struct dart_slice_arena *arena, int fd, struct dart_error *error);

/* No slice uses it. */
void dart_slice_arena__free(struct dart_slice_arenas *arenas, struct dart_slice_arena *arena);

#endif /* DART_SLICE_ARENA_H */
