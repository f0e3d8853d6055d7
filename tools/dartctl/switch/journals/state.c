// SPDX-License-Identifier: GPL-2.0-only
/* The state of a switch that appends to a journal, as it is and as it should be, see state.h. */
#include <arpa/inet.h>
#include <errno.h>

#include "state.h"

/* See p4/v1model/journal.p4. */
#define BATCH_LOG2 8
#define ENTRY_LENGTH 41
#define LISTS_LOG2_MAX 6

#define US_PER_S 1000000

const struct switch_table journal_tables[JOURNAL_TABLES] = {
	[JOURNAL_COLLECTOR] = {
		"journal_collector", "journal_append_to", 0, 1, 0, 8, {
			{ "mac", 48, SWITCH_MAC },
			{ "ip", 32, SWITCH_IPV4 },
			{ "qpn", 24, SWITCH_DECIMAL },
			{ "rkey", 32, SWITCH_DECIMAL },
			{ "base", 64, SWITCH_HEX },
			{ "places_mask", 32, SWITCH_HEX },
			{ "lists_mask", 16, SWITCH_HEX },
			{ "session", 16, SWITCH_DECIMAL },
		}
	},
	[JOURNAL_APPENDER] = {
		"journal_appender", "journal_appender_is", 0, 1, 0, 5, {
			{ "mac", 48, SWITCH_MAC },
			{ "ip", 32, SWITCH_IPV4 },
			{ "start", 48, SWITCH_HEX },
			{ "boot", 64, SWITCH_DECIMAL },
			{ "epoch", 64, SWITCH_DECIMAL },
		}
	},
};

#define AT(member) offsetof(struct journal_state, member)

const struct switch_object journal_objects[JOURNAL_OBJECTS] = {
	[JOURNAL_COLLECTOR] = { "journal", SWITCH_TABLE, SWITCH_NUMBERED,
				&journal_tables[JOURNAL_COLLECTOR], AT(collector) },
	[JOURNAL_APPENDER] = { "appender", SWITCH_TABLE, SWITCH_NUMBERED,
			       &journal_tables[JOURNAL_APPENDER], AT(appender) },
	[JOURNAL_SESSION] = { "session", SWITCH_SESSION, SWITCH_FROM_ONE, &switch_session,
			      AT(sessions) },
	[JOURNAL_PSN] = { "psn", SWITCH_REGISTER, SWITCH_NUMBERED, &switch_psn, AT(first_psn) },
};

/* The present time as a start, see <dart/journal.h>. */
static uint64_t start_of(uint64_t time_us)
{
	return (time_us / US_PER_S) << 16 | ((time_us % US_PER_S) << 16) / US_PER_S;
}

void journal_state__want(const struct journal_wish *wish, const struct journal_state *now,
			 struct journal_state *wanted)
{
	const struct dart_collector *collector = &wish->target.collector;
	const struct dart_journal_geometry *geometry = &wish->target.geometry;
	const uint32_t ip = ntohl(collector->reporter.s_addr);
	uint64_t *values = wanted->collector.values;

	wanted->collector.there = true;
	values[JOURNAL_MAC] = switch_mac__number(collector->mac);
	values[JOURNAL_IP] = ntohl(collector->ip.s_addr);
	values[JOURNAL_QPN] = collector->qpn;
	values[JOURNAL_RKEY] = collector->rkey;
	values[JOURNAL_BASE] = collector->base;
	values[JOURNAL_PLACES_MASK] = (1u << geometry->batches_log2) - 1;
	values[JOURNAL_LISTS_MASK] = (1u << geometry->lists_log2) - 1;
	values[JOURNAL_TO_SESSION] = 1 + wish->port;
	values = wanted->appender.values;
	wanted->appender.there = true;
	values[APPENDER_MAC] = switch_mac__of_ip(ip);
	values[APPENDER_IP] = ip;
	values[APPENDER_EPOCH] = collector->epoch;
	if (now->appender.there) {
		values[APPENDER_START] = now->appender.values[APPENDER_START];
		values[APPENDER_BOOT] = now->appender.values[APPENDER_BOOT];
	} else {
		values[APPENDER_START] = start_of(now->time_us);
		values[APPENDER_BOOT] = now->time_us - now->up_us;
	}
	switch_entry__set(&wanted->sessions[wish->port], wish->port);
	switch_entry__set(&wanted->first_psn, collector->first_psn);
}

int journal_state__check(const struct journal_wish *wish, const struct journal_state *now,
			 struct dart_error *error)
{
	const struct dart_journal_geometry *geometry = &wish->target.geometry;
	struct journal_state wanted = {};

	if (geometry->batch_log2 != BATCH_LOG2 || geometry->entry_length != ENTRY_LENGTH)
		return dart_error__set(
			error, EINVAL,
			"the journal has batches of %u bytes and entries of %u, but the program has %u and %u (dartctl journal create --batch %u --entry %u)",
			1u << geometry->batch_log2, geometry->entry_length, 1u << BATCH_LOG2,
			ENTRY_LENGTH, 1u << BATCH_LOG2, ENTRY_LENGTH);
	if (geometry->lists_log2 > LISTS_LOG2_MAX)
		return dart_error__set(error, EINVAL,
				       "the journal has %u lists, but a switch has room for %u",
				       1u << geometry->lists_log2, 1u << LISTS_LOG2_MAX);
	if (!now->collector.there || !now->appender.there)
		return 0;
	journal_state__want(wish, now, &wanted);
	if (now->collector.values[JOURNAL_PLACES_MASK] !=
		    wanted.collector.values[JOURNAL_PLACES_MASK] ||
	    now->collector.values[JOURNAL_LISTS_MASK] !=
		    wanted.collector.values[JOURNAL_LISTS_MASK])
		return dart_error__set(
			error, EINVAL,
			"it appends to a journal of another size (restart the switch first)");
	if (now->appender.values[APPENDER_IP] != wanted.appender.values[APPENDER_IP])
		return dart_error__set(error, EINVAL,
				       "it appends as another appender (restart the switch first)");
	return 0;
}

/* Is the wanted queue pair another one, or was it made again?  Then it expects its first PSN. */
static bool is_renewed(const struct journal_state *now, const struct journal_state *wanted)
{
	return !now->collector.there || !now->appender.there ||
	       now->collector.values[JOURNAL_IP] != wanted->collector.values[JOURNAL_IP] ||
	       now->collector.values[JOURNAL_QPN] != wanted->collector.values[JOURNAL_QPN] ||
	       now->appender.values[APPENDER_EPOCH] != wanted->appender.values[APPENDER_EPOCH];
}

int journal_state__compute(const struct journal_state *now, const struct journal_state *wanted,
			   struct switch_steps *steps)
{
	uint32_t port;

	switch_steps__begin(steps);
	for (port = 0; port < SWITCH_PORTS; port++)
		switch_steps__update(steps, JOURNAL_SESSION, &now->sessions[port],
				     &wanted->sessions[port], port);
	switch_steps__update(steps, JOURNAL_COLLECTOR, &now->collector, &wanted->collector, 0);
	if (is_renewed(now, wanted))
		switch_steps__add(steps, SWITCH_CHANGE, JOURNAL_PSN, 0);
	switch_steps__update(steps, JOURNAL_APPENDER, &now->appender, &wanted->appender, 0);
	return switch_steps__end(steps);
}
