/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The audience: the connected controllers, over all transports, and how often each one reads the
 * values.  A peer that does not tell its interval does not belong to it.
 */
#ifndef AUDIENCE_H
#define AUDIENCE_H

#include <stdint.h>
#include <sys/queue.h>

/* Embedded in the connection of a controller. */
struct audience_member {
	LIST_ENTRY(audience_member) link;
	uint32_t interval_ms; /* 0: did not join */
};

struct audience {
	LIST_HEAD(, audience_member) members;
};

static inline void audience__open(struct audience *audience)
{
	LIST_INIT(&audience->members);
}

/* @interval_ms as the peer told it, which may be hostile; 0: it did not. */
static inline void audience__join(struct audience *audience, struct audience_member *member,
				  uint32_t interval_ms)
{
	member->interval_ms = interval_ms;
	if (interval_ms)
		LIST_INSERT_HEAD(&audience->members, member, link);
}

/* Does nothing for a peer that did not join. */
static inline void audience__leave(struct audience_member *member)
{
	if (member->interval_ms)
		LIST_REMOVE(member, link);
	member->interval_ms = 0;
}

/* The longest interval of a member, in ms; 0 without members. */
static inline uint32_t audience__slowest_ms(const struct audience *audience)
{
	const struct audience_member *member;
	uint32_t slowest = 0;

	LIST_FOREACH(member, &audience->members, link)
	if (member->interval_ms > slowest)
		slowest = member->interval_ms;
	return slowest;
}

#endif /* AUDIENCE_H */
