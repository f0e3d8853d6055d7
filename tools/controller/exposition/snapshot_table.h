/* SPDX-License-Identifier: GPL-2.0-only */
/* The last snapshot of each target, by its index: workers replace snapshots, pages show them. */
#ifndef CONTROLLER_SNAPSHOT_TABLE_H
#define CONTROLLER_SNAPSHOT_TABLE_H

#include <pthread.h>

#include "snapshot.h"

struct snapshot_table {
	atomic_uint_least64_t version; /* grows with each change of the targets below */
	pthread_mutex_t lock; /* protects all below */
	size_t series_count; /* of all snapshots */
	size_t end; /* no target used this index, or a higher one */
	struct snapshot *targets[SETTINGS_TARGETS_MAX];
};

/* Snapshots of some targets, held. */
struct snapshots {
	struct snapshot **all;
	size_t count;
};

/* Initializes zeroed memory. */
void snapshot_table__init(struct snapshot_table *table);
/* Call it when no thread uses the table any more. */
void snapshot_table__clear(struct snapshot_table *table);

/*
 * Replaces the last snapshot of target @index by @snapshot, and takes its hold.  NULL: memory ran
 * out, or the target is gone.  Sets @series_count to the sum of all series; true if it changed.
 */
bool snapshot_table__set(struct snapshot_table *table, size_t index, struct snapshot *snapshot,
			 size_t *series_count);
/*
 * The last snapshot of a target, held for the caller; NULL if there is none.  Only the worker of
 * the target replaces it.
 */
struct snapshot *snapshot_table__last(struct snapshot_table *table, size_t index);
/* Holds the snapshots of all targets called @name; NULL: of all targets.  Returns 0 or -ENOMEM. */
int snapshot_table__take(struct snapshot_table *table, const char *name,
			 struct snapshots *snapshots);

/* Releases all snapshots, and leaves @snapshots empty. */
void snapshots__put(struct snapshots *snapshots);

#endif /* CONTROLLER_SNAPSHOT_TABLE_H */
