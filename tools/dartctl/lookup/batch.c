// SPDX-License-Identifier: GPL-2.0-only
/* Changes of a lookup table, in batches, see batch.h. */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <dart/registration.h>

#include "batch.h"
#include "tools/dartctl/cli/command.h"

/* ---- counts of changes, from replies */

static const struct {
	const char *name;
	size_t offset;
} counts[] = {
	{ "inserted", offsetof(struct lookup_outcome, inserted) },
	{ "changed", offsetof(struct lookup_outcome, changed) },
	{ "stashed", offsetof(struct lookup_outcome, stashed) },
	{ "removed", offsetof(struct lookup_outcome, removed) },
	{ "missing", offsetof(struct lookup_outcome, missing) },
	{ "foreign", offsetof(struct lookup_outcome, foreign) },
	{ "full", offsetof(struct lookup_outcome, full) },
};

#define COUNTS (sizeof(counts) / sizeof(counts[0]))

/* Adds the "changes" of a reply.  Returns 0, or sets @error and returns -EPROTO. */
static int add_changes(struct lookup_outcome *outcome, const json_t *changes,
		       struct dart_error *error)
{
	const json_t *count;
	size_t i;

	for (i = 0; i < COUNTS; i++) {
		count = json_object_get(changes, counts[i].name);
		if (!json_is_integer(count))
			return dart_error__set(error, EPROTO, "the reply of dartd has no '%s'",
					       counts[i].name);
		*(uint64_t *)((char *)outcome + counts[i].offset) += json_integer_value(count);
	}
	return 0;
}

json_t *lookup_outcome__pack(const struct lookup_outcome *outcome)
{
	json_t *object = json_object();
	size_t i;

	for (i = 0; i < COUNTS; i++) {
		const char *count = (const char *)outcome + counts[i].offset;

		if (!json_object_set_new(object, counts[i].name,
					 json_integer(*(const uint64_t *)count)))
			continue;
		json_decref(object);
		return NULL;
	}
	return object;
}

/* ---- batches */

static size_t records_length(const struct lookup_batch *batch)
{
	return DART_REGISTRATION_TABLE_CHANGES_MAX * (1 + batch->entry_length);
}

int lookup_batch__open(struct lookup_batch *batch, const struct options *options,
		    const char *table, const struct lookup_layout *layout)
{
	*batch = (struct lookup_batch){
		.table = table,
		.entry_length = layout->key_length + layout->value_length,
	};
	if (client__open(options, &batch->client))
		return EXIT_FAILURE;
	batch->fd = memfd_create("changes", MFD_CLOEXEC);
	if (batch->fd < 0) {
		fail(errno, "cannot create a file in memory: %s", strerror(errno));
		goto err_client;
	}
	if (ftruncate(batch->fd, records_length(batch)))
		goto err_fd;
	batch->records = mmap(NULL, records_length(batch),
			      PROT_READ | PROT_WRITE, MAP_SHARED, batch->fd, 0);
	if (batch->records != MAP_FAILED)
		return EXIT_SUCCESS;
err_fd:
	fail(errno, "cannot reserve %zu bytes: %s", records_length(batch), strerror(errno));
	close(batch->fd);
err_client:
	dart_registration_client__close(&batch->client);
	return EXIT_FAILURE;
}

void lookup_batch__close(struct lookup_batch *batch)
{
	munmap(batch->records, records_length(batch));
	close(batch->fd);
	dart_registration_client__close(&batch->client);
}

static uint8_t *next_record(const struct lookup_batch *batch)
{
	return batch->records + batch->count * (1 + batch->entry_length);
}

uint8_t *lookup_batch__entry(struct lookup_batch *batch)
{
	return next_record(batch) + 1;
}

bool lookup_batch__add(struct lookup_batch *batch, uint8_t operation)
{
	*next_record(batch) = operation;
	return ++batch->count == DART_REGISTRATION_TABLE_CHANGES_MAX;
}

int lookup_batch__send(struct lookup_batch *batch, struct dart_error *error)
{
	json_t *request, *reply = NULL;
	int ret;

	if (!batch->count)
		return 0;
	request = json_pack("{s:s, s:s, s:I}", "request", "table-change", "name", batch->table,
			    "count", (json_int_t)batch->count);
	if (!request)
		return dart_error__set(error, EINVAL, "out of memory, or a name is not UTF-8");
	ret = dart_registration_client__ask(&batch->client, request, batch->fd, &reply, NULL,
					    error);
	json_decref(request);
	if (!ret)
		ret = add_changes(&batch->outcome, json_object_get(reply, "changes"), error);
	else if (reply)
		version__explain(reply, error);
	json_decref(reply);
	if (ret)
		return ret;
	batch->sent += batch->count;
	batch->count = 0;
	return 0;
}
