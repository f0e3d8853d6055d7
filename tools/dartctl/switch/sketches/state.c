// SPDX-License-Identifier: GPL-2.0-only
/* The state of a switch that counts for a sketch, as it is and as it should be, see state.h. */
#include <arpa/inet.h>
#include <errno.h>

#include "state.h"

/* See p4/v1model/sketch.p4. */
#define ROWS 4
#define COLUMNS_LOG2_MAX 12
#define TIME_MASK ((UINT64_C(1) << 48) - 1) /* us since the switch started */

#define US_PER_S UINT64_C(1000000)

/* A clock that was set by more than this part of a period makes the switch begin again. */
#define SET_SHARE 10

const struct switch_table sketch_tables[SKETCH_TABLES] = {
	[SKETCH_COLLECTOR] = {
		"sketch_collector", "sketch_write_to", 0, 1, 0, 7, {
			{ "mac", 48, SWITCH_MAC },
			{ "ip", 32, SWITCH_IPV4 },
			{ "qpn", 24, SWITCH_DECIMAL },
			{ "rkey", 32, SWITCH_DECIMAL },
			{ "base", 64, SWITCH_HEX },
			{ "mask", 32, SWITCH_HEX },
			{ "session", 16, SWITCH_DECIMAL },
		}
	},
	[SKETCH_SKETCHER] = {
		"sketch_sketcher", "sketch_sketcher_is", 0, 1, 0, 7, {
			{ "mac", 48, SWITCH_MAC },
			{ "ip", 32, SWITCH_IPV4 },
			{ "kind", 8, SWITCH_DECIMAL },
			{ "first", 32, SWITCH_DECIMAL },
			{ "begin", 48, SWITCH_HEX },
			{ "length", 48, SWITCH_DECIMAL },
			{ "epoch", 64, SWITCH_DECIMAL },
		}
	},
};

/* The register sketch_period. */
static const struct switch_table period_table = {
	.key_bits = 8,
	.value_count = 1,
	.values = { { "period", 32, SWITCH_DECIMAL } },
};

#define AT(member) offsetof(struct sketch_state, member)

const struct switch_object sketch_objects[SKETCH_OBJECTS] = {
	[SKETCH_COLLECTOR] = { "sketch", SWITCH_TABLE, SWITCH_NUMBERED,
			       &sketch_tables[SKETCH_COLLECTOR], AT(collector) },
	[SKETCH_SKETCHER] = { "sketcher", SWITCH_TABLE, SWITCH_NUMBERED,
			      &sketch_tables[SKETCH_SKETCHER], AT(sketcher) },
	[SKETCH_SESSION] = { "session", SWITCH_SESSION, SWITCH_FROM_ONE, &switch_session,
			     AT(sessions) },
	[SKETCH_PSN] = { "psn", SWITCH_REGISTER, SWITCH_NUMBERED, &switch_psn, AT(first_psn) },
	[SKETCH_PERIOD] = { "period", SWITCH_REGISTER, SWITCH_NUMBERED, &period_table,
			    AT(period) },
};

/* Does the period that the switch calls @first begin at @begin by the clock of @now? */
static bool is_on_time(const struct sketch_state *now, const struct switch_entry *sketcher)
{
	const uint64_t length = sketcher->values[SKETCHER_LENGTH];
	const uint64_t since_1970 = sketcher->values[SKETCHER_FIRST] * length;
	/* Both are when the switch started, us since 1970. */
	const uint64_t its = (since_1970 - sketcher->values[SKETCHER_BEGIN]) & TIME_MASK;
	const uint64_t ours = (now->time_us - now->up_us) & TIME_MASK;
	const uint64_t ahead = (its - ours) & TIME_MASK, behind = (ours - its) & TIME_MASK;

	return (ahead < behind ? ahead : behind) <= length / SET_SHARE;
}

void sketch_state__want(const struct sketch_wish *wish, const struct sketch_state *now,
			struct sketch_state *wanted)
{
	const struct dart_collector *collector = &wish->target.collector;
	const struct dart_sketch_geometry *geometry = &wish->target.geometry;
	const uint32_t ip = ntohl(collector->reporter.s_addr);
	const uint64_t length = geometry->period * US_PER_S;
	uint64_t *values = wanted->collector.values;

	wanted->collector.there = true;
	values[SKETCH_MAC] = switch_mac__number(collector->mac);
	values[SKETCH_IP] = ntohl(collector->ip.s_addr);
	values[SKETCH_QPN] = collector->qpn;
	values[SKETCH_RKEY] = collector->rkey;
	values[SKETCH_BASE] = collector->base;
	values[SKETCH_MASK] = (1u << geometry->columns_log2) - 1;
	values[SKETCH_TO_SESSION] = 1 + wish->port;
	values = wanted->sketcher.values;
	wanted->sketcher.there = true;
	values[SKETCHER_MAC] = switch_mac__of_ip(ip);
	values[SKETCHER_IP] = ip;
	values[SKETCHER_KIND] = geometry->kind;
	values[SKETCHER_LENGTH] = length;
	values[SKETCHER_EPOCH] = collector->epoch;
	if (now->sketcher.there && now->sketcher.values[SKETCHER_LENGTH] == length &&
	    is_on_time(now, &now->sketcher)) {
		values[SKETCHER_FIRST] = now->sketcher.values[SKETCHER_FIRST];
		values[SKETCHER_BEGIN] = now->sketcher.values[SKETCHER_BEGIN];
	} else {
		values[SKETCHER_FIRST] = now->time_us / length;
		/* A period that began before the switch wraps. */
		values[SKETCHER_BEGIN] = (now->up_us - now->time_us % length) & TIME_MASK;
	}
	switch_entry__set(&wanted->sessions[wish->port], wish->port);
	switch_entry__set(&wanted->first_psn, collector->first_psn);
	switch_entry__set(&wanted->period, 0);
}

int sketch_state__check(const struct sketch_wish *wish, const struct sketch_state *now,
			struct dart_error *error)
{
	const struct dart_sketch_geometry *geometry = &wish->target.geometry;
	struct sketch_state wanted = {};

	if (geometry->rows != ROWS)
		return dart_error__set(
			error, EINVAL,
			"the sketch has %u rows, but the program has %u (dartctl sketch create --rows %u)",
			geometry->rows, ROWS, ROWS);
	if (geometry->columns_log2 > COLUMNS_LOG2_MAX)
		return dart_error__set(error, EINVAL,
				       "the sketch has %u columns, but a switch has room for %u",
				       1u << geometry->columns_log2, 1u << COLUMNS_LOG2_MAX);
	if (!now->collector.there || !now->sketcher.there)
		return 0;
	sketch_state__want(wish, now, &wanted);
	if (now->collector.values[SKETCH_MASK] != wanted.collector.values[SKETCH_MASK] ||
	    now->sketcher.values[SKETCHER_KIND] != wanted.sketcher.values[SKETCHER_KIND] ||
	    now->sketcher.values[SKETCHER_LENGTH] != wanted.sketcher.values[SKETCHER_LENGTH])
		return dart_error__set(
			error, EINVAL,
			"it counts for a sketch of another size, kind or period (restart the switch first)");
	if (now->sketcher.values[SKETCHER_IP] != wanted.sketcher.values[SKETCHER_IP])
		return dart_error__set(error, EINVAL,
				       "it counts as another sketcher (restart the switch first)");
	return 0;
}

/* Is the wanted queue pair another one, or was it made again?  Then it expects its first PSN. */
static bool is_renewed(const struct sketch_state *now, const struct sketch_state *wanted)
{
	return !now->collector.there || !now->sketcher.there ||
	       now->collector.values[SKETCH_IP] != wanted->collector.values[SKETCH_IP] ||
	       now->collector.values[SKETCH_QPN] != wanted->collector.values[SKETCH_QPN] ||
	       now->sketcher.values[SKETCHER_EPOCH] != wanted->sketcher.values[SKETCHER_EPOCH];
}

/* Are periods of the switch cut short or lengthened? */
static bool has_other_periods(const struct sketch_state *now, const struct sketch_state *wanted)
{
	return now->sketcher.there &&
	       (now->sketcher.values[SKETCHER_FIRST] != wanted->sketcher.values[SKETCHER_FIRST] ||
		now->sketcher.values[SKETCHER_BEGIN] != wanted->sketcher.values[SKETCHER_BEGIN]);
}

int sketch_state__compute(const struct sketch_state *now, const struct sketch_state *wanted,
			  struct switch_steps *steps)
{
	uint32_t port;

	switch_steps__begin(steps);
	for (port = 0; port < SWITCH_PORTS; port++)
		switch_steps__update(steps, SKETCH_SESSION, &now->sessions[port],
				     &wanted->sessions[port], port);
	switch_steps__update(steps, SKETCH_COLLECTOR, &now->collector, &wanted->collector, 0);
	if (is_renewed(now, wanted))
		switch_steps__add(steps, SWITCH_CHANGE, SKETCH_PSN, 0);
	switch_steps__update(steps, SKETCH_SKETCHER, &now->sketcher, &wanted->sketcher, 0);
	/* The period that the switch counts is not whole, whichever it is. */
	if (has_other_periods(now, wanted))
		switch_steps__add(steps, SWITCH_CHANGE, SKETCH_PERIOD, 0);
	return switch_steps__end(steps);
}
