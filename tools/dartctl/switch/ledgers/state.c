// SPDX-License-Identifier: GPL-2.0-only
/* The state of a switch that adds to a ledger, as it is and as it should be, see state.h. */
#include <arpa/inet.h>
#include <errno.h>

#include "state.h"

const struct switch_table ledger_tables[LEDGER_TABLES] = {
	[LEDGER_COLLECTOR] = {
		"ledger_collector", "ledger_add_to", 0, 1, 0, 8, {
			{ "mac", 48, SWITCH_MAC },
			{ "ip", 32, SWITCH_IPV4 },
			{ "qpn", 24, SWITCH_DECIMAL },
			{ "rkey", 32, SWITCH_DECIMAL },
			{ "base", 64, SWITCH_HEX },
			{ "mask", 32, SWITCH_HEX },
			{ "rows", 8, SWITCH_DECIMAL },
			{ "session", 16, SWITCH_DECIMAL },
		}
	},
	[LEDGER_ADDER] = {
		"ledger_adder", "ledger_adder_is", 0, 1, 0, 4, {
			{ "mac", 48, SWITCH_MAC },
			{ "ip", 32, SWITCH_IPV4 },
			{ "unit", 8, SWITCH_DECIMAL },
			{ "epoch", 64, SWITCH_DECIMAL },
		}
	},
};

#define AT(member) offsetof(struct ledger_state, member)

const struct switch_object ledger_objects[LEDGER_OBJECTS] = {
	[LEDGER_COLLECTOR] = { "ledger", SWITCH_TABLE, SWITCH_NUMBERED,
			       &ledger_tables[LEDGER_COLLECTOR], AT(collector) },
	[LEDGER_ADDER] = { "adder", SWITCH_TABLE, SWITCH_NUMBERED, &ledger_tables[LEDGER_ADDER],
			   AT(adder) },
	[LEDGER_SESSION] = { "session", SWITCH_SESSION, SWITCH_FROM_ONE, &switch_session,
			     AT(sessions) },
	[LEDGER_QUEUE_PAIR] = { "queue pair", SWITCH_ELSEWHERE, SWITCH_TOGETHER },
};

void ledger_state__want(const struct ledger_wish *wish, struct ledger_state *wanted)
{
	const struct dart_collector *collector = &wish->target.collector;
	const struct dart_ledger_geometry *geometry = &wish->target.geometry;
	const uint32_t ip = ntohl(collector->reporter.s_addr);
	uint64_t *values = wanted->collector.values;

	wanted->collector.there = true;
	values[LEDGER_MAC] = switch_mac__number(collector->mac);
	values[LEDGER_IP] = ntohl(collector->ip.s_addr);
	values[LEDGER_QPN] = collector->qpn;
	values[LEDGER_RKEY] = collector->rkey;
	values[LEDGER_BASE] = collector->base;
	values[LEDGER_MASK] = (1u << geometry->words_log2) - 1;
	values[LEDGER_ROWS] = geometry->rows;
	values[LEDGER_TO_SESSION] = 1 + wish->port;
	values = wanted->adder.values;
	wanted->adder.there = true;
	values[ADDER_MAC] = switch_mac__of_ip(ip);
	values[ADDER_IP] = ip;
	values[ADDER_UNIT] = wish->counts_bytes;
	values[ADDER_EPOCH] = collector->epoch;
	switch_entry__set(&wanted->sessions[wish->port], wish->port);
	wanted->has_begun = true;
	wanted->first_psn = collector->first_psn;
}

int ledger_state__check(const struct ledger_wish *wish, const struct ledger_state *now,
			struct dart_error *error)
{
	struct ledger_state wanted = {};

	if (!now->collector.there || !now->adder.there)
		return 0;
	ledger_state__want(wish, &wanted);
	if (now->collector.values[LEDGER_ROWS] != wanted.collector.values[LEDGER_ROWS] ||
	    now->collector.values[LEDGER_MASK] != wanted.collector.values[LEDGER_MASK])
		return dart_error__set(error, EINVAL,
				       "it adds to a ledger of another size (restart the switch first)");
	if (now->adder.values[ADDER_IP] != wanted.adder.values[ADDER_IP])
		return dart_error__set(error, EINVAL,
				       "it adds as another adder (restart the switch first)");
	if (now->adder.values[ADDER_UNIT] != wanted.adder.values[ADDER_UNIT])
		return dart_error__set(
			error, EINVAL,
			"it counts %s, which would be mixed with %s (restart the switch first)",
			wish->counts_bytes ? "packets" : "bytes",
			wish->counts_bytes ? "bytes" : "packets");
	return 0;
}

/* Has the wanted queue pair another number or other memory, or was it made again? */
static bool is_renewed(const struct ledger_state *now, const struct ledger_state *wanted)
{
	static const uint8_t numbers[] = { LEDGER_IP, LEDGER_QPN, LEDGER_RKEY, LEDGER_BASE };
	size_t i;

	if (!now->has_begun || now->is_stopped || !now->collector.there || !now->adder.there ||
	    now->adder.values[ADDER_EPOCH] != wanted->adder.values[ADDER_EPOCH])
		return true;
	for (i = 0; i < sizeof(numbers); i++)
		if (now->collector.values[numbers[i]] != wanted->collector.values[numbers[i]])
			return true;
	return false;
}

int ledger_state__compute(const struct ledger_state *now, const struct ledger_state *wanted,
			  struct switch_steps *steps)
{
	const bool renewed = is_renewed(now, wanted);
	uint32_t port;

	switch_steps__begin(steps);
	if (renewed && now->has_begun && !now->is_stopped)
		switch_steps__add(steps, SWITCH_STOP, LEDGER_QUEUE_PAIR, 0);
	for (port = 0; port < SWITCH_PORTS; port++)
		switch_steps__update(steps, LEDGER_SESSION, &now->sessions[port],
				     &wanted->sessions[port], port);
	switch_steps__update(steps, LEDGER_COLLECTOR, &now->collector, &wanted->collector, 0);
	if (renewed)
		switch_steps__add(steps, SWITCH_START, LEDGER_QUEUE_PAIR, 0);
	switch_steps__update(steps, LEDGER_ADDER, &now->adder, &wanted->adder, 0);
	return switch_steps__end(steps);
}
