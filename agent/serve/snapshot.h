/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Copies of the table, which are sent while the table changes.  Answers with the same generation
 * share one, and there are few at a time: their memory is bounded.  A session that needs one more
 * gets it, and the oldest one is withdrawn from the sessions that are too slow.
 */
#ifndef SNAPSHOT_H
#define SNAPSHOT_H

#include <stdint.h>
#include <sys/queue.h>

#include "agent/table/control_region.h"

/* Of different generations, being sent: of all transports. */
#define SNAPSHOTS_MAX 8

struct snapshot {
	TAILQ_ENTRY(snapshot) link;
	uint64_t generation;
	uint32_t users;
	uint32_t length;	/* bytes of the table */
	uint8_t *bytes;		/* NULL: it was withdrawn, and is in no list */
};

struct snapshots {
	struct control_region *control_region;
	TAILQ_HEAD(snapshots_list, snapshot) list;	/* the oldest first */
	uint32_t count;
};

void snapshots__open(struct snapshots *snapshots, struct control_region *control_region);
/* The table as it is now; NULL: out of memory. */
struct snapshot *snapshots__take(struct snapshots *snapshots);
void snapshots__release(struct snapshots *snapshots, struct snapshot *snapshot);

#endif /* SNAPSHOT_H */
