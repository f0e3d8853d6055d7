/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Arenas: memory that a process writes: one slice of a slab, which dartd lent, or memory that the
 * process created.  The slices of clients are entries that lie in it, apart from each other: thousands of
 * them need one descriptor of their process and one READ of a controller.
 *
 * An arena lives as long as an entry in it, on lease too.  The registry has them by
 * id; the functions here concern the memory only.
 */
#ifndef ARENA_H
#define ARENA_H

#include "client_memory.h"
#include "entry.h"
#include "quota.h"
#include "slab.h"

struct finals;

struct arena {
	uint32_t id;		/* in the region */
	struct slab *slab;	/* NULL: @client has the memory */
	struct client_memory *client;
	struct exposure *exposure;	/* of @client */
	bool is_open;	/* one memory region exposes all of @client */
	struct finals *finals;	/* whose arena it is, see finals.h; or NULL */
	uint64_t data;		/* bytes from the start of the region */
	uint64_t length;	/* bytes, whole pages */
	uid_t owner;		/* of all entries in the table */
	struct quota_user *quota_user;	/* the memory is charged to, or NULL */
	struct entries_of_arena entries;
};

/* @length bytes from @offset of @arena on, which are in it. */
struct arena_place place_in(const struct arena *arena, uint64_t offset, uint32_t length);
/* For an index: places that overlap are equal, other places differ. */
int arena_place__compare(const void *place, const void *other);

/* Lends @length bytes, whole pages; the caller closes *@fd, -1 on error. */
int arena__lend(struct slabs *slabs, uint64_t length, struct arena **arena,
		int *fd, struct dart_error *error);
/* As arena__lend(), in memory that no other arena shares, and that ends with the arena. */
int arena__lend_alone(struct slabs *slabs, uint64_t length, struct arena **arena, int *fd,
		      struct dart_error *error);
/*
 * Takes over the memory @fd, which an earlier dartd lent.  -EEXIST: it is in the region already, as
 * *@id.  Other errors as of slabs__adopt().
 */
int arena__adopt(struct slabs *slabs, int fd, struct arena **arena,
		 uint32_t *id, struct dart_error *error);
/* Takes @client over, even on error.  Nobody can READ it yet. */
int arena__of_client(struct exposure *exposure, struct client_memory *client, struct arena **arena,
		     struct dart_error *error);
/* Exposes all bytes of the arena, for slices that are not exact. */
int arena__expose(struct arena *arena, struct dart_error *error);
/* Notes @line, @length bytes, about the entry for the next dartd, if that gets the memory. */
void arena__note(struct arena *arena, struct entry *entry, const char *line, size_t length);
/* The next dartd does not register this entry of an arena. */
void arena__cross_out(struct entry *entry);
/* The arena has no entry. */
void arena__free(struct arena *arena);

/* -EINVAL: a slice of @length bytes cannot lie at @offset. */
int arena__check_place(const struct arena *arena, uint64_t offset,
		       uint32_t length, struct dart_error *error);
/* True if an entry is in the table, or has left it and is not on lease yet. */
bool arena__is_listed(const struct arena *arena);

#endif /* ARENA_H */
