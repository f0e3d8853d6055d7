// SPDX-License-Identifier: GPL-2.0-only
/* The state of a switch that adds up strips, as it is and as it should be, see merge_state.h. */
#include <arpa/inet.h>
#include <errno.h>

#include "merge_state.h"

/* See p4/v1model/merger.p4. */
#define ROWS 4
#define COLUMNS_LOG2_MAX 12

#define US_PER_S UINT64_C(1000000)
/* A bank has strips of one period for as long as two of them. */
#define FORGET_PERIODS 2

const struct switch_table merge_tables[MERGE_TABLES] = {
	[MERGE_COLLECTOR] = {
		"merge_collector", "merge_write_to", 0, 1, 0, 7, {
			{ "mac", 48, SWITCH_MAC },
			{ "ip", 32, SWITCH_IPV4 },
			{ "qpn", 24, SWITCH_DECIMAL },
			{ "rkey", 32, SWITCH_DECIMAL },
			{ "base", 64, SWITCH_HEX },
			{ "mask", 16, SWITCH_HEX },
			{ "session", 16, SWITCH_DECIMAL },
		}
	},
	[MERGE_TRANSLATOR] = {
		"merge_translator", "merge_translator_is", 0, 1, 0, 7, {
			{ "mac", 48, SWITCH_MAC },
			{ "ip", 32, SWITCH_IPV4 },
			{ "kind", 8, SWITCH_DECIMAL },
			{ "sketchers", 64, SWITCH_HEX },
			{ "age", 48, SWITCH_DECIMAL },
			{ "forget", 48, SWITCH_DECIMAL },
			{ "epoch", 64, SWITCH_DECIMAL },
		}
	},
	[MERGE_SKETCHER] = {
		"merge_sketcher", "merge_sketcher_is", 56, MERGE_SKETCHERS, MERGE_SKETCHERS, 1, {
			{ "number", 8, SWITCH_DECIMAL },
		}, .is_sparse = true,
	},
};

#define AT(member) offsetof(struct merge_state, member)

const struct switch_object merge_objects[MERGE_OBJECTS] = {
	[MERGE_COLLECTOR] = { "sketch", SWITCH_TABLE, SWITCH_NUMBERED,
			      &merge_tables[MERGE_COLLECTOR], AT(collector) },
	[MERGE_TRANSLATOR] = { "translator", SWITCH_TABLE, SWITCH_NUMBERED,
			       &merge_tables[MERGE_TRANSLATOR], AT(translator) },
	[MERGE_SKETCHER] = { "sketcher", SWITCH_TABLE, SWITCH_BY_ADDRESS,
			     &merge_tables[MERGE_SKETCHER], AT(sketchers) },
	[MERGE_SESSION] = { "session", SWITCH_SESSION, SWITCH_FROM_ONE, &switch_session,
			    AT(sessions) },
	[MERGE_PSN] = { "psn", SWITCH_REGISTER, SWITCH_NUMBERED, &switch_psn, AT(first_psn) },
};

/* The address of a sketcher is in the upper bits of its key. */
static uint64_t key_of(const struct sketchers_source *source)
{
	return (uint64_t)ntohl(source->address.s_addr) << 24 | source->qpn;
}

void merge_state__want(const struct merge_wish *wish, struct merge_state *wanted)
{
	const struct sketchers *sketchers = &wish->sketchers;
	const struct dart_collector *collector = &sketchers->target.collector;
	const struct dart_sketch_geometry *geometry = &sketchers->target.geometry;
	const uint32_t ip = ntohl(collector->reporter.s_addr);
	uint64_t *values = wanted->collector.values;
	uint32_t i;

	wanted->collector.there = true;
	values[MERGE_MAC] = switch_mac__number(collector->mac);
	values[MERGE_IP] = ntohl(collector->ip.s_addr);
	values[MERGE_QPN] = collector->qpn;
	values[MERGE_RKEY] = collector->rkey;
	values[MERGE_BASE] = collector->base;
	values[MERGE_MASK] = (1u << (geometry->columns_log2 - DART_SKETCH_STRIP_COLUMNS_LOG2)) - 1;
	values[MERGE_TO_SESSION] = 1 + wish->port;
	values = wanted->translator.values;
	wanted->translator.there = true;
	values[TRANSLATOR_MAC] = switch_mac__of_ip(ip);
	values[TRANSLATOR_IP] = ip;
	values[TRANSLATOR_KIND] = geometry->kind;
	/* Fewer than all bits, because the translator has a part, too. */
	values[TRANSLATOR_SKETCHERS] = (UINT64_C(1) << sketchers->count) - 1;
	values[TRANSLATOR_AGE] = wish->age_us;
	values[TRANSLATOR_FORGET] = FORGET_PERIODS * geometry->period * US_PER_S;
	values[TRANSLATOR_EPOCH] = collector->epoch;
	for (i = 0; i < sketchers->count; i++) {
		switch_entry__set(&wanted->sketchers[i], i);
		wanted->sketchers[i].key = key_of(&sketchers->sources[i]);
	}
	switch_entry__set(&wanted->sessions[wish->port], wish->port);
	switch_entry__set(&wanted->first_psn, collector->first_psn);
}

/* Does the switch know a sketcher at another address by the number of a wanted one? */
static bool has_others(const struct merge_state *now, const struct merge_state *wanted)
{
	const struct switch_entry *there;
	uint64_t number;
	uint32_t i;

	for (i = 0; i < MERGE_SKETCHERS; i++) {
		there = &now->sketchers[i];
		number = there->values[0];
		if (there->there &&
		    (number >= MERGE_SKETCHERS || !wanted->sketchers[number].there ||
		     wanted->sketchers[number].key >> 24 != there->key >> 24))
			return true;
	}
	return now->translator.values[TRANSLATOR_SKETCHERS] !=
	       wanted->translator.values[TRANSLATOR_SKETCHERS];
}

int merge_state__check(const struct merge_wish *wish, const struct merge_state *now,
		       struct dart_error *error)
{
	const struct dart_sketch_geometry *geometry = &wish->sketchers.target.geometry;
	struct merge_state wanted = {};

	if (geometry->rows != ROWS)
		return dart_error__set(
			error, EINVAL,
			"the sketch has %u rows, but the program has %u (dartctl sketch create --rows %u)",
			geometry->rows, ROWS, ROWS);
	if (geometry->columns_log2 > COLUMNS_LOG2_MAX)
		return dart_error__set(error, EINVAL,
				       "the sketch has %u columns, but a switch has room for %u",
				       1u << geometry->columns_log2, 1u << COLUMNS_LOG2_MAX);
	if (!now->collector.there || !now->translator.there)
		return 0;
	merge_state__want(wish, &wanted);
	if (now->collector.values[MERGE_MASK] != wanted.collector.values[MERGE_MASK] ||
	    now->translator.values[TRANSLATOR_KIND] != wanted.translator.values[TRANSLATOR_KIND])
		return dart_error__set(
			error, EINVAL,
			"it adds up a sketch of another size or kind (restart the switch first)");
	if (now->translator.values[TRANSLATOR_IP] != wanted.translator.values[TRANSLATOR_IP])
		return dart_error__set(error, EINVAL,
				       "it is another translator (restart the switch first)");
	if (has_others(now, &wanted))
		return dart_error__set(
			error, EINVAL,
			"it adds up the strips of other sketchers (restart the switch first)");
	return 0;
}

/* Is the wanted queue pair another one, or was it made again?  Then it expects its first PSN. */
static bool is_renewed(const struct merge_state *now, const struct merge_state *wanted)
{
	return !now->collector.there || !now->translator.there ||
	       now->collector.values[MERGE_IP] != wanted->collector.values[MERGE_IP] ||
	       now->collector.values[MERGE_QPN] != wanted->collector.values[MERGE_QPN] ||
	       now->translator.values[TRANSLATOR_EPOCH] !=
		       wanted->translator.values[TRANSLATOR_EPOCH];
}

static const struct switch_entry *sketcher_with_key(const struct switch_entry *sketchers,
						    uint64_t key)
{
	static const struct switch_entry nothing;
	uint32_t i;

	for (i = 0; i < MERGE_SKETCHERS; i++)
		if (sketchers[i].there && sketchers[i].key == key)
			return &sketchers[i];
	return &nothing;
}

int merge_state__compute(const struct merge_state *now, const struct merge_state *wanted,
			 struct switch_steps *steps)
{
	uint32_t i;

	switch_steps__begin(steps);
	for (i = 0; i < SWITCH_PORTS; i++)
		switch_steps__update(steps, MERGE_SESSION, &now->sessions[i], &wanted->sessions[i],
				     i);
	switch_steps__update(steps, MERGE_COLLECTOR, &now->collector, &wanted->collector, 0);
	if (is_renewed(now, wanted))
		switch_steps__add(steps, SWITCH_CHANGE, MERGE_PSN, 0);
	switch_steps__update(steps, MERGE_TRANSLATOR, &now->translator, &wanted->translator, 0);
	for (i = 0; i < MERGE_SKETCHERS; i++)
		if (now->sketchers[i].there &&
		    !sketcher_with_key(wanted->sketchers, now->sketchers[i].key)->there)
			switch_steps__add(steps, SWITCH_REMOVE, MERGE_SKETCHER, i);
	for (i = 0; i < MERGE_SKETCHERS; i++)
		switch_steps__update(steps, MERGE_SKETCHER,
				     sketcher_with_key(now->sketchers, wanted->sketchers[i].key),
				     &wanted->sketchers[i], i);
	return switch_steps__end(steps);
}
