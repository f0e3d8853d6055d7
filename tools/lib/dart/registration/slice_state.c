// SPDX-License-Identifier: LGPL-2.1-or-later
/* One slice of a set, from its first request to the end of its lease. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <dart/control.h>
#include <libdart/clock.h>

#include "slice_state_internal.h"

int dart_slice_state__new(struct dart_slice_state **result, struct dart_slice_arenas *arenas,
			  const char *name, const json_t *schema, struct dart_error *error)
{
	json_int_t length = json_integer_value(json_object_get(schema, "length"));
	struct dart_slice_state *slice;
	int ret;

	if (length < 1 || length > DART_CONTROL_VALUE_MAX)
		return dart_error__set(error, EINVAL,
				       "the schema of '%s' has no length from 1 to %d", name,
				       DART_CONTROL_VALUE_MAX);
	slice = calloc(1, sizeof(*slice));
	if (!slice)
		return dart_error__no_memory(error);
	slice->shown.length = length;
	slice->shown.status = -EINPROGRESS;
	slice->request = json_pack("{s:s, s:s, s:o}", "request", "new-slice", "name", name,
				   "schema", json_deep_copy(schema));
	ret = slice->request ? dart_slice_arenas__take(arenas, length, &slice->arena,
						       &slice->offset, error) :
			       dart_error__no_memory(error);
	if (ret) {
		json_decref(slice->request);
		free(slice);
		return ret;
	}
	TAILQ_INSERT_TAIL(&slice->arena->members, slice, in_arena);
	slice->arena->slices++;
	slice->shown.memory = slice->arena->memory + slice->offset;
	*result = slice;
	return 0;
}

void dart_slice_state__free(struct dart_slice_state *slice)
{
	TAILQ_REMOVE(&slice->arena->members, slice, in_arena);
	dart_slice_arena__give_back(slice->arena, slice->offset, slice->shown.length);
	json_decref(slice->request);
	free(slice->reason);
	free(slice);
}

void dart_slice_state__set(struct dart_slice_state *slice, int status, const char *reason)
{
	slice->shown.status = status;
	free(slice->reason);
	slice->reason = reason ? strdup(reason) : NULL;
	slice->shown.reason = slice->reason;
}

const json_t *dart_slice_state__request(struct dart_slice_state *slice)
{
	json_t *request = slice->request;
	int failed;

	if (slice->is_leaving)
		return request;
	failed = json_object_set_new(request, "offset", json_integer(slice->offset));
	/* dartd lends the arena with the first slice in it. */
	if (slice->arena->fd >= 0)
		json_object_del(request, "memory");
	else
		failed |= json_object_set_new(
			request, "memory", json_integer(slice->arena->length));
	return failed ? NULL : request;
}

int dart_slice_state__registered(struct dart_slice_state *slice, int fd, struct dart_error *error)
{
	if (slice->arena->fd < 0 && fd < 0)
		return dart_error__set(error, EPROTO,
				       "no descriptor came from dartd (raise RLIMIT_NOFILE)");
	if (slice->arena->fd < 0)
		return dart_slice_arena__lend(slice->arena, fd, error);
	if (fd >= 0)
		close(fd);
	return 0;
}

int dart_slice_state__leave(struct dart_slice_state *slice)
{
	json_t *name = json_object_get(slice->request, "name");
	json_t *request = json_pack("{s:s, s:O}", "request", "unregister-slice", "name", name);

	if (!request)
		return -ENOMEM;
	json_decref(slice->request);
	slice->request = request;
	slice->is_leaving = true;
	return 0;
}

void dart_slice_state__retire(struct dart_slice_state *slice, const json_t *reply)
{
	json_int_t lease_ms = json_integer_value(
		json_object_get(json_object_get(reply, "entry"), "lease_ms"));

	/* The clock counts whole ones. */
	slice->due_ms = dart_clock__ms(CLOCK_BOOTTIME) + 1 +
			(lease_ms > 0 ? lease_ms : (json_int_t)(2 * DART_CONTROL_RETRIES_MS));
	json_decref(slice->request);
	slice->request = NULL;
}

bool dart_slice_state__is_due(const struct dart_slice_state *slice)
{
	return slice->due_ms <= dart_clock__ms(CLOCK_BOOTTIME);
}
