// SPDX-License-Identifier: GPL-2.0-only
/* Manages the targets of a replay; numbers and sizes may be hostile. */
#include <errno.h>
#include <search.h>
#include <stdlib.h>

#include "replay_targets.h"

static int compare_numbers(const void *a, const void *b)
{
	const struct replay_target *one = a, *other = b;

	return (one->number > other->number) - (one->number < other->number);
}

static int compare_tables(const void *a, const void *b)
{
	const struct replay_target *one = a, *other = b;

	return (one->table > other->table) - (one->table < other->table);
}

struct replay_target *replay_targets__find(struct replay_targets *targets, uint32_t number)
{
	const struct replay_target key = { .number = number };
	struct replay_target **found;

	found = tfind(&key, &targets->by_number, compare_numbers);
	return found ? *found : NULL;
}

struct replay_target *replay_targets__find_table(struct replay_targets *targets, uint64_t table)
{
	const struct replay_target key = { .table = table };
	struct replay_target **found;

	found = tfind(&key, &targets->by_table, compare_tables);
	return found ? *found : NULL;
}

static int find_index(const struct replay_targets *targets, size_t *index)
{
	for (*index = 0; *index < SETTINGS_TARGETS_MAX; (*index)++) {
		if (!targets->targets[*index])
			return 0;
	}
	return -E2BIG;
}

int replay_targets__add(struct replay_targets *targets, const struct recorded_target *recorded,
			const struct decoder *decoder, struct replay_target **targetp,
			struct dart_error *error)
{
	struct replay_target *target;
	size_t index;
	int err;

	if (find_index(targets, &index))
		return dart_error__set(error, E2BIG, "there are more than %d agents",
				       SETTINGS_TARGETS_MAX);
	target = calloc(1, sizeof(*target));
	if (!target)
		return dart_error__no_memory(error);
	err = played__make_settings(recorded, &target->settings, error);
	if (err) {
		free(target);
		return err;
	}
	target->settings.index = index;
	target->number = recorded->number;
	target->decoder = *decoder;
	target->decoder.settings = &target->settings;
	target->decoder.summary = &target->summary;
	if (!tsearch(target, &targets->by_number, compare_numbers)) {
		played__clear_settings(&target->settings);
		free(target);
		return dart_error__no_memory(error);
	}
	targets->targets[index] = target;
	*targetp = target;
	return 0;
}

static void replay_targets__drop_table(struct replay_targets *targets, struct replay_target *target)
{
	if (!target->ring)
		return;
	tdelete(target, &targets->by_table, compare_tables);
	targets->ring_sizes -= target->ring_size;
	ring__release(target->ring);
	target->ring = NULL;
}

int replay_targets__set_table(struct replay_targets *targets, struct replay_target *target,
			      const struct recorded_table *recorded, const struct scraper_use *use,
			      struct dart_error *error)
{
	struct ring *ring;
	int err;

	replay_targets__drop_table(targets, target);
	target->ring_size = played__ring_size(recorded);
	if (target->ring_size > targets->ring_sizes_max - targets->ring_sizes)
		return dart_error__set(
			error, EFBIG,
			"the tables of the recording take more than half of the memory of this machine");
	if (replay_targets__find_table(targets, recorded->number))
		return dart_error__set(error, EBADMSG, "two agents have the same table");
	err = played__make_ring(recorded, use, &ring, error);
	if (err)
		return err;
	target->table = recorded->number;
	if (!tsearch(target, &targets->by_table, compare_tables)) {
		ring__release(ring);
		return dart_error__no_memory(error);
	}
	target->ring = ring;
	targets->ring_sizes += target->ring_size;
	return 0;
}

void replay_targets__remove(struct replay_targets *targets, struct replay_target *target)
{
	replay_targets__drop_table(targets, target);
	tdelete(target, &targets->by_number, compare_numbers);
	targets->targets[target->settings.index] = NULL;
	played__clear_settings(&target->settings);
	free(target);
}
