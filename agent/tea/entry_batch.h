/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The records of a request table-change, see <dart/registration.h>: changes of entries,
 * read from a descriptor whose bytes are hostile and may change meanwhile, or in a message.
 */
#ifndef ENTRY_BATCH_H
#define ENTRY_BATCH_H

#include <stddef.h>
#include <stdint.h>

#include <libdart/error.h>
#include <libdart/tea/tea_geometry.h>

struct entry_batch {
	const uint8_t *records;	/* checked */
	uint8_t *copy;		/* that they are in; NULL: they are the caller's */
	size_t count;
	size_t record_length;	/* bytes */
	size_t key_length;
};

/* An entry of a batch, which owns the bytes. */
struct batched_change {
	uint8_t operation;	/* DART_REGISTRATION_TABLE_INSERT or _REMOVE */
	const uint8_t *key, *value;
};

/*
 * Reads @count records for a table of @geometry from the start of @fd, a file in memory.
 * -EINVAL, -EBADF, -ENOMEM or an error of pread(2); then there is nothing to close.
 */
int entry_batch__read(struct entry_batch *batch, const struct dart_tea_geometry *geometry, int fd,
		      size_t count, struct dart_error *error);
/*
 * The same of the @length bytes at @records, which are hostile, do not change, and stay the
 * caller's.  -EINVAL.
 */
int entry_batch__borrow(struct entry_batch *batch, const struct dart_tea_geometry *geometry,
			const uint8_t *records, size_t length, size_t count,
			struct dart_error *error);
void entry_batch__close(struct entry_batch *batch);

/* @i: below @count. */
struct batched_change entry_batch__at(const struct entry_batch *batch, size_t i);

#endif /* ENTRY_BATCH_H */
