// SPDX-License-Identifier: GPL-2.0-only
/* Makes the plan of a sample: takes its entries in the order of their names, object by object. */
#include "plan_make.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "plan_generic.h"
#include "plan_named.h"
#include "plan_own.h"
#include "plan_sort.h"

/* An entry, sorted by object; the chosen entry of each object comes first. */
struct candidate {
	const char *name;
	size_t object_length; /* length of the name before the interval */
	uint32_t interval_ms; /* UINT32_MAX for a direct entry */
	uint32_t index;
};

static int compare_objects(const struct candidate *one, const struct candidate *other)
{
	const size_t least = one->object_length < other->object_length ? one->object_length :
									 other->object_length;

	return memcmp(one->name, other->name, least) ?:
						       (one->object_length > other->object_length) -
			       (one->object_length < other->object_length);
}

static int compare_candidates(const void *a, const void *b)
{
	const struct candidate *one = a, *other = b;

	return compare_objects(one, other) ?:
		       (one->interval_ms > other->interval_ms) - (one->interval_ms < other->interval_ms) ?:
		       strcmp(one->name, other->name);
}

static struct candidate *sort_entries(const struct sample *sample)
{
	struct candidate *candidates = calloc((size_t)sample->entry_count + 1, sizeof(*candidates));
	struct entry_parts parts;
	uint32_t i;

	for (i = 0; candidates && i < sample->entry_count; i++) {
		const char *name = sample->entries[i].entry->name;

		entry_parts__split(name, &parts);
		candidates[i] = (struct candidate){
			.name = name,
			.object_length = parts.object_length,
			.interval_ms = parts.interval_ms ?: UINT32_MAX,
			.index = i,
		};
	}
	if (candidates)
		qsort(candidates, sample->entry_count, sizeof(*candidates), compare_candidates);
	return candidates;
}

static int add_entry(struct plan_builder *builder, struct names *names, uint32_t index,
		     bool is_first, bool has_twin)
{
	struct plan_entry entry;
	int err = plan_entry__open(&entry, builder, index);

	if (!err) {
		entry.has_twin = has_twin;
		plan_named__mark(&entry, names);
		if (is_first)
			plan_named__add(&entry, builder, names);
		plan_generic__add(&entry, builder);
	}
	plan_entry__close(&entry);
	return err;
}

static int add_entries(struct plan_builder *builder, struct names *names)
{
	const struct sample *sample = builder->sample;
	struct candidate *candidates = sort_entries(sample);
	uint32_t i, count = sample->entry_count;
	int err = candidates ? 0 : -ENOMEM;

	for (i = 0; i < count && !err; i++) {
		const struct candidate *at = &candidates[i];
		const bool is_first = !i || compare_objects(at - 1, at);
		const bool has_twin = !is_first || (i + 1 < count && !compare_objects(at, at + 1));

		err = add_entry(builder, names, at->index, is_first, has_twin);
	}
	free(candidates);
	return err;
}

int metric_plan__new(struct names *names, const struct sample *sample, struct metric_plan **plan)
{
	struct plan_builder builder;
	int err = plan_builder__open(&builder, names, sample);

	if (!err) {
		plan_own__add(&builder);
		err = add_entries(&builder, names);
	}
	if (!err)
		err = plan_builder__finish(&builder, plan);
	plan_builder__close(&builder);
	return err;
}
