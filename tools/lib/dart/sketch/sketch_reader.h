/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reads a period of a sketch: in memory that this process mapped, or on another host by READs that
 * do not involve that host's CPU, see <dart/sketch_access.h>.
 *
 * Functions that READ block, but at most DART_SKETCH_READER_TIMEOUT_MS for one response of the
 * host.  A reader is used by one thread at a time.
 */
#ifndef DART_SKETCH_READER_H
#define DART_SKETCH_READER_H

#include <libdart/error.h>

#include "sketch_merge.h"

#define DART_SKETCH_READER_TIMEOUT_MS 10000

struct dart_sketch_reader;

/*
 * Reads the sketch of @geometry at @memory, which has its length, is the caller's and outlives the
 * reader; sketchers may change it meanwhile.  Returns 0, -EINVAL or -ENOMEM.
 */
int dart_sketch_reader__map(const struct dart_sketch_geometry *geometry, const void *memory,
			    struct dart_sketch_reader **reader);
/*
 * Connects to the agent of @host (name or address) at @port, as a reader of its sketch @name.
 * Returns 0, or sets @error and returns -errno as dart_store_reader__open() does.
 */
int dart_sketch_reader__open(const char *host, uint16_t port, const char *name,
			     struct dart_sketch_reader **reader, struct dart_error *error);
/* @reader may be NULL. */
void dart_sketch_reader__close(struct dart_sketch_reader *reader);

const struct dart_sketch_geometry *
dart_sketch_reader__geometry(const struct dart_sketch_reader *reader);

/*
 * Adds up all parts of @period.  0 stands for the newest period that has begun, by the clock of this
 * host, and of which a part has at least 7/8, of up to 64 strips that are looked at; or for the one
 * before, while less than 7/8 as many parts have the newest one.  The caller frees the sum.  Returns
 * 0, or sets @error and returns -ENODATA if no part has a strip of the period, -ENOMEM, and
 * -ECONNRESET if the sketch was deleted or the agent ended, -ETIMEDOUT, -EACCES or -EIO; after one
 * of the last four the reader can only be closed.
 */
int dart_sketch_reader__read(struct dart_sketch_reader *reader, uint32_t period,
			     struct dart_sketch_merge **merge, struct dart_error *error);

#endif /* DART_SKETCH_READER_H */
