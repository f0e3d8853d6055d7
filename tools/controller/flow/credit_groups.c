// SPDX-License-Identifier: GPL-2.0-only
/* Lets flows into the line for credits, group by group. */
#include "credit_groups.h"

#include <stddef.h>

void credit_groups__init(struct credit_groups *groups, uint64_t bytes, uint64_t flow_bytes)
{
	credit__init(&groups->credit, bytes, flow_bytes);
	for (int i = 0; i < CREDIT_CLASSES; i++)
		TAILQ_INIT(&groups->waiting[i]);
}

void credit_group__init(struct credit_group *group)
{
	*group = (struct credit_group){};
	TAILQ_INIT(&group->members);
}

static void credit_member__wait(struct credit_member *member, struct credit_group *group)
{
	TAILQ_INSERT_TAIL(&group->members, member, place);
	member->group = group;
}

static void credit_member__wait_no_more(struct credit_member *member)
{
	TAILQ_REMOVE(&member->group->members, member, place);
	member->group = NULL;
	member->pending = 0;
}

/* Requests one of the pending fragments of @member ahead of its group, unless none is pending. */
static void credit_member__warm(struct credit_groups *groups, struct credit_member *member,
				uint8_t class)
{
	if (!member->pending || member->group->is_whole)
		return;
	member->pending--;
	credit__ask(&groups->credit, &member->flow, class, 1);
}

void credit_groups__ask(struct credit_groups *groups, struct credit_group *group,
			struct credit_member *member, uint8_t class, uint32_t fragments)
{
	const uint32_t room = UINT32_MAX - member->pending;
	const bool joins = !member->group;

	if (!fragments)
		return;
	if (joins)
		credit_member__wait(member, group);
	member->pending += fragments < room ? fragments : room;
	if (!group->is_waiting) {
		TAILQ_INSERT_TAIL(&groups->waiting[class], group, place);
		group->is_waiting = true;
		groups->waiting_count++;
	} else if (group->is_warm && joins) {
		/* Only once in each turn, or the line would never become empty for the group. */
		credit_member__warm(groups, member, class);
	}
}

static void credit_groups__warm(struct credit_groups *groups, uint8_t class)
{
	struct credit_group *group = TAILQ_FIRST(&groups->waiting[class]);
	struct credit_member *member;

	if (!group || group->is_warm)
		return;
	group->is_warm = true;
	TAILQ_FOREACH(member, &group->members, place)
		credit_member__warm(groups, member, class);
}

/* Moves the first waiting group of @class into the line; false if no group waits. */
static bool credit_groups__let_in(struct credit_groups *groups, uint8_t class)
{
	struct credit_group *group = TAILQ_FIRST(&groups->waiting[class]);
	struct credit_member *member;
	uint32_t pending;

	if (!group)
		return false;
	TAILQ_REMOVE(&groups->waiting[class], group, place);
	group->is_waiting = false;
	group->is_warm = false;
	groups->waiting_count--;
	while ((member = TAILQ_FIRST(&group->members))) {
		pending = member->pending;
		credit_member__wait_no_more(member);
		if (group->is_whole)
			credit__ask_whole(&groups->credit, &member->flow, class, pending);
		else
			credit__ask(&groups->credit, &member->flow, class, pending);
	}
	return true;
}

static void credit_groups__fill_lines(struct credit_groups *groups)
{
	const struct credit_line *line = groups->credit.lines;

	for (int i = 0; i < CREDIT_CLASSES; i++, line++) {
		while (TAILQ_EMPTY(&line->flows) && credit_groups__let_in(groups, i))
			;
		credit_groups__warm(groups, i);
	}
}

/* True if groups wait while the lines of all classes are empty. */
static bool credit_groups__can_go_on(const struct credit_groups *groups)
{
	return groups->waiting_count && !groups->credit.waiting;
}

struct credit_member *credit_groups__grant(struct credit_groups *groups, uint32_t *fragments)
{
	struct credit_flow *flow;

	while (groups->credit.free) {
		if (groups->waiting_count)
			credit_groups__fill_lines(groups);
		flow = credit__grant(&groups->credit, fragments);
		if (flow)
			return (struct credit_member *)flow;
		/* Flows with their full share left the lines, which may be empty now. */
		if (!credit_groups__can_go_on(groups))
			break;
	}
	return NULL;
}

void credit_groups__give_back(struct credit_groups *groups, struct credit_member *member,
			      uint32_t fragments)
{
	credit__give_back(&groups->credit, &member->flow, fragments);
}

void credit_groups__cancel(struct credit_groups *groups, struct credit_member *member)
{
	if (member->group)
		credit_member__wait_no_more(member);
	credit__cancel(&groups->credit, &member->flow);
}
