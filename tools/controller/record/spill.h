/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Points of many groups of series, brought together by group: they come in the order of time
 * and are wanted group by group.  There are more than memory has: each time the buffer is
 * full its points are sorted by the order of their groups and written to a temporary file, a
 * *run*.  In the end all runs are read side by side.
 *
 * Groups may appear as time goes on, but their order among each other must not change, so
 * that all runs have the same order.  In one thread at a time.
 */
#ifndef CONTROLLER_RECORD_SPILL_H
#define CONTROLLER_RECORD_SPILL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <libdart/error.h>

struct spill;

struct spilled {
	uint32_t group;
	uint32_t member; /* of the group: the user's */
	int64_t time_ns;
	double value;
};

/* Memory for points before they are written; a run also takes 16 KiB when it is read. */
#define SPILL_BYTES (96U << 20)

/*
 * A file in @directory that has no name any more and takes no room yet.  @bytes of memory:
 * SPILL_BYTES, or fewer in a test.  Returns 0, or -errno with a sentence in @error.
 */
int spill__open(const char *directory, size_t bytes, struct spill **spill,
		struct dart_error *error);
/* NULL is allowed. */
void spill__close(struct spill *spill);

/* False if the buffer is full: spill__flush() is due first. */
bool spill__add(struct spill *spill, const struct spilled *point);
/*
 * Writes a run.  @ranks[group] is the place of a group among all, below @count.  Returns 0, or
 * -errno of write(2) or -ENOMEM.
 */
int spill__flush(struct spill *spill, const uint32_t *ranks, uint32_t count);

/* After the last flush: begins with the first group.  Returns 0 or -ENOMEM. */
int spill__rewind(struct spill *spill);
/*
 * Passes the points of @group to @take, in the order in which they were added, until that
 * returns another number than 0.  Groups are asked for in their order, none is left out.
 * Returns 0, -errno of read(2), or that number.
 */
int spill__read(struct spill *spill, uint32_t group,
		int (*take)(void *data, const struct spilled *point), void *data);

#endif /* CONTROLLER_RECORD_SPILL_H */
