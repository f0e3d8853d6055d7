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
	memset(roster->unreached, 0, sizeof(roster->unreached));
	roster->unreaching = 0;
}

void roster__confirm(struct roster *roster, uint64_t begun_ns)
{
	roster->is_confirmed = true;
	if (begun_ns > roster->confirmed_ns)
		roster->confirmed_ns = begun_ns;
	if (roster->confirmed_ns > roster->lapsed_ns)
		roster->lapsed_ns = 0;
}

void roster_nodes__add(struct roster_nodes *nodes, unsigned int member,
		       const struct portion_set *portions)
{
	struct portion_set *unreached = &nodes->unreached[member - 1];
	unsigned int i;

	for (i = 0; i < SHARD_PORTIONS / 64; i++)
		unreached->bits[i] |= portions->bits[i];
	nodes->unreaching |= 1ULL << (member - 1);
}

static void roster__take_unreached(struct roster *roster, const struct roster_nodes *nodes)
{
	const unsigned int words = SHARD_PORTIONS / 64;
	struct roster_unreached *unreached;
	unsigned int i, word;
	uint64_t rest;

	roster->unreaching |= nodes->unreaching;
	for (rest = roster->unreaching; rest; rest &= rest - 1) {
		i = __builtin_ctzll(rest);
		unreached = &roster->unreached[i];
		if (memcmp(&unreached->told, &nodes->unreached[i], sizeof(unreached->told)))
			unreached->since = nodes->version;
		unreached->told = nodes->unreached[i];
		/* The own portions are named at once, and others' are no longer named at once. */
		for (word = 0; word < words; word++) {
			if (i + 1 == roster->member)
				unreached->listed.bits[word] |= unreached->told.bits[word];
			else
				unreached->listed.bits[word] &= unreached->told.bits[word];
		}
	}
}

void roster__take(struct roster *roster, const struct roster_nodes *news)
{
	const struct member_set *nodes = &news->present;
	const uint64_t version = news->version;
	const unsigned int own = roster->member;
	const bool was_there = roster->is_known && member_set__has(&roster->present, own);
	const bool is_node = member_set__has(nodes, own);
	const bool is_there = roster->has_node && is_node;
	unsigned int i, k;

	/* Nodes that are older than the end of the own one do not show it: a later version will. */
	if (!roster->is_known || was_there != is_there || is_there != is_node)
		roster->since = version + (is_there != is_node);
	roster->present = *nodes;
	/* A node of an earlier session is not this controller any more. */
	if (!is_there)
		member_set__remove(&roster->present, own);
	roster->version = version;
	roster->is_known = true;
	roster__take_unreached(roster, news);
	for (i = 0; i < SHARD_MEMBERS_MAX; i += 64) {
		/* Most numbers are of no member. */
		if (!nodes->bits[i / 64])
			memset(&roster->used[i], 0, 64 * sizeof(roster->used[0]));
		for (k = i; nodes->bits[i / 64] && k < i + 64; k++)
			if (!member_set__has(nodes, k + 1))
				roster->used[k] = 0;
	}
}

void roster__hear(struct roster *roster, const struct roster_answer *answer)
{
	roster->answer = *answer;
}

void roster__lose_controller(struct roster *roster)
{
	roster->answer = (struct roster_answer){};
}

bool roster__has_controller(const struct roster *roster, uint64_t now_ns)
{
	const struct roster_answer *answer = &roster->answer;

	return answer->begun_ns && now_ns < answer->begun_ns + roster->session_ns &&
	       answer->stage != ROSTER_LEAVES;
}

bool roster__wants_node(const struct roster *roster, uint64_t now_ns)
{
	const struct roster_answer *answer = &roster->answer;

	if (!roster__has_controller(roster, now_ns))
		return false;
	if (answer->stage == ROSTER_STARTS)
		return roster->has_node && answer->is_named;
	/* Without a list of the others it does not know its targets. */
	return roster->has_node || (roster->is_known && !answer->is_named &&
				    (answer->used || !member_set__count(&roster->present)));
}

/* Do all other members that are there use this version, or a later one? */
static bool roster__is_used(const struct roster *roster, uint64_t version)
{
	unsigned int word, i;
	uint64_t rest;

	for (word = 0; word < SHARD_MEMBERS_MAX / 64; word++) {
		for (rest = roster->present.bits[word]; rest; rest &= rest - 1) {
			i = word * 64 + __builtin_ctzll(rest);
			if (i + 1 != roster->member && roster->used[i] < version)
				return false;
		}
	}
	return true;
}

bool roster__is_agreed(const struct roster *roster)
{
	return roster__is_used(roster, roster->since);
}

static void roster__list_unreached(struct roster *roster, struct member_list *list)
{
	struct roster_unreached *unreached;
	unsigned int i;
	uint64_t rest;

	/* The list begins as the one that was written, so other members have no portions. */
	for (rest = roster->unreaching | roster->listed; rest; rest &= rest - 1) {
		i = __builtin_ctzll(rest);
		unreached = &roster->unreached[i];
		if (i + 1 == roster->member ? roster__is_used(roster, unreached->since) :
					      roster->used[i] >= unreached->since)
			unreached->listed = unreached->told;
		list->unreached[i] = unreached->listed;
		if (portion_set__is_empty(&unreached->listed) &&
		    portion_set__is_empty(&unreached->told))
			roster->unreaching &= ~(1ULL << i);
	}
}

static uint64_t earlier(uint64_t one_ns, uint64_t other_ns)
{
	return one_ns < other_ns ? one_ns : other_ns;
}

/* Until when a list that is made now is valid; 0: it is not. */
static uint64_t roster__valid_ns(const struct roster *roster, uint64_t now_ns)
{
	uint64_t since_ns = roster->confirmed_ns;

	if (!roster->has_session || !roster->answer.begun_ns || roster->lapsed_ns)
		return 0;
	if (!roster->is_confirmed && roster->goes_on)
		since_ns = now_ns;
	return earlier(since_ns, roster->answer.begun_ns) + roster->session_ns;
}

/* The last list is over at once, as 0 would be without an end.  False: it is over already. */
static bool roster__end_list(const struct roster *roster, uint64_t now_ns,
			     struct member_list *list)
{
	const uint64_t valid_ns = roster->written.valid_ns;

	list->valid_ns = 1;
	return valid_ns > 1 && now_ns < valid_ns;
}

bool roster__list(struct roster *roster, uint64_t now_ns, struct member_list *list)
{
	const struct member_list *written = &roster->written;
	const bool was_valid = written->valid_ns > 1;
	const bool is_starting = roster->answer.stage == ROSTER_STARTS;
	bool has_unreached;

	*list = *written;
	/* Whatever stopped this program stopped it for longer than the list was valid. */
	if (was_valid && now_ns >= written->valid_ns && !roster->lapsed_ns &&
	    roster->confirmed_ns < written->valid_ns)
		roster->lapsed_ns = now_ns;
	list->valid_ns = roster__valid_ns(roster, now_ns);
	if (!roster->is_known || list->valid_ns <= now_ns) {
		/* Whoever starts must not believe the list of a controller that is dead. */
		return (!roster->has_session || !roster->answer.begun_ns) &&
		       roster__end_list(roster, now_ns, list);
	}
	list->present = roster->present;
	list->version = roster->version;
	list->is_agreed = roster__is_agreed(roster);
	list->session_ns = roster->session_ns;
	has_unreached = roster->unreaching | roster->listed;
	roster__list_unreached(roster, list);
	if (is_starting) {
		member_set__remove(&list->present, roster->member);
		list->is_agreed = false;
	}
	/* A list names somebody: the last member that leaves has nobody to tell. */
	if (!member_set__count(&list->present)) {
		list->present = written->present;
		return roster->answer.stage != ROSTER_LEAVES && roster->answer.is_named &&
		       roster__end_list(roster, now_ns, list);
	}
	return memcmp(&list->present, &written->present, sizeof(list->present)) ||
	       (has_unreached &&
		memcmp(list->unreached, written->unreached, sizeof(list->unreached))) ||
	       list->version != written->version || list->is_agreed != written->is_agreed ||
	       list->valid_ns >= written->valid_ns + roster->session_ns / RENEWALS;
}

void roster__set_written(struct roster *roster, const struct member_list *list)
{
	unsigned int i;

	roster->written = *list;
	roster->listed = 0;
	for (i = 0; i < SHARD_UNREACHED_MEMBERS; i++)
		if (!portion_set__is_empty(&list->unreached[i]))
			roster->listed |= 1ULL << i;
}
