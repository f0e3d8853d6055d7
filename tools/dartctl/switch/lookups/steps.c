// SPDX-License-Identifier: GPL-2.0-only
/* The steps that change a switch with lookup tables, in a safe order: see lookup_steps.h. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "steps.h"

struct change {
	const struct lookup_state *now, *wanted;
	const struct dart_tea_tables *last;
	struct lookup_steps *steps;
	bool is_out_of_memory;
	bool stops[DART_TEA_SERVERS_MAX]; /* a server, until the end */
	bool leaves[DART_TEA_SHARES]; /* a share, likewise */
};

static void add(struct change *change, enum lookup_verb verb,
		enum lookup_object object, uint32_t number)
{
	struct lookup_steps *steps = change->steps;
	size_t room = steps->room ? 2 * steps->room : 64;
	struct lookup_step *list;

	if (steps->count == steps->room) {
		list = reallocarray(steps->list, room, sizeof(*list));
		if (!list) {
			change->is_out_of_memory = true;
			return;
		}
		steps->list = list;
		steps->room = room;
	}
	steps->list[steps->count++] =
		(struct lookup_step){ verb, object, number, number };
}

/* Adjacent objects with the same step are one step, if @joins. */
static void add_joined(struct change *change, enum lookup_verb verb,
		       enum lookup_object object, uint32_t number, bool joins)
{
	struct lookup_steps *steps = change->steps;
	struct lookup_step *last;

	if (joins && steps->count) {
		last = &steps->list[steps->count - 1];
		if (last->object == object && last->verb == verb &&
		    last->last + 1 == number) {
			last->last = number;
			return;
		}
	}
	add(change, verb, object, number);
}

static void add_share(struct change *change, enum lookup_verb verb,
		      uint32_t share)
{
	const struct switch_entry *wanted = change->wanted->shares;

	add_joined(change, verb, LOOKUP_STEP_SHARE, share,
		   verb == LOOKUP_REMOVE ||
			   (share && switch_entry__equal(&wanted[share - 1],
							 &wanted[share])));
}

/* ---- servers */

/* Is it at another place than the one whose entry the switch has? */
static bool is_other_server(const struct switch_entry *now,
			    const struct switch_entry *wanted)
{
	return !now->there || !wanted->there ||
	       now->values[SERVER_IP] != wanted->values[SERVER_IP];
}

/* Has it another first PSN than it had when it was pushed before?  Switches do not know. */
static bool is_other_first_psn(const struct change *change, uint32_t number)
{
	const struct lookup_state *wanted = change->wanted;
	const uint64_t ip = wanted->servers[number].values[SERVER_IP];
	const struct dart_tea_tables *last = change->last;
	uint32_t i;

	for (i = 0; last && i < last->server_count; i++)
		if (ntohl(last->servers[i].ip.s_addr) == ip)
			return last->servers[i].first_psn !=
			       wanted->first_psns[number];
	return false;
}

/*
 * A new queue pair expects its first PSN.  Its number may be one that the agent's device
 * has given before.
 */
static bool is_other_queue_pair(const struct change *change, uint32_t number)
{
	const struct switch_entry *now = &change->now->servers[number];
	const struct switch_entry *wanted = &change->wanted->servers[number];

	return is_other_server(now, wanted) ||
	       is_other_first_psn(change, number) ||
	       now->values[SERVER_QPN] != wanted->values[SERVER_QPN] ||
	       now->values[SERVER_RKEY] != wanted->values[SERVER_RKEY] ||
	       now->values[SERVER_BASE] != wanted->values[SERVER_BASE] ||
	       now->values[SERVER_EPOCH] != wanted->values[SERVER_EPOCH];
}

static void stop_servers(struct change *change)
{
	uint32_t number;

	for (number = 0; number < DART_TEA_SERVERS_MAX; number++) {
		if (!change->now->servers[number].there &&
		    !change->wanted->servers[number].there)
			continue;
		if (!is_other_queue_pair(change, number))
			continue;
		change->stops[number] = true;
		if (change->now->states[number] != LOOKUP_STOPPED)
			add(change, LOOKUP_STOP, LOOKUP_STEP_SERVER, number);
	}
}

/* Responses of these do not count any more. */
static void remove_from(struct change *change)
{
	uint32_t i;

	for (i = 0; i < change->now->from_count; i++)
		if (lookup_state__from(change->wanted,
				       change->now->from[i].ip) ==
		    change->wanted->from_count)
			add(change, LOOKUP_REMOVE, LOOKUP_STEP_FROM, i);
}

static void add_from(struct change *change, uint32_t number)
{
	const struct lookup_from *from = change->wanted->from;
	uint32_t i, there;

	for (i = 0; i < change->wanted->from_count; i++)
		if (from[i].entry.values[FROM_SERVER] == number)
			break;
	if (i == change->wanted->from_count)
		return;
	there = lookup_state__from(change->now, from[i].ip);
	if (there == change->now->from_count)
		add(change, LOOKUP_ADD, LOOKUP_STEP_FROM, i);
	else if (!switch_entry__equal(&change->now->from[there].entry,
				      &from[i].entry))
		add(change, LOOKUP_CHANGE, LOOKUP_STEP_FROM, i);
}

/* Another queue pair: the old entry goes first, so that a push which ends here begins anew. */
static void replace_server(struct change *change, uint32_t number)
{
	if (change->now->servers[number].there)
		add(change, LOOKUP_REMOVE, LOOKUP_STEP_SERVER, number);
	if (!change->wanted->servers[number].there)
		return;
	add(change, LOOKUP_CHANGE, LOOKUP_STEP_PSN, number);
	add_from(change, number);
	add(change, LOOKUP_ADD, LOOKUP_STEP_SERVER, number);
}

static void change_servers(struct change *change)
{
	uint32_t number;

	for (number = 0; number < DART_TEA_SERVERS_MAX; number++) {
		if (change->stops[number]) {
			replace_server(change, number);
			continue;
		}
		if (!change->wanted->servers[number].there)
			continue;
		add_from(change, number);
		if (!switch_entry__equal(&change->now->servers[number],
					 &change->wanted->servers[number]))
			add(change, LOOKUP_CHANGE, LOOKUP_STEP_SERVER, number);
	}
}

/* Those that an earlier push stopped, and then failed, are started as well. */
static void start_servers(struct change *change)
{
	uint32_t number;

	for (number = 0; number < DART_TEA_SERVERS_MAX; number++)
		if (change->wanted->servers[number].there &&
		    (change->stops[number] ||
		     change->now->states[number] == LOOKUP_STOPPED))
			add(change, LOOKUP_START, LOOKUP_STEP_SERVER, number);
}

/* ---- shares */

static bool is_lost(const struct change *change, uint64_t number)
{
	return number >= DART_TEA_SERVERS_MAX ||
	       is_other_server(&change->now->servers[number],
			       &change->wanted->servers[number]);
}

static bool must_leave(const struct change *change, uint32_t share)
{
	const struct switch_entry *now = &change->now->shares[share];

	return now->there &&
	       (!change->wanted->shares[share].there ||
		is_lost(change, now->values[LOOKUP_SHARE_FIRST]) ||
		is_lost(change, now->values[LOOKUP_SHARE_SECOND]));
}

static void remove_shares(struct change *change)
{
	uint32_t share;

	for (share = 0; share < DART_TEA_SHARES; share++) {
		change->leaves[share] = must_leave(change, share);
		if (change->leaves[share])
			add_share(change, LOOKUP_REMOVE, share);
	}
}

static void add_shares(struct change *change)
{
	const struct switch_entry *now, *wanted;
	uint32_t share;

	for (share = 0; share < DART_TEA_SHARES; share++) {
		now = &change->now->shares[share];
		wanted = &change->wanted->shares[share];
		if (!wanted->there)
			continue;
		if (!now->there || change->leaves[share])
			add_share(change, LOOKUP_ADD, share);
		else if (!switch_entry__equal(now, wanted))
			add_share(change, LOOKUP_CHANGE, share);
	}
}

/* ---- the rest */

static void add_ways(struct change *change)
{
	const struct lookup_state *now = change->now, *wanted = change->wanted;
	uint32_t port;

	for (port = 0; port < SWITCH_PORTS; port++) {
		if (wanted->groups[port] > now->groups[port])
			add(change,
			    now->groups[port] ? LOOKUP_CHANGE : LOOKUP_ADD,
			    LOOKUP_STEP_GROUP, port);
		if (wanted->sessions[port] > now->sessions[port])
			add(change,
			    now->sessions[port] ? LOOKUP_CHANGE : LOOKUP_ADD,
			    LOOKUP_STEP_SESSION, port);
	}
}

static void add_self(struct change *change)
{
	const struct switch_entry *now = &change->now->self;

	if (!switch_entry__equal(now, &change->wanted->self))
		add(change, now->there ? LOOKUP_CHANGE : LOOKUP_ADD,
		    LOOKUP_STEP_SELF, 0);
}

static void add_otherwise(struct change *change)
{
	const struct switch_entry *now, *wanted;
	uint32_t i;

	for (i = 0; i < LOOKUP_OUTCOMES; i++) {
		now = &change->now->otherwise[i];
		wanted = &change->wanted->otherwise[i];
		if (switch_entry__equal(now, wanted))
			continue;
		add(change,
		    !wanted->there ? LOOKUP_REMOVE :
		    now->there	   ? LOOKUP_CHANGE :
				     LOOKUP_ADD,
		    LOOKUP_STEP_OTHERWISE, i);
	}
}

static int compare(const void *key, const void *element)
{
	const struct dart_tea_stashed *wanted = key;
	const struct lookup_stashed *stashed = element;

	return memcmp(wanted->key, stashed->entry.key, sizeof(wanted->key));
}

ptrdiff_t lookup_state__stashed(const struct lookup_state *now,
				const struct dart_tea_stashed *entry)
{
	const struct lookup_stashed *found = NULL;

	if (now->stashed_count)
		found = bsearch(entry, now->stashed, now->stashed_count,
				sizeof(*now->stashed), compare);
	return found ? found - now->stashed : -1;
}

/* Removes first: others may need the room. */
static void add_stash(struct change *change)
{
	const struct lookup_state *now = change->now, *wanted = change->wanted;
	const struct lookup_stashed *there;
	ptrdiff_t found;
	size_t i;

	for (i = 0; i < now->stashed_count; i++)
		if (lookup_state__stashed(wanted, &now->stashed[i].entry) < 0)
			add_joined(change, LOOKUP_REMOVE, LOOKUP_STEP_STASH, i,
				   true);
	for (i = 0; i < wanted->stashed_count; i++) {
		found = lookup_state__stashed(now, &wanted->stashed[i].entry);
		there = found < 0 ? NULL : &now->stashed[found];
		if (!there)
			add_joined(change, LOOKUP_ADD, LOOKUP_STEP_STASH, i,
				   true);
		else if (!there->is_ours ||
			 memcmp(there->entry.value,
				wanted->stashed[i].entry.value,
				sizeof(there->entry.value)))
			add_joined(change, LOOKUP_CHANGE, LOOKUP_STEP_STASH, i,
				   true);
	}
}

int lookup_steps__compute(const struct lookup_state *now,
			  const struct lookup_state *wanted,
			  const struct dart_tea_tables *last,
			  struct lookup_steps *steps)
{
	struct change change = {
		.now = now,
		.wanted = wanted,
		.last = last,
		.steps = steps,
	};

	steps->count = 0;
	remove_shares(&change);
	stop_servers(&change);
	remove_from(&change);
	if (now->cached_count)
		add(&change, LOOKUP_REMOVE, LOOKUP_STEP_CACHE, 0);
	add_self(&change);
	change_servers(&change);
	add_ways(&change);
	add_stash(&change);
	add_otherwise(&change);
	start_servers(&change);
	add_shares(&change);
	return change.is_out_of_memory ? -ENOMEM : 0;
}

void lookup_steps__free(struct lookup_steps *steps)
{
	free(steps->list);
	*steps = (struct lookup_steps){ .list = NULL };
}
