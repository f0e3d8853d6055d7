/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Mirrors: memory that controllers offer, and that follows the table by WRITEs, see
 * <dart/control.h>.  The owner of the table tells when it changed; the connections, each of
 * which may have one mirror, WRITE.
 */
#ifndef MIRROR_H
#define MIRROR_H

#include <stddef.h>
#include <stdint.h>

#include <libdart/error.h>
#include <libdart/table/table_writer.h>

#include "table_watch.h"

/* A mirror, as its controller offers it. */
struct mirror_place {
	uint64_t address;
	uint32_t rkey;
	uint32_t length; /* bytes, a multiple of DART_CONTROL_BLOCK; 0: no mirror */
};

/* Embedded in the connection of a controller. */
struct mirror {
	struct table_watcher watcher;
	const struct mirrors *mirrors; /* NULL: did not join */
	struct mirror_place place;
	uint64_t generation; /* that the last update carried, or that was there at the accept */
};

struct mirrors {
	/* The mirrors, and others that wait for a change of the table. */
	struct table_watchers watchers;
	/* The table: */
	const struct dart_table_writer *writer;
	/* Where its memory is for the device of all members: */
	uint64_t address;
	uint32_t lkey;
	uint32_t used; /* bytes of the table */
	uint64_t generation;
};

/*
 * Finds the mirror in the private data of a connect request of a controller, 56 hostile bytes.
 * Returns 0, also without a mirror, whose length is then 0, or -EPROTO with a sentence.
 */
int mirror_place__find(const void *data, struct mirror_place *place, struct dart_error *error);

/* Of the table that @writer writes; before a member joins, the owner sets address and key. */
void mirrors__open(struct mirrors *mirrors, const struct dart_table_writer *writer);
/* From now on @changed is called after each change, with the watcher of @mirror. */
void mirrors__join(struct mirrors *mirrors, struct mirror *mirror, const struct mirror_place *place,
		   void (*changed)(struct table_watcher *watcher));
/* Does nothing for a mirror that did not join. */
void mirrors__leave(struct mirror *mirror);
/* The table has @used bytes in @generation: tells the watchers. */
void mirrors__publish(struct mirrors *mirrors, uint64_t generation, uint32_t used);

#endif /* MIRROR_H */
