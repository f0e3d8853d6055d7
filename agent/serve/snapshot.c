// SPDX-License-Identifier: GPL-2.0-only
/* Shares copies of the table. */
#include <stdlib.h>
#include <string.h>

#include "snapshot.h"

void snapshots__open(struct snapshots *snapshots,
		     const struct control_region *control_region)
{
	*snapshots = (struct snapshots){ .control_region = control_region };
	LIST_INIT(&snapshots->list);
}

struct snapshot *snapshots__take(struct snapshots *snapshots)
{
	const struct control_region *table = snapshots->control_region;
	struct snapshot *snapshot;

	LIST_FOREACH(snapshot, &snapshots->list, link) {
		if (snapshot->generation == table->generation) {
			snapshot->users++;
			return snapshot;
		}
	}
	if (snapshots->count == SNAPSHOTS_MAX)
		return NULL;
	snapshot = malloc(sizeof(*snapshot) + table->used);
	if (!snapshot)
		return NULL;
	snapshot->generation = table->generation;
	snapshot->users = 1;
	snapshot->length = table->used;
	memcpy(snapshot->bytes, table->memory, table->used);
	LIST_INSERT_HEAD(&snapshots->list, snapshot, link);
	snapshots->count++;
	return snapshot;
}

void snapshots__release(struct snapshots *snapshots, struct snapshot *snapshot)
{
	if (--snapshot->users)
		return;
	LIST_REMOVE(snapshot, link);
	snapshots->count--;
	free(snapshot);
}
