/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Groups the points of many series.  The points arrive in the order of time, and the user needs
 * them group by group.  They exceed the memory: whenever the buffer is full, the points are sorted
 * by the order of their groups and written to a temporary file, as a *run*.  At the end all runs
 * are read in parallel.
 *
 * Groups may appear at any time, but their relative order must not change, so that all runs are
 * sorted alike.  For one thread at a time.
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
	uint32_t member; /* number in the group, chosen by the user */
	int64_t time_ns;
	double value;
};

/* Memory for points before they are written; reading needs 16 KiB more for each run. */
#define SPILL_BYTES (96U << 20)

/*
 * Makes an unlinked, empty file in @directory.  @bytes: size of the buffer, SPILL_BYTES, or less in
 * a test.  Returns 0, or -errno with a sentence in @error.
 */
int spill__open(const char *directory, size_t bytes, struct spill **spill,
		struct dart_error *error);
/* NULL is allowed. */
void spill__close(struct spill *spill);

/* Returns false if the buffer is full; then the caller calls spill__flush() first. */
bool spill__add(struct spill *spill, const struct spilled *point);
/*
 * Writes a run.  @ranks[group] is the place of a group among all groups, below @count.  Returns 0,
 * -errno of write(2), or -ENOMEM.
 */
int spill__flush(struct spill *spill, const uint32_t *ranks, uint32_t count);

/* Prepares reading from the first group on, after the last flush.  Returns 0 or -ENOMEM. */
int spill__rewind(struct spill *spill);
/*
 * Passes the points of @group to @take, in the order in which they were added, until @take returns
 * a number other than 0.  The caller asks for all groups in their order, without gaps.  Returns 0,
 * -errno of read(2), or that number.
 */
int spill__read(struct spill *spill, uint32_t group,
		int (*take)(void *data, const struct spilled *point), void *data);

#endif /* CONTROLLER_RECORD_SPILL_H */
