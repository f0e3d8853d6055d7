// SPDX-License-Identifier: GPL-2.0-only
/* Changes of a table, in batches. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <dart/registration.h>

#include "batch.h"
#include "tools/dartctl/cli/command.h"
#include "tools/dartctl/cli/version.h"

static size_t records_length(const struct tea_batch *batch)
{
	return DART_REGISTRATION_TABLE_CHANGES_MAX * (1 + batch->entry_length);
}

int tea_batch__open(struct tea_batch *batch, const struct options *options,
		    const char *table, const struct tea_layout *layout)
{
	*batch = (struct tea_batch){
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

void tea_batch__close(struct tea_batch *batch)
{
	munmap(batch->records, records_length(batch));
	close(batch->fd);
	dart_registration_client__close(&batch->client);
}

static uint8_t *next_record(const struct tea_batch *batch)
{
	return batch->records + batch->count * (1 + batch->entry_length);
}

uint8_t *tea_batch__entry(struct tea_batch *batch)
{
	return next_record(batch) + 1;
}

bool tea_batch__add(struct tea_batch *batch, uint8_t operation)
{
	*next_record(batch) = operation;
	return ++batch->count == DART_REGISTRATION_TABLE_CHANGES_MAX;
}

int tea_batch__send(struct tea_batch *batch, struct dart_error *error)
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
		ret = tea_outcome__add(&batch->outcome, json_object_get(reply, "changes"), error);
	else if (reply)
		version__explain(reply, error);
	json_decref(reply);
	if (ret)
		return ret;
	batch->sent += batch->count;
	batch->count = 0;
	return 0;
}
