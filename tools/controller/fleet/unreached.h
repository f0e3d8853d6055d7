/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The portions of targets (settings/shard.h) that this controller does not reach, for the other
 * members of its shard, which then take them over.
 *
 * A portion belongs to them once one of its targets has had no values for a third of the session
 * time-out more than its interval, or no connection for a third of the session time-out: so the
 * next member takes over, and the one after that, before a session time-out is over.  It belongs to
 * them until all its targets have been reached for a whole session time-out, whether this
 * controller scrapes them or stands by: a target that comes and goes moves once.  Only targets
 * count that this controller would scrape or stand by for if each member reached everything.
 *
 * A controller that was stopped asked nobody meanwhile: the time begins when it goes on.
 */
#ifndef CONTROLLER_UNREACHED_H
#define CONTROLLER_UNREACHED_H

#include "tools/controller/discovery/target_set.h"
#include "tools/controller/settings/shard.h"

struct unreached {
	struct portion_set portions;
	uint64_t missed_ns[SHARD_PORTIONS]; /* when a target was last not reached */
	uint64_t asked_ns; /* the last call */
	uint64_t looked_ns; /* the last call that looked at all targets */
	uint64_t resumed_ns; /* calls came no more for a while, until then */
};

/*
 * Zeroed at first.  To be called several times in a session time-out, in the control loop; it looks
 * at the targets of @set now and then.  Without a list of members that tells the session time-out,
 * the set stays empty.
 */
const struct portion_set *unreached__look(struct unreached *unreached, const struct target_set *set,
					  const struct membership *membership);

#endif /* CONTROLLER_UNREACHED_H */
