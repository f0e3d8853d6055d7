// SPDX-License-Identifier: GPL-2.0-only
/* Shares copies of the table. */
#include <stdlib.h>
#include <string.h>

#include "snapshot.h"

void snapshots__open(struct snapshots *snapshots, struct control_region *control_region)
{
	*snapshots = (struct snapshots){ .control_region = control_region };
	TAILQ_INIT(&snapshots->list);
}

/* Its users notice that its bytes are gone. */
static void snapshots__withdraw(struct snapshots *snapshots, struct snapshot *snapshot)
{
	TAILQ_REMOVE(&snapshots->list, snapshot, link);
	snapshots->count--;
	free(snapshot->bytes);
	snapshot->bytes = NULL;
}

static struct snapshot *snapshot__new(const struct control_region *table)
{
	struct snapshot *snapshot = malloc(sizeof(*snapshot));

	if (!snapshot)
		return NULL;
	*snapshot = (struct snapshot){
		.generation = table->generation,
		.length = table->used,
		.bytes = malloc(table->used),
	};
	if (!snapshot->bytes) {
		free(snapshot);
		return NULL;
	}
	memcpy(snapshot->bytes, table->memory, table->used);
	return snapshot;
}

struct snapshot *snapshots__take(struct snapshots *snapshots)
{
	const struct control_region *table = snapshots->control_region;
	struct snapshot *last = TAILQ_LAST(&snapshots->list, snapshots_list);

	if (!last || last->generation != table->generation) {
		if (snapshots->count == SNAPSHOTS_MAX)
			snapshots__withdraw(snapshots, TAILQ_FIRST(&snapshots->list));
		last = snapshot__new(table);
		if (!last)
			return NULL;
		TAILQ_INSERT_TAIL(&snapshots->list, last, link);
		snapshots->count++;
	}
	last->users++;
	return last;
}

void snapshots__release(struct snapshots *snapshots, struct snapshot *snapshot)
{
	if (--snapshot->users)
		return;
	if (snapshot->bytes)
		snapshots__withdraw(snapshots, snapshot);
	free(snapshot);
}
