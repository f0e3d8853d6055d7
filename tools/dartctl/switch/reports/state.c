// SPDX-License-Identifier: GPL-2.0-only
/* The state of a switch, as it is and as it should be. */
#include <arpa/inet.h>
#include <stdlib.h>

#include "state.h"
#include "tools/dartctl/switch/engine/hosts.h"

_Static_assert(SWITCH_COLLECTORS_MAX == SWITCH_NUMBERS,
	       "collectors have numbers of switches");

const struct switch_table switch_tables[SWITCH_TABLES] = {
	[SWITCH_SHARES] = {
		"dart_share", "dart_assign", DART_STORE_SHARE_BITS,
		DART_STORE_SHARES, DART_STORE_SHARES, 2, {
			{ "collector", 8, SWITCH_DECIMAL },
			{ "session", 16, SWITCH_DECIMAL },
		}
	},
	[SWITCH_COLLECTORS] = {
		"dart_collector", "dart_send_to", 8, SWITCH_COLLECTOR_KEYS,
		SWITCH_COLLECTORS_MAX, 7, {
			{ "mac", 48, SWITCH_MAC },
			{ "ip", 32, SWITCH_IPV4 },
			{ "qpn", 24, SWITCH_DECIMAL },
			{ "rkey", 32, SWITCH_DECIMAL },
			{ "base", 64, SWITCH_HEX },
			{ "mask", 32, SWITCH_HEX },
			{ "redundancy", 8, SWITCH_DECIMAL },
		}
	},
	[SWITCH_REPORTER] = {
		"dart_reporter", "dart_report_from", 0, 1, 0, 4, {
			{ "mac", 48, SWITCH_MAC },
			{ "ip", 32, SWITCH_IPV4 },
			{ "checksum_bytes", 8, SWITCH_DECIMAL },
			{ "all_copies", 8, SWITCH_DECIMAL },
		}
	},
};

struct switch_state *switch_state__new(void)
{
	struct switch_state *state = calloc(1, sizeof(*state));
	uint32_t port;

	for (port = 0; state && port < SWITCH_PORTS; port++)
		state->sessions[port] = SWITCH_SESSION_NONE;
	return state;
}

const struct switch_entry *
switch_state__entry(const struct switch_state *state, uint32_t table,
		    uint32_t key)
{
	switch (table) {
	case SWITCH_SHARES:
		return &state->shares[key];
	case SWITCH_COLLECTORS:
		return &state->collectors[key];
	default:
		return &state->reporter;
	}
}

/* Is it the entry of this queue pair? */
static bool is_same(const void *hosts, uint32_t index,
		    const struct switch_entry *entry)
{
	const struct dart_collector *collectors = hosts;

	return entry->values[COLLECTOR_IP] ==
		       ntohl(collectors[index].ip.s_addr) &&
	       entry->values[COLLECTOR_QPN] == collectors[index].qpn;
}

/* ---- the wanted entries */

static void want_reporter(struct switch_entry *entry,
			  const struct dart_collector *collector,
			  bool all_copies)
{
	uint32_t ip = ntohl(collector->reporter.s_addr);

	entry->there = true;
	entry->values[REPORTER_MAC] = switch_mac__of_ip(ip);
	entry->values[REPORTER_IP] = ip;
	entry->values[REPORTER_CHECKSUM_BYTES] =
		collector->geometry.checksum_bits / 8;
	entry->values[REPORTER_ALL_COPIES] = all_copies;
}

static void want_collector(struct switch_entry *entry,
			   const struct dart_collector *collector)
{
	entry->there = true;
	entry->values[COLLECTOR_MAC] = switch_mac__number(collector->mac);
	entry->values[COLLECTOR_IP] = ntohl(collector->ip.s_addr);
	entry->values[COLLECTOR_QPN] = collector->qpn;
	entry->values[COLLECTOR_RKEY] = collector->rkey;
	entry->values[COLLECTOR_BASE] = collector->base;
	entry->values[COLLECTOR_MASK] = collector->geometry.slots - 1;
	entry->values[COLLECTOR_REDUNDANCY] = collector->geometry.redundancy;
}

static void want(struct switch_state *state, const struct switch_wish *wish,
		 const uint8_t *numbers)
{
	const struct dart_collectors *collectors = &wish->collectors;
	struct switch_entry *entry;
	uint32_t i, share;

	want_reporter(&state->reporter, &collectors->list[0],
		      wish->all_copies);
	for (i = 0; i < collectors->count; i++) {
		want_collector(&state->collectors[numbers[i]],
			       &collectors->list[i]);
		state->first_psns[numbers[i]] =
			collectors->list[i].first_psn;
		state->sessions[wish->ports[i]] = wish->ports[i];
	}
	for (share = 0; share < DART_STORE_SHARES; share++) {
		i = collectors->shares[share];
		if (i == DART_COLLECTOR_NONE)
			continue;
		entry = &state->shares[share];
		entry->there = true;
		entry->values[SHARE_COLLECTOR] = numbers[i];
		entry->values[SHARE_SESSION] = 1 + wish->ports[i];
	}
}

struct switch_state *switch_state__want(const struct switch_wish *wish,
					const struct switch_state *now)
{
	struct switch_state *state = switch_state__new();
	uint8_t numbers[SWITCH_COLLECTORS_MAX];

	if (!state)
		return NULL;
	switch_numbers__give(now->collectors, wish->collectors.list,
			     wish->collectors.count, is_same, numbers);
	want(state, wish, numbers);
	return state;
}
