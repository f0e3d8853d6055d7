// SPDX-License-Identifier: GPL-2.0-only
/* Which targets this controller does not reach: see unreached.h. */
#include "unreached.h"

#include "target.h"
#include "tools/controller/base/schedule.h"

/* Parts of a session time-out: until a target is not reached, */
#define AFTER 3
/* without a call, after which this controller was stopped, */
#define PAUSE 4
/* and between two looks at all targets. */
#define LOOKS 32

static bool is_missed(const struct target_set *set, size_t index,
		      const struct membership *membership, uint64_t resumed_ns,
		      unsigned int *portion)
{
	struct target *target = target_set__target(set, index);
	const char *name;

	if (!target || target_set__is_ending(set, index) ||
	    !target__is_missed(target, resumed_ns, membership->session_ns / AFTER))
		return false;
	name = target__settings(target)->name;
	*portion = shard__portion(name);
	return membership__rank(membership, name, membership->shard.member) <
	       (membership->shard.replication ?: 1);
}

static void unreached__look_at_all(struct unreached *unreached, const struct target_set *set,
				   const struct membership *membership, uint64_t now_ns)
{
	unsigned int portion;
	size_t i;

	unreached->looked_ns = now_ns;
	for (i = 0; i < target_set__end_index(set); i++) {
		if (!is_missed(set, i, membership, unreached->resumed_ns, &portion))
			continue;
		portion_set__add(&unreached->portions, portion);
		unreached->missed_ns[portion] = now_ns;
	}
	for (portion = 0; portion < SHARD_PORTIONS; portion++)
		if (now_ns - unreached->missed_ns[portion] >= membership->session_ns)
			portion_set__remove(&unreached->portions, portion);
}

const struct portion_set *unreached__look(struct unreached *unreached, const struct target_set *set,
					  const struct membership *membership)
{
	const uint64_t session_ns = membership->session_ns, now_ns = monotonic_ns();

	if (!session_ns || !membership->is_known) {
		unreached->portions = (struct portion_set){};
		return &unreached->portions;
	}
	if (now_ns - unreached->asked_ns > session_ns / PAUSE)
		unreached->resumed_ns = now_ns;
	unreached->asked_ns = now_ns;
	if (now_ns - unreached->looked_ns >= session_ns / LOOKS)
		unreached__look_at_all(unreached, set, membership, now_ns);
	return &unreached->portions;
}
