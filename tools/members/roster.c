// SPDX-License-Identifier: GPL-2.0-only
/* The consequences of the members that ZooKeeper knows: see roster.h. */
#include "roster.h"

#include <string.h>

/* A list is renewed after this part of a session time-out. */
#define RENEWALS 4

void roster__begin(struct roster *roster, unsigned int member, uint64_t session_ns, bool goes_on)
{
	*roster = (struct roster){
		.member = member,
		.session_ns = session_ns,
		.goes_on = goes_on,
	};
}

void roster__disconnect(struct roster *roster)
{
	roster->is_confirmed = false;
}

void roster__connect(struct roster *roster, uint64_t session_ns)
{
	roster->session_ns = session_ns;
	roster->has_session = true;
	roster->is_confirmed = false;
}

void roster__expire(struct roster *roster)
{
	roster->has_session = false;
	roster->is_confirmed = false;
	roster->has_node = false;
	roster->is_known = false;
	memset(roster->used, 0, sizeof(roster->used));
}

void roster__confirm(struct roster *roster, uint64_t begun_ns)
{
	roster->is_confirmed = true;
	if (begun_ns > roster->confirmed_ns)
		roster->confirmed_ns = begun_ns;
	if (roster->confirmed_ns > roster->lapsed_ns)
		roster->lapsed_ns = 0;
}

void roster__take(struct roster *roster, const struct member_set *nodes, uint64_t version)
{
	const unsigned int own = roster->member;
	const bool was_there = roster->is_known && member_set__has(&roster->present, own);
	bool is_there = roster->has_node && member_set__has(nodes, own);
	unsigned int i;

	if (!roster->is_known || was_there != is_there)
		roster->since = version;
	roster->present = *nodes;
	/* A node of an earlier session is not this controller any more. */
	if (!is_there)
		member_set__remove(&roster->present, own);
	roster->version = version;
	roster->is_known = true;
	for (i = 1; i <= SHARD_MEMBERS_MAX; i++)
		if (!member_set__has(nodes, i))
			roster->used[i - 1] = 0;
}

void roster__hear(struct roster *roster, uint64_t begun_ns, uint64_t used, bool is_leaving)
{
	roster->answered_ns = begun_ns;
	roster->own_used = used;
	roster->is_leaving = is_leaving;
}

void roster__lose_controller(struct roster *roster)
{
	roster->answered_ns = 0;
	roster->own_used = 0;
	roster->is_leaving = false;
}

bool roster__wants_node(const struct roster *roster, uint64_t now_ns)
{
	return roster->answered_ns && now_ns < roster->answered_ns + roster->session_ns &&
	       !roster->is_leaving;
}

bool roster__is_agreed(const struct roster *roster)
{
	unsigned int i;

	for (i = 1; i <= SHARD_MEMBERS_MAX; i++)
		if (i != roster->member && member_set__has(&roster->present, i) &&
		    roster->used[i - 1] < roster->since)
			return false;
	return true;
}

static uint64_t earlier(uint64_t one_ns, uint64_t other_ns)
{
	return one_ns < other_ns ? one_ns : other_ns;
}

/* Until when a list that is made now is valid; 0: it is not. */
static uint64_t roster__valid_ns(const struct roster *roster, uint64_t now_ns)
{
	uint64_t since_ns = roster->confirmed_ns;

	if (!roster->has_session || !roster->answered_ns || roster->lapsed_ns)
		return 0;
	if (!roster->is_confirmed && roster->goes_on)
		since_ns = now_ns;
	return earlier(since_ns, roster->answered_ns) + roster->session_ns;
}

bool roster__list(struct roster *roster, uint64_t now_ns, struct member_list *list)
{
	const struct member_list *written = &roster->written;
	const bool was_valid = written->valid_ns > 1;

	*list = *written;
	/* Whatever stopped this program stopped it for longer than the list was valid. */
	if (was_valid && now_ns >= written->valid_ns && !roster->lapsed_ns &&
	    roster->confirmed_ns < written->valid_ns)
		roster->lapsed_ns = now_ns;
	list->valid_ns = roster__valid_ns(roster, now_ns);
	if (!roster->is_known || list->valid_ns <= now_ns) {
		/* The last list is over at once, as 0 would be without an end. */
		list->valid_ns = 1;
		return was_valid && now_ns < written->valid_ns && !roster->has_session;
	}
	/* A list names somebody: the last member that leaves has nobody to tell. */
	if (!member_set__count(&roster->present))
		return false;
	list->present = roster->present;
	list->version = roster->version;
	list->is_agreed = roster__is_agreed(roster);
	return memcmp(&list->present, &written->present, sizeof(list->present)) ||
	       list->version != written->version || list->is_agreed != written->is_agreed ||
	       list->valid_ns >= written->valid_ns + roster->session_ns / RENEWALS;
}

void roster__set_written(struct roster *roster, const struct member_list *list)
{
	roster->written = *list;
}
