/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The order in which groups of queue pairs are read (ZERO, sections 4.3 and 7).  An adapter
 * has room for the state of so many queue pairs; if all of them took turns, it would have to
 * fetch that state for each READ.  So if there are not enough credits for all flows that
 * want some, they are not let into the line one by one but group by group: a group when
 * nobody of its class is left in line.  Meanwhile each flow of the next group gets one
 * credit in its turn: with its first fragment the adapter fetches the state of its queue
 * pair, while those of the present group are read.
 *
 * Groups wait in order of arrival within their class.  A flow that wants more after its
 * group was let in waits with it for its next turn, so no group starves.  While credits
 * last nobody waits.
 *
 * Flows whose answers cannot be cut have no state in an adapter that counts: those of a class
 * are one group, which is not warmed, and which waits for its turn as others do.  Each gets
 * what it wants at once: see credit__ask_whole().
 *
 * Pure code, as credit.h; loops over the flows of one group only.
 */
#ifndef CONTROLLER_CREDIT_GROUPS_H
#define CONTROLLER_CREDIT_GROUPS_H

#include "credit.h"

/* Belongs to its user, who leaves the members alone, in zeroed memory. */
struct credit_member {
	struct credit_flow flow; /* first: a member is found by it */
	TAILQ_ENTRY(credit_member)
	place; /* among those of its group that wait */
	struct credit_group *group; /* that it waits with; NULL: it does not wait */
	uint32_t pending; /* fragments, asked for when the group is let in */
};

/* The flows of a class in a group. */
struct credit_group {
	TAILQ_ENTRY(credit_group) place; /* among those that wait */
	TAILQ_HEAD(, credit_member) members; /* that wait */
	bool is_waiting;
	bool is_whole; /* set by its user: of flows that get what they want at once */
	bool is_warm; /* the next one: the first fragments have been asked for */
};

struct credit_groups {
	struct credit credit;
	TAILQ_HEAD(, credit_group) waiting[CREDIT_CLASSES];
	uint32_t waiting_count; /* of all classes */
};

/* As credit__init(). */
void credit_groups__init(struct credit_groups *groups, uint64_t bytes, uint64_t flow_bytes);
void credit_group__init(struct credit_group *group);

/*
 * As credit__ask(), or credit__ask_whole(); @group is always the same for this @class and
 * these flows.
 */
void credit_groups__ask(struct credit_groups *groups, struct credit_group *group,
			struct credit_member *member, uint8_t class, uint32_t fragments);
/* As credit__grant(), credit__give_back() and credit__cancel(). */
struct credit_member *credit_groups__grant(struct credit_groups *groups, uint32_t *fragments);
void credit_groups__give_back(struct credit_groups *groups, struct credit_member *member,
			      uint32_t fragments);
void credit_groups__cancel(struct credit_groups *groups, struct credit_member *member);

#endif /* CONTROLLER_CREDIT_GROUPS_H */
