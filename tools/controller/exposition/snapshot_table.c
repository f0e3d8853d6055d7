// SPDX-License-Identifier: GPL-2.0-only
/* Replaces and hands out the last snapshots of all targets, under one lock. */
#include "snapshot_table.h"

#include <errno.h>
#include <stdlib.h>

void snapshot_table__init(struct snapshot_table *table)
{
	pthread_mutex_init(&table->lock, NULL);
}

void snapshot_table__clear(struct snapshot_table *table)
{
	size_t i;

	for (i = 0; i < table->end; i++)
		snapshot__put(table->targets[i]);
	pthread_mutex_destroy(&table->lock);
}

bool snapshot_table__set(struct snapshot_table *table, size_t index, struct snapshot *snapshot,
			 size_t *series_count)
{
	struct snapshot *before;
	bool has_changed;

	pthread_mutex_lock(&table->lock);
	before = table->targets[index];
	table->targets[index] = snapshot;
	if (snapshot && table->end <= index)
		table->end = index + 1;
	*series_count = table->series_count + snapshot__series(snapshot) - snapshot__series(before);
	has_changed = *series_count != table->series_count;
	table->series_count = *series_count;
	atomic_fetch_add(&table->version, 1);
	pthread_mutex_unlock(&table->lock);
	snapshot__put(before);
	return has_changed;
}

struct snapshot *snapshot_table__last(struct snapshot_table *table, size_t index)
{
	struct snapshot *snapshot;

	pthread_mutex_lock(&table->lock);
	snapshot = snapshot__get(table->targets[index]);
	pthread_mutex_unlock(&table->lock);
	return snapshot;
}

int snapshot_table__take(struct snapshot_table *table, const char *name,
			 struct snapshots *snapshots)
{
	struct snapshot *snapshot;
	size_t i;

	*snapshots = (struct snapshots){};
	pthread_mutex_lock(&table->lock);
	snapshots->all = malloc((table->end ?: 1) * sizeof(*snapshots->all));
	for (i = 0; snapshots->all && i < table->end; i++) {
		snapshot = table->targets[i];
		if (snapshot && (!name || snapshot__is_called(snapshot, name)))
			snapshots->all[snapshots->count++] = snapshot__get(snapshot);
	}
	pthread_mutex_unlock(&table->lock);
	return snapshots->all ? 0 : -ENOMEM;
}

void snapshots__put(struct snapshots *snapshots)
{
	while (snapshots->count)
		snapshot__put(snapshots->all[--snapshots->count]);
	free(snapshots->all);
	snapshots->all = NULL;
}
