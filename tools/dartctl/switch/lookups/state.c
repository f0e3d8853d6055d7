// SPDX-License-Identifier: GPL-2.0-only
/* The state of a switch with lookup tables, as it is and as it should be. */
#include <arpa/inet.h>
#include <stdlib.h>

#include "state.h"
#include "tools/dartctl/switch/engine/hosts.h"

_Static_assert(DART_TEA_SERVERS_MAX == SWITCH_NUMBERS,
	       "servers have numbers of switches");

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
	[LOOKUP_SHARES] = {
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
		}
	},
	[LOOKUP_SERVERS] = {
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
};

struct lookup_state *lookup_state__new(void)
{
	return calloc(1, sizeof(struct lookup_state));
}

void lookup_state__free(struct lookup_state *state)
{
	if (state)
		free(state->stashed);
	free(state);
}

const struct switch_entry *lookup_state__entry(const struct lookup_state *state,
					       uint32_t table,
					       uint32_t key)
{
	switch (table) {
	case LOOKUP_SHARES:
		return &state->shares[key];
	case LOOKUP_FROM:
		return &state->from[key].entry;
	case LOOKUP_SERVERS:
		return &state->servers[key];
	case LOOKUP_OTHERWISE:
		return &state->otherwise[key];
	default:
		return &state->self;
	}
}

uint32_t lookup_state__from(const struct lookup_state *state, uint32_t ip)
{
	uint32_t i;

	for (i = 0; i < state->from_count; i++)
		if (state->from[i].ip == ip)
			break;
	return i;
}

/* Is it the entry of a server with this address? */
static bool is_same(const void *hosts, uint32_t index,
		    const struct switch_entry *entry)
{
	const struct dart_tea_server *servers = hosts;

	return entry->values[SERVER_IP] == ntohl(servers[index].ip.s_addr);
}

/* ---- the wanted entries */

static void want_self(struct switch_entry *entry,
		      const struct lookup_wish *wish)
{
	uint32_t ip = ntohl(wish->tables.requester.s_addr);

	entry->there = true;
	entry->values[SELF_MAC] = switch_mac__of_ip(ip);
	entry->values[SELF_IP] = ip;
	entry->values[SELF_PACKET_LENGTH] =
		wish->tables.geometry.packet_length;
	entry->values[SELF_OUTSTANDING] = wish->options.outstanding;
	entry->values[SELF_TIMEOUT] = wish->options.timeout_us;
	entry->values[SELF_TRIES] = wish->options.tries;
}

static void want_server(struct lookup_state *state,
			const struct lookup_wish *wish, uint32_t index,
			uint32_t number)
{
	const struct dart_tea_server *server = &wish->tables.servers[index];
	const struct dart_tea_geometry *geometry = &wish->tables.geometry;
	struct switch_entry *entry = &state->servers[number];
	struct lookup_from *from = &state->from[state->from_count++];

	entry->there = true;
	entry->values[SERVER_MAC] = switch_mac__number(server->mac);
	entry->values[SERVER_IP] = ntohl(server->ip.s_addr);
	entry->values[SERVER_QPN] = server->qpn;
	entry->values[SERVER_RKEY] = server->rkey;
	entry->values[SERVER_BASE] = server->base;
	entry->values[SERVER_MASK] = dart_tea_geometry__rows(geometry) - 1;
	entry->values[SERVER_ROW_LOG2] = dart_tea_geometry__row_log2(geometry);
	entry->values[SERVER_EPOCH] = server->epoch;
	state->first_psns[number] = server->first_psn;

	from->ip = ntohl(server->ip.s_addr);
	from->entry.there = true;
	from->entry.values[FROM_SERVER] = number;
	from->entry.values[FROM_PORT] = wish->ports[index];
	from->entry.values[FROM_EPOCH] = server->epoch;

	state->sessions[wish->ports[index]] = LOOKUP_WAY_RIGHT;
	state->groups[wish->ports[index]] = LOOKUP_WAY_RIGHT;
}

static void want_shares(struct lookup_state *state,
			const struct lookup_wish *wish, const uint8_t *numbers)
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

/* Returns 0 or -1 if out of memory. */
static int want_stash(struct lookup_state *state,
		      const struct dart_tea_tables *tables)
{
	size_t i;

	if (!tables->stashed_count)
		return 0;
	state->stashed =
		calloc(tables->stashed_count, sizeof(*state->stashed));
	if (!state->stashed)
		return -1;
	for (i = 0; i < tables->stashed_count; i++) {
		state->stashed[i].entry = tables->stashed[i];
		state->stashed[i].is_ours = true;
	}
	state->stashed_count = tables->stashed_count;
	return 0;
}

struct lookup_state *lookup_state__want(const struct lookup_wish *wish,
					const struct lookup_state *now)
{
	const struct dart_tea_tables *tables = &wish->tables;
	struct lookup_state *state = lookup_state__new();
	uint8_t numbers[DART_TEA_SERVERS_MAX];
	uint32_t i;

	if (!state || want_stash(state, tables)) {
		lookup_state__free(state);
		return NULL;
	}
	switch_numbers__give(now->servers, tables->servers,
			     tables->server_count, is_same, numbers);
	want_self(&state->self, wish);
	for (i = 0; i < tables->server_count; i++)
		want_server(state, wish, i, numbers[i]);
	want_shares(state, wish, numbers);
	for (i = 0; i < LOOKUP_OUTCOMES; i++) {
		state->otherwise[i].there =
			wish->options.otherwise[i] != LOOKUP_DROP;
		if (state->otherwise[i].there)
			state->otherwise[i].values[OTHERWISE_PORT] =
				wish->options.otherwise[i];
	}
	return state;
}
