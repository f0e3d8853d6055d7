// SPDX-License-Identifier: GPL-2.0-only
/* Counts of changes of a table, from replies of dartd. */
#include <errno.h>
#include <stddef.h>

#include "outcome.h"

static const struct {
	const char *name;
	size_t offset;
} counts[] = {
	{ "inserted", offsetof(struct tea_outcome, inserted) },
	{ "changed", offsetof(struct tea_outcome, changed) },
	{ "stashed", offsetof(struct tea_outcome, stashed) },
	{ "removed", offsetof(struct tea_outcome, removed) },
	{ "missing", offsetof(struct tea_outcome, missing) },
	{ "foreign", offsetof(struct tea_outcome, foreign) },
	{ "full", offsetof(struct tea_outcome, full) },
};

#define COUNTS (sizeof(counts) / sizeof(counts[0]))

int tea_outcome__add(struct tea_outcome *outcome, const json_t *changes, struct dart_error *error)
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

json_t *tea_outcome__pack(const struct tea_outcome *outcome)
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
