// SPDX-License-Identifier: LGPL-2.1-or-later
/* The memory of a slice: first ordinary, then what dartd has lent. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <dart/control.h>

#include "slice_state.h"

static int slice__map(struct dart_slice_state *slice, struct dart_error *error)
{
	size_t page_size = sysconf(_SC_PAGESIZE);
	void *memory;

	slice->mapped =
		(slice->shown.length + page_size - 1) / page_size * page_size;
	memory = mmap(NULL, slice->mapped, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		return dart_error__system(error, errno,
					  "cannot map %zu bytes for a slice",
					  slice->mapped);
	slice->shown.memory = memory;
	return 0;
}

int dart_slice_state__new(struct dart_slice_state **result, const char *name,
			  const json_t *schema, struct dart_error *error)
{
	json_int_t length =
		json_integer_value(json_object_get(schema, "length"));
	struct dart_slice_state *slice;
	int ret;

	if (length < 1 || length > DART_CONTROL_VALUE_MAX)
		return dart_error__set(
			error, EINVAL,
			"the schema of '%s' has no length from 1 to %d", name,
			DART_CONTROL_VALUE_MAX);
	slice = calloc(1, sizeof(*slice));
	if (!slice)
		return dart_error__no_memory(error);
	slice->fd = -1;
	slice->shown.length = length;
	slice->shown.status = -EINPROGRESS;
	slice->request = json_pack("{s:s, s:s, s:o}", "request", "new-slice",
				   "name", name, "schema",
				   json_deep_copy(schema));
	ret = slice->request ? slice__map(slice, error) :
			       dart_error__no_memory(error);
	if (ret)
		dart_slice_state__free(slice);
	else
		*result = slice;
	return ret;
}

void dart_slice_state__free(struct dart_slice_state *slice)
{
	if (slice->shown.memory)
		munmap(slice->shown.memory, slice->mapped);
	if (slice->fd >= 0)
		close(slice->fd);
	json_decref(slice->request);
	free(slice->reason);
	free(slice);
}

void dart_slice_state__set(struct dart_slice_state *slice, int status,
			   const char *reason)
{
	slice->shown.status = status;
	free(slice->reason);
	slice->reason = reason ? strdup(reason) : NULL;
	slice->shown.reason = slice->reason;
}

/* Puts the memory behind @fd where the application has written so far. */
static int slice__take(struct dart_slice_state *slice, int fd,
		       struct dart_error *error)
{
	void *lent;

	lent = mmap(NULL, slice->mapped, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		    0);
	if (lent == MAP_FAILED)
		return dart_error__system(error, errno,
					  "cannot map the slice from dartd");
	memcpy(lent, slice->shown.memory, slice->mapped);
	munmap(lent, slice->mapped);
	if (mmap(slice->shown.memory, slice->mapped, PROT_READ | PROT_WRITE,
		 MAP_SHARED | MAP_FIXED, fd, 0) == MAP_FAILED)
		return dart_error__system(error, errno,
					  "cannot map the slice from dartd");
	slice->fd = fd;
	return 0;
}

int dart_slice_state__registered(struct dart_slice_state *slice, int fd,
				 struct dart_error *error)
{
	int ret = 0;

	if (slice->fd < 0 && fd < 0)
		return dart_error__set(
			error, EPROTO,
			"no descriptor came from dartd (raise RLIMIT_NOFILE)");
	if (slice->fd < 0)
		ret = slice__take(slice, fd, error);
	if (slice->fd != fd && fd >= 0)
		close(fd);
	return ret;
}
