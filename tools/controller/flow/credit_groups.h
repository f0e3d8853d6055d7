/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The order in which groups of queue pairs are read (ZERO, sections 4.3 and 7).  An adapter
 * caches the state of a limited number of queue pairs; if all of them took turns, it would fetch
 * the state of another queue pair for each READ.  So if credits are short, flows enter the line
 * for credits group by group instead of one by one: a group enters when no flow of its class is
 * left in line.  Meanwhile the next group is warmed: each of its flows requests one credit, and
 * with this first fragment the adapter fetches the state of the flow's queue pair while it serves
 * the current group.
 *
 * Groups wait in order of arrival within their class.  A flow that wants more credits after its
 * group entered the line waits for the group's next turn, so no group starves.  While credits
 * are free no flow waits.
 *
 * Flows whose answers cannot be cut need no state in an adapter that would be short of room: all
 * flows of a class are one group, which is not warmed, and which waits for its turn like other
 * groups.  Each flow gets all its credits at once: see credit__ask_whole().
 *
 * Pure code, like credit.h; loops only over the flows of one group.
 */
#ifndef CONTROLLER_CREDIT_GROUPS_H
#define CONTROLLER_CREDIT_GROUPS_H

#include "credit.h"

/* The user provides zeroed memory, and leaves the members alone. */
struct credit_member {
	struct credit_flow flow; /* first: a pointer to it is cast to the member */
	TAILQ_ENTRY(credit_member)
	place; /* in credit_group.members */
	struct credit_group *group; /* the group that it waits with; NULL: it does not wait */
	uint32_t pending; /* fragments to request when the group enters the line */
};

/* The flows of a class in a group. */
struct credit_group {
	TAILQ_ENTRY(credit_group) place; /* in credit_groups.waiting */
	TAILQ_HEAD(, credit_member) members; /* that wait */
	bool is_waiting;
	bool is_whole; /* set by the user: its flows get all credits at once or none */
	bool is_warm; /* the next group to enter: its first fragments were requested */
};

struct credit_groups {
	struct credit credit;
	TAILQ_HEAD(, credit_group) waiting[CREDIT_CLASSES];
	uint32_t waiting_count; /* of all classes */
};

/* Takes the limits of credit__init(). */
void credit_groups__init(struct credit_groups *groups, uint64_t bytes, uint64_t flow_bytes);
void credit_group__init(struct credit_group *group);

/*
 * Like credit__ask(), or credit__ask_whole() if the group is whole.  A flow always passes the
 * same @group and @class, and the flows of a group all pass the same @class.
 */
void credit_groups__ask(struct credit_groups *groups, struct credit_group *group,
			struct credit_member *member, uint8_t class, uint32_t fragments);
/* Like credit__grant(), credit__give_back() and credit__cancel(). */
struct credit_member *credit_groups__grant(struct credit_groups *groups, uint32_t *fragments);
void credit_groups__give_back(struct credit_groups *groups, struct credit_member *member,
			      uint32_t fragments);
void credit_groups__cancel(struct credit_groups *groups, struct credit_member *member);

#endif /* CONTROLLER_CREDIT_GROUPS_H */
