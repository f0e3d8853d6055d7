// SPDX-License-Identifier: GPL-2.0-only
/* The state of a switch, as it is and as it should be. */
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "state.h"

#define NO_NUMBER	UINT8_MAX

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

/* ---- numbers of collectors */

struct numbering {
	const struct switch_wish *wish;
	const struct switch_state *now;
	uint8_t numbers[SWITCH_COLLECTORS_MAX];	/* of each collector */
	bool taken[SWITCH_COLLECTORS_MAX];
};

/* Rules for the number of a collector, the best one first. */
static bool is_same_queue_pair(const struct dart_collector *collector,
			       const struct switch_entry *entry)
{
	return entry->there &&
	       entry->values[COLLECTOR_IP] == ntohl(collector->ip.s_addr) &&
	       entry->values[COLLECTOR_QPN] == collector->qpn;
}

/* So that a report in a queue does not go to another collector. */
static bool is_unused(const struct dart_collector *collector,
		      const struct switch_entry *entry)
{
	return !entry->there;
}

static bool is_any(const struct dart_collector *collector,
		   const struct switch_entry *entry)
{
	return true;
}

static void give_numbers(struct numbering *numbering,
			 bool (*may)(const struct dart_collector *collector,
				     const struct switch_entry *entry))
{
	const struct dart_collectors *collectors =
		&numbering->wish->collectors;
	uint32_t i, number;

	for (i = 0; i < collectors->count; i++) {
		if (numbering->numbers[i] != NO_NUMBER)
			continue;
		for (number = 0; number < SWITCH_COLLECTORS_MAX; number++)
			if (!numbering->taken[number] &&
			    may(&collectors->list[i],
				&numbering->now->collectors[number]))
				break;
		if (number == SWITCH_COLLECTORS_MAX)
			continue;
		numbering->taken[number] = true;
		numbering->numbers[i] = number;
	}
}

/* ---- the wanted entries */

/* A locally administered address that holds the IPv4 address. */
static uint64_t reporter_mac(uint32_t ip)
{
	return UINT64_C(0x0200) << 32 | ip;
}

static void want_reporter(struct switch_entry *entry,
			  const struct dart_collector *collector,
			  bool all_copies)
{
	uint32_t ip = ntohl(collector->reporter.s_addr);

	entry->there = true;
	entry->values[REPORTER_MAC] = reporter_mac(ip);
	entry->values[REPORTER_IP] = ip;
	entry->values[REPORTER_CHECKSUM_BYTES] =
		collector->geometry.checksum_bits / 8;
	entry->values[REPORTER_ALL_COPIES] = all_copies;
}

static void want_collector(struct switch_entry *entry,
			   const struct dart_collector *collector)
{
	uint64_t mac = 0;
	size_t i;

	for (i = 0; i < sizeof(collector->mac); i++)
		mac = mac << 8 | collector->mac[i];
	entry->there = true;
	entry->values[COLLECTOR_MAC] = mac;
	entry->values[COLLECTOR_IP] = ntohl(collector->ip.s_addr);
	entry->values[COLLECTOR_QPN] = collector->qpn;
	entry->values[COLLECTOR_RKEY] = collector->rkey;
	entry->values[COLLECTOR_BASE] = collector->base;
	entry->values[COLLECTOR_MASK] = collector->geometry.slots - 1;
	entry->values[COLLECTOR_REDUNDANCY] = collector->geometry.redundancy;
}

static void want(struct switch_state *state, const struct numbering *numbering)
{
	const struct switch_wish *wish = numbering->wish;
	const struct dart_collectors *collectors = &wish->collectors;
	struct switch_entry *entry;
	uint32_t i, share;

	want_reporter(&state->reporter, &collectors->list[0],
		      wish->all_copies);
	for (i = 0; i < collectors->count; i++) {
		want_collector(&state->collectors[numbering->numbers[i]],
			       &collectors->list[i]);
		state->first_psns[numbering->numbers[i]] =
			collectors->list[i].first_psn;
		state->sessions[wish->ports[i]] = wish->ports[i];
	}
	for (share = 0; share < DART_STORE_SHARES; share++) {
		i = collectors->shares[share];
		if (i == DART_COLLECTOR_NONE)
			continue;
		entry = &state->shares[share];
		entry->there = true;
		entry->values[SHARE_COLLECTOR] = numbering->numbers[i];
		entry->values[SHARE_SESSION] = 1 + wish->ports[i];
	}
}

struct switch_state *switch_state__want(const struct switch_wish *wish,
					const struct switch_state *now)
{
	struct numbering numbering = { .wish = wish, .now = now };
	struct switch_state *state = switch_state__new();

	if (!state)
		return NULL;
	memset(numbering.numbers, NO_NUMBER, sizeof(numbering.numbers));
	give_numbers(&numbering, is_same_queue_pair);
	give_numbers(&numbering, is_unused);
	give_numbers(&numbering, is_any);
	want(state, &numbering);
	return state;
}
