// SPDX-License-Identifier: GPL-2.0-only
/* The steps that change a switch with lookup tables, in a safe order, see steps.h. */
#include <arpa/inet.h>
#include <string.h>

#include "steps.h"

struct change {
	const struct lookup_state *now, *wanted;
	const struct dart_tea_tables *last;
	struct switch_steps *steps;
	bool stops[DART_TEA_SERVERS_MAX]; /* a server, until the end */
	bool leaves[DART_TEA_SHARES]; /* a share, likewise */
};

static void add(struct change *change, enum switch_verb verb, uint32_t object, uint32_t number)
{
	switch_steps__add(change->steps, verb, object, number);
}

/* ---- servers */

/* Has the server that is wanted another address than the one whose entry the switch has? */
static bool is_other_server(const struct switch_entry *now, const struct switch_entry *wanted)
{
	return !now->there || !wanted->there || now->values[SERVER_IP] != wanted->values[SERVER_IP];
}

/* Is the first PSN another one than in the last push?  The switch does not know the first PSN. */
static bool is_other_first_psn(const struct change *change, uint32_t number)
{
	const struct lookup_state *wanted = change->wanted;
	const uint64_t ip = wanted->servers[number].values[SERVER_IP];
	const struct dart_tea_tables *last = change->last;
	uint32_t i;

	for (i = 0; last && i < last->server_count; i++)
		if (ntohl(last->servers[i].ip.s_addr) == ip)
			return last->servers[i].first_psn != wanted->first_psns[number].values[0];
	return false;
}

/*
 * A new queue pair expects its first PSN.  The device of the agent may give it the number of an
 * earlier queue pair.
 */
static bool is_other_queue_pair(const struct change *change, uint32_t number)
{
	const struct switch_entry *now = &change->now->servers[number];
	const struct switch_entry *wanted = &change->wanted->servers[number];

	return is_other_server(now, wanted) || is_other_first_psn(change, number) ||
	       now->values[SERVER_QPN] != wanted->values[SERVER_QPN] ||
	       now->values[SERVER_RKEY] != wanted->values[SERVER_RKEY] ||
	       now->values[SERVER_BASE] != wanted->values[SERVER_BASE] ||
	       now->values[SERVER_EPOCH] != wanted->values[SERVER_EPOCH];
}

static void stop_servers(struct change *change)
{
	uint32_t number;

	for (number = 0; number < DART_TEA_SERVERS_MAX; number++) {
		if (!change->now->servers[number].there && !change->wanted->servers[number].there)
			continue;
		if (!is_other_queue_pair(change, number))
			continue;
		change->stops[number] = true;
		if (change->now->states[number] != LOOKUP_STOPPED)
			add(change, SWITCH_STOP, LOOKUP_SERVER, number);
	}
}

/* Responses of servers that leave do not count any more. */
static void remove_from(struct change *change)
{
	const struct switch_entry *from = change->now->from;
	uint32_t i;

	for (i = 0; i < DART_TEA_SERVERS_MAX; i++)
		if (from[i].there && !lookup_state__from(change->wanted, from[i].key))
			add(change, SWITCH_REMOVE, LOOKUP_FROM, i);
}

static const struct switch_entry nothing;

static void add_from(struct change *change, uint32_t number)
{
	const struct switch_entry *from = change->wanted->from, *now;
	uint32_t i;

	for (i = 0; i < DART_TEA_SERVERS_MAX; i++) {
		if (!from[i].there || from[i].values[FROM_SERVER] != number)
			continue;
		now = lookup_state__from(change->now, from[i].key) ?: &nothing;
		switch_steps__update(change->steps, LOOKUP_FROM, now, &from[i], i);
	}
}

/* Another queue pair: the old entry goes first, so that a push which ends here begins anew. */
static void replace_server(struct change *change, uint32_t number)
{
	if (change->now->servers[number].there)
		add(change, SWITCH_REMOVE, LOOKUP_SERVER, number);
	if (!change->wanted->servers[number].there)
		return;
	add(change, SWITCH_CHANGE, LOOKUP_PSN, number);
	add_from(change, number);
	add(change, SWITCH_ADD, LOOKUP_SERVER, number);
}

static void change_servers(struct change *change)
{
	uint32_t number;

	for (number = 0; number < DART_TEA_SERVERS_MAX; number++) {
		if (change->stops[number]) {
			replace_server(change, number);
		} else if (change->wanted->servers[number].there) {
			add_from(change, number);
			switch_steps__update(change->steps, LOOKUP_SERVER,
					     &change->now->servers[number],
					     &change->wanted->servers[number], number);
		}
	}
}

/* Also starts servers that an earlier push stopped before it failed. */
static void start_servers(struct change *change)
{
	uint32_t number;

	for (number = 0; number < DART_TEA_SERVERS_MAX; number++)
		if (change->wanted->servers[number].there &&
		    (change->stops[number] || change->now->states[number] == LOOKUP_STOPPED))
			add(change, SWITCH_START, LOOKUP_SERVER, number);
}

/* ---- shares */

static bool is_lost(const struct change *change, uint64_t number)
{
	return number >= DART_TEA_SERVERS_MAX ||
	       is_other_server(&change->now->servers[number], &change->wanted->servers[number]);
}

static bool must_leave(const struct change *change, uint32_t share)
{
	const struct switch_entry *now = &change->now->shares[share];

	return now->there && (!change->wanted->shares[share].there ||
			      is_lost(change, now->values[LOOKUP_SHARE_FIRST]) ||
			      is_lost(change, now->values[LOOKUP_SHARE_SECOND]));
}

static void remove_shares(struct change *change)
{
	uint32_t share;

	for (share = 0; share < DART_TEA_SHARES; share++)
		change->leaves[share] = must_leave(change, share);
	switch_steps__vacate(change->steps, LOOKUP_SHARE, change->leaves, DART_TEA_SHARES);
}

/* ---- the rest */

static void add_ways(struct change *change)
{
	const struct lookup_state *now = change->now, *wanted = change->wanted;
	uint32_t port;

	for (port = 0; port < SWITCH_PORTS; port++) {
		switch_steps__update(change->steps, LOOKUP_GROUP, &now->groups[port],
				     &wanted->groups[port], port);
		switch_steps__update(change->steps, LOOKUP_SESSION, &now->sessions[port],
				     &wanted->sessions[port], port);
	}
}

static void add_otherwise(struct change *change)
{
	const struct switch_entry *now = change->now->otherwise;
	const struct switch_entry *wanted = change->wanted->otherwise;
	uint32_t i;

	for (i = 0; i < LOOKUP_OUTCOMES; i++)
		if (now[i].there && !wanted[i].there)
			add(change, SWITCH_REMOVE, LOOKUP_OTHERWISE, i);
		else
			switch_steps__update(change->steps, LOOKUP_OTHERWISE, &now[i], &wanted[i],
					     i);
}

static void add_stashed(struct change *change, enum switch_verb verb, size_t index)
{
	switch_steps__join(change->steps, verb, LOOKUP_STASH, index, true);
}

/* Removes entries first, to make room. */
static void add_stash(struct change *change)
{
	const struct lookup_state *now = change->now, *wanted = change->wanted;
	const struct lookup_stashed *there, *stashed;
	ptrdiff_t found;
	size_t i;

	for (i = 0; i < now->stashed_count; i++)
		if (lookup_state__stashed(wanted, &now->stashed[i].entry) < 0)
			add_stashed(change, SWITCH_REMOVE, i);
	for (i = 0; i < wanted->stashed_count; i++) {
		stashed = &wanted->stashed[i];
		found = lookup_state__stashed(now, &stashed->entry);
		there = found < 0 ? NULL : &now->stashed[found];
		if (!there)
			add_stashed(change, SWITCH_ADD, i);
		else if (!there->is_ours || memcmp(there->entry.value, stashed->entry.value,
						   sizeof(there->entry.value)))
			add_stashed(change, SWITCH_CHANGE, i);
	}
}

int lookup_steps__compute(const struct lookup_state *now, const struct lookup_state *wanted,
			  const struct dart_tea_tables *last, struct switch_steps *steps)
{
	struct change change = {
		.now = now,
		.wanted = wanted,
		.last = last,
		.steps = steps,
	};

	switch_steps__begin(steps);
	remove_shares(&change);
	stop_servers(&change);
	remove_from(&change);
	if (now->cached_count)
		add(&change, SWITCH_REMOVE, LOOKUP_CACHE, 0);
	switch_steps__update(steps, LOOKUP_SELF, &now->self, &wanted->self, 0);
	switch_steps__update(steps, LOOKUP_MTU, &now->mtu, &wanted->mtu, 0);
	change_servers(&change);
	add_ways(&change);
	add_stash(&change);
	add_otherwise(&change);
	start_servers(&change);
	switch_steps__fill(steps, LOOKUP_SHARE, now->shares, wanted->shares, change.leaves,
			   DART_TEA_SHARES);
	return switch_steps__end(steps);
}
