// SPDX-License-Identifier: GPL-2.0-only
/* The state of a switch with lookup tables, as it is and as it should be, see state.h. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "state.h"

_Static_assert(DART_TEA_SERVERS_MAX == SWITCH_HOSTS_MAX, "servers have numbers of hosts");

const struct switch_table lookup_tables[LOOKUP_TABLES] = {
	[LOOKUP_SELF] = {
		"tea_switch", "tea_switch_is", 0, 1, 0, 6, {
			{ "mac", 48, SWITCH_MAC },
			{ "ip", 32, SWITCH_IPV4 },
			{ "packet_length", 16, SWITCH_DECIMAL },
			{ "outstanding", 8, SWITCH_DECIMAL },
			{ "timeout", 32, SWITCH_DECIMAL },
			{ "tries", 4, SWITCH_DECIMAL },
		}
	},
	[LOOKUP_SHARE] = {
		"tea_share", "tea_assign", DART_TEA_SHARE_BITS,
		DART_TEA_SHARES, DART_TEA_SHARES, 4, {
			{ "server", 6, SWITCH_DECIMAL },
			{ "port", 9, SWITCH_DECIMAL },
			{ "replica", 6, SWITCH_DECIMAL },
			{ "replica_port", 9, SWITCH_DECIMAL },
		}
	},
	[LOOKUP_FROM] = {
		"tea_from", "tea_response_of", 32, DART_TEA_SERVERS_MAX,
		DART_TEA_SERVERS_MAX, 3, {
			{ "server", 6, SWITCH_DECIMAL },
			{ "port", 9, SWITCH_DECIMAL },
			{ "epoch", 24, SWITCH_DECIMAL },
		}, .is_sparse = true,
	},
	[LOOKUP_SERVER] = {
		"tea_server", "tea_send_to", 6, DART_TEA_SERVERS_MAX,
		DART_TEA_SERVERS_MAX, 8, {
			{ "mac", 48, SWITCH_MAC },
			{ "ip", 32, SWITCH_IPV4 },
			{ "qpn", 24, SWITCH_DECIMAL },
			{ "rkey", 32, SWITCH_DECIMAL },
			{ "base", 64, SWITCH_HEX },
			{ "mask", 32, SWITCH_HEX },
			{ "row_log2", 8, SWITCH_DECIMAL },
			{ "epoch", 24, SWITCH_DECIMAL },
		}
	},
	[LOOKUP_OTHERWISE] = {
		"tea_otherwise", "tea_to_port", 8, LOOKUP_OUTCOMES,
		LOOKUP_OUTCOMES, 1, {
			{ "port", 9, SWITCH_DECIMAL },
		}
	},
	[LOOKUP_MTU] = {
		"tea_mtu", "tea_mtu_is", 0, 1, 0, 1, {
			{ "longest", 16, SWITCH_DECIMAL },
		}
	},
};

#define AT(member) offsetof(struct lookup_state, member)

const struct switch_object lookup_objects[LOOKUP_OBJECTS] = {
	[LOOKUP_SELF] = { "switch", SWITCH_TABLE, SWITCH_NUMBERED, &lookup_tables[LOOKUP_SELF],
			  AT(self) },
	[LOOKUP_SHARE] = { "share", SWITCH_TABLE, SWITCH_NUMBERED, &lookup_tables[LOOKUP_SHARE],
			   AT(shares) },
	[LOOKUP_FROM] = { "responses", SWITCH_TABLE, SWITCH_BY_ADDRESS,
			  &lookup_tables[LOOKUP_FROM], AT(from) },
	[LOOKUP_SERVER] = { "server", SWITCH_TABLE, SWITCH_NUMBERED,
			    &lookup_tables[LOOKUP_SERVER], AT(servers) },
	[LOOKUP_OTHERWISE] = { "otherwise", SWITCH_TABLE, SWITCH_NAMED,
			       &lookup_tables[LOOKUP_OTHERWISE], AT(otherwise), "outcome",
			       lookup_outcome__name },
	[LOOKUP_MTU] = { "mtu", SWITCH_TABLE, SWITCH_NUMBERED, &lookup_tables[LOOKUP_MTU],
			 AT(mtu) },
	[LOOKUP_STASH] = { "stash", SWITCH_ELSEWHERE, SWITCH_COUNTED },
	[LOOKUP_CACHE] = { "cache", SWITCH_ELSEWHERE, SWITCH_TOGETHER },
	[LOOKUP_SESSION] = { "session", SWITCH_SESSION, SWITCH_FROM_ONE, &switch_session,
			     AT(sessions) },
	[LOOKUP_GROUP] = { "group", SWITCH_ELSEWHERE, SWITCH_FROM_ONE, &switch_session,
			   AT(groups) },
	[LOOKUP_PSN] = { "psn", SWITCH_REGISTER, SWITCH_NUMBERED, &switch_psn, AT(first_psns) },
};

void lookup_state__release(struct lookup_state *state)
{
	free(state->stashed);
}

const struct switch_entry *lookup_state__from(const struct lookup_state *state, uint32_t ip)
{
	uint32_t i;

	for (i = 0; i < DART_TEA_SERVERS_MAX; i++)
		if (state->from[i].there && state->from[i].key == ip)
			return &state->from[i];
	return NULL;
}

static int compare(const void *key, const void *element)
{
	const struct dart_tea_stashed *wanted = key;
	const struct lookup_stashed *stashed = element;

	return memcmp(wanted->key, stashed->entry.key, sizeof(wanted->key));
}

ptrdiff_t lookup_state__stashed(const struct lookup_state *state,
				const struct dart_tea_stashed *entry)
{
	const struct lookup_stashed *found = NULL;

	if (state->stashed_count)
		found = bsearch(entry, state->stashed, state->stashed_count,
				sizeof(*state->stashed), compare);
	return found ? found - state->stashed : -1;
}

/* ---- the wanted entries */

/* Is @entry that of a server with this address? */
static bool is_host(const void *hosts, uint32_t index, const struct switch_entry *entry)
{
	const struct dart_tea_server *servers = hosts;

	return entry->values[SERVER_IP] == ntohl(servers[index].ip.s_addr);
}

static void want_self(struct switch_entry *entry, const struct lookup_wish *wish)
{
	uint32_t ip = ntohl(wish->tables.requester.s_addr);

	entry->there = true;
	entry->values[SELF_MAC] = switch_mac__of_ip(ip);
	entry->values[SELF_IP] = ip;
	entry->values[SELF_PACKET_LENGTH] = wish->tables.geometry.packet_length;
	entry->values[SELF_OUTSTANDING] = wish->options.outstanding;
	entry->values[SELF_TIMEOUT] = wish->options.timeout_us;
	entry->values[SELF_TRIES] = wish->options.tries;
}

static void want_server(struct lookup_state *state, const struct lookup_wish *wish, uint32_t index,
			uint32_t number)
{
	const struct dart_tea_server *server = &wish->tables.servers[index];
	const struct dart_tea_geometry *geometry = &wish->tables.geometry;
	struct switch_entry *entry = &state->servers[number], *from = &state->from[index];
	const uint16_t port = wish->ports[index];

	entry->there = true;
	entry->values[SERVER_MAC] = switch_mac__number(server->mac);
	entry->values[SERVER_IP] = ntohl(server->ip.s_addr);
	entry->values[SERVER_QPN] = server->qpn;
	entry->values[SERVER_RKEY] = server->rkey;
	entry->values[SERVER_BASE] = server->base;
	entry->values[SERVER_MASK] = dart_tea_geometry__rows(geometry) - 1;
	entry->values[SERVER_ROW_LOG2] = dart_tea_geometry__row_log2(geometry);
	entry->values[SERVER_EPOCH] = server->epoch;

	from->there = true;
	from->key = ntohl(server->ip.s_addr);
	from->values[FROM_SERVER] = number;
	from->values[FROM_PORT] = port;
	from->values[FROM_EPOCH] = server->epoch;

	switch_entry__set(&state->first_psns[number], server->first_psn);
	switch_entry__set(&state->sessions[port], port);
	switch_entry__set(&state->groups[port], port);
}

static void want_shares(struct lookup_state *state, const struct lookup_wish *wish,
			const uint8_t *numbers)
{
	const struct dart_tea_tables *tables = &wish->tables;
	uint32_t share, first, second;
	struct switch_entry *entry;

	for (share = 0; share < DART_TEA_SHARES; share++) {
		first = tables->shares[share];
		second = tables->replicas[share];
		if (first == DART_TEA_SERVER_NONE)
			continue;
		if (second == DART_TEA_SERVER_NONE)
			second = first;
		entry = &state->shares[share];
		entry->there = true;
		entry->values[LOOKUP_SHARE_FIRST] = numbers[first];
		entry->values[LOOKUP_SHARE_FIRST_PORT] = wish->ports[first];
		entry->values[LOOKUP_SHARE_SECOND] = numbers[second];
		entry->values[LOOKUP_SHARE_SECOND_PORT] = wish->ports[second];
	}
}

static int want_stash(struct lookup_state *state, const struct dart_tea_tables *tables)
{
	size_t i;

	if (!tables->stashed_count)
		return 0;
	state->stashed = calloc(tables->stashed_count, sizeof(*state->stashed));
	if (!state->stashed)
		return -ENOMEM;
	for (i = 0; i < tables->stashed_count; i++) {
		state->stashed[i].entry = tables->stashed[i];
		state->stashed[i].is_ours = true;
	}
	state->stashed_count = tables->stashed_count;
	return 0;
}

int lookup_state__want(const struct lookup_wish *wish, const struct lookup_state *now,
		       struct lookup_state *wanted)
{
	const struct dart_tea_tables *tables = &wish->tables;
	uint8_t numbers[DART_TEA_SERVERS_MAX];
	uint32_t i;

	switch_hosts__number(now->servers, tables->servers, tables->server_count, is_host, numbers);
	want_self(&wanted->self, wish);
	if (wish->options.mtu)
		switch_entry__set(&wanted->mtu, wish->options.mtu);
	for (i = 0; i < tables->server_count; i++)
		want_server(wanted, wish, i, numbers[i]);
	want_shares(wanted, wish, numbers);
	for (i = 0; i < LOOKUP_OUTCOMES; i++)
		if (wish->options.otherwise[i] != LOOKUP_DROP)
			switch_entry__set(&wanted->otherwise[i], wish->options.otherwise[i]);
	return want_stash(wanted, tables);
}
