// SPDX-License-Identifier: GPL-2.0-only
/* Copies the records of a batch and checks all of them, before any is carried out. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <dart/registration.h>

#include "entry_batch.h"

/*
 * A read of anything else could wait, and dartd with it; so could fstat(2).  Only files in memory
 * have seals.
 */
static int check_file(int fd, struct dart_error *error)
{
	if (fcntl(fd, F_GET_SEALS) >= 0)
		return 0;
	return dart_error__set(error, EINVAL,
			       "changes come in a regular file in memory (memfd_create(2) makes one)");
}

static int read_all(int fd, uint8_t *bytes, size_t length, struct dart_error *error)
{
	size_t end = 0;
	ssize_t count;

	for (; end < length; end += count) {
		count = pread(fd, bytes + end, length - end, end);
		if (count < 0 && errno == EINTR)
			count = 0;
		else if (count < 0)
			return dart_error__system(error, errno, "cannot read the changes");
		else if (!count)
			return dart_error__set(
				error, EINVAL,
				"the file has %zu bytes of changes, but 'count' means %zu",
				end, length);
	}
	return 0;
}

static int entry_batch__check(const struct entry_batch *batch, struct dart_error *error)
{
	uint8_t operation;
	size_t i;

	for (i = 0; i < batch->count; i++) {
		operation = entry_batch__at(batch, i).operation;
		if (operation != DART_REGISTRATION_TABLE_INSERT &&
		    operation != DART_REGISTRATION_TABLE_REMOVE)
			return dart_error__set(
				error, EINVAL,
				"change %zu has an unknown operation, %u (no change was made)",
				i, operation);
	}
	return 0;
}

static int entry_batch__begin(struct entry_batch *batch, const struct dart_tea_geometry *geometry,
			      size_t count, struct dart_error *error)
{
	if (!count || count > DART_REGISTRATION_TABLE_CHANGES_MAX)
		return dart_error__set(error, EINVAL, "a request has 1 to %d changes",
				       DART_REGISTRATION_TABLE_CHANGES_MAX);
	*batch = (struct entry_batch){
		.count = count,
		.key_length = geometry->key_length,
		.record_length = 1 + geometry->key_length + geometry->value_length,
	};
	return 0;
}

int entry_batch__read(struct entry_batch *batch, const struct dart_tea_geometry *geometry, int fd,
		      size_t count, struct dart_error *error)
{
	int ret;

	ret = entry_batch__begin(batch, geometry, count, error) ?: check_file(fd, error);
	if (ret)
		return ret;
	batch->copy = malloc(count * batch->record_length);
	if (!batch->copy)
		return dart_error__no_memory(error);
	batch->records = batch->copy;
	ret = read_all(fd, batch->copy, count * batch->record_length, error) ?:
		      entry_batch__check(batch, error);
	if (ret)
		free(batch->copy);
	return ret;
}

int entry_batch__borrow(struct entry_batch *batch, const struct dart_tea_geometry *geometry,
			const uint8_t *records, size_t length, size_t count,
			struct dart_error *error)
{
	int ret = entry_batch__begin(batch, geometry, count, error);

	if (ret)
		return ret;
	if (length != count * batch->record_length)
		return dart_error__set(error, EINVAL,
				       "%zu changes of this table have %zu bytes, not %zu", count,
				       count * batch->record_length, length);
	batch->records = records;
	return entry_batch__check(batch, error);
}

void entry_batch__close(struct entry_batch *batch)
{
	free(batch->copy);
}

struct batched_change entry_batch__at(const struct entry_batch *batch, size_t i)
{
	const uint8_t *record = batch->records + i * batch->record_length;

	return (struct batched_change){
		.operation = *record,
		.key = record + 1,
		.value = record + 1 + batch->key_length,
	};
}
