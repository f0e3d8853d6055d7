/* SPDX-License-Identifier: GPL-2.0-only */
/* The targets of a replay, found by their numbers and by the numbers of their tables. */
#ifndef CONTROLLER_RECORD_REPLAY_TARGETS_H
#define CONTROLLER_RECORD_REPLAY_TARGETS_H

#include "played.h"
#include "tools/controller/decode/decoder.h"

struct replay_target {
	uint32_t number;
	uint64_t table; /* number of the table; meaningless without a ring */
	struct ring *ring; /* ring of the table; NULL before the first table */
	uint64_t ring_size;
	struct target_settings settings;
	struct decoder decoder;
	struct summary summary;
};

struct replay_targets {
	void *by_number; /* trees of tsearch(3) */
	void *by_table;
	uint64_t ring_sizes; /* sum of the ring sizes of all targets */
	uint64_t ring_sizes_max;
	struct replay_target *targets[SETTINGS_TARGETS_MAX];
};

/* Both return NULL if there is no such target. */
struct replay_target *replay_targets__find(struct replay_targets *targets, uint32_t number);
struct replay_target *replay_targets__find_table(struct replay_targets *targets, uint64_t table);
/*
 * Adds a target with a new number.  @decoder serves as a template, without settings and summary.
 * Returns 0, or -errno with a sentence in @error.
 */
int replay_targets__add(struct replay_targets *targets, const struct recorded_target *recorded,
			const struct decoder *decoder, struct replay_target **target,
			struct dart_error *error);
/*
 * Makes @recorded the table of the next scrapes of @target; after an error the target is without
 * table.  Returns the same as played__make_ring(), or -EFBIG if all tables together would take too
 * much memory.
 */
int replay_targets__set_table(struct replay_targets *targets, struct replay_target *target,
			      const struct recorded_table *recorded, const struct scraper_use *use,
			      struct dart_error *error);
/* Call this when the workers hold nothing of @target. */
void replay_targets__remove(struct replay_targets *targets, struct replay_target *target);

#endif /* CONTROLLER_RECORD_REPLAY_TARGETS_H */
