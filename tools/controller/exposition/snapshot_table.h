/* SPDX-License-Identifier: GPL-2.0-only */
/* The last snapshot of each target, by its index: workers replace them, and pages show them. */
#ifndef CONTROLLER_SNAPSHOT_TABLE_H
#define CONTROLLER_SNAPSHOT_TABLE_H

#include <pthread.h>

#include "snapshot.h"

struct snapshot_table {
	atomic_uint_least64_t version; /* grows with each change of the targets below */
	pthread_mutex_t lock; /* of all below */
	size_t series_count; /* of all snapshots */
	size_t end; /* no target has this index, or a higher one */
	struct snapshot *targets[SETTINGS_TARGETS_MAX];
};

/* Snapshots of some targets, held. */
struct snapshots {
	struct snapshot **all;
	size_t count;
};

/* All zeros before. */
void snapshot_table__init(struct snapshot_table *table);
/* No thread uses it any more. */
void snapshot_table__clear(struct snapshot_table *table);

/*
 * Takes @snapshot in place of the last one of target @index.  NULL: there was no memory, or the
 * target is gone.  Returns whether the sum of all series has changed, and sets @series_count to it.
 */
bool snapshot_table__set(struct snapshot_table *table, size_t index, struct snapshot *snapshot,
			 size_t *series_count);
/* The last snapshot of a target, held; NULL: none.  Only the worker of the target replaces it. */
struct snapshot *snapshot_table__last(struct snapshot_table *table, size_t index);
/* Those called @name; NULL: all.  Returns 0 or -ENOMEM. */
int snapshot_table__take(struct snapshot_table *table, const char *name,
			 struct snapshots *snapshots);

/* Leaves none. */
void snapshots__put(struct snapshots *snapshots);

#endif /* CONTROLLER_SNAPSHOT_TABLE_H */
