// SPDX-License-Identifier: GPL-2.0-only
/* The state of a switch that reports, as it is and as it should be, see state.h. */
#include <arpa/inet.h>

#include <libdart/report/roce_frame.h>

#include "state.h"

const struct switch_table report_tables[TRANSLATOR_TABLES] = {
	[REPORT_SHARE] = {
		"dart_share", "dart_assign", DART_STORE_SHARE_BITS,
		DART_STORE_SHARES, DART_STORE_SHARES, 2, {
			{ "collector", 8, SWITCH_DECIMAL },
			{ "session", 16, SWITCH_DECIMAL },
		}
	},
	[REPORT_COLLECTOR] = {
		"dart_collector", "dart_send_to", 8, REPORT_COLLECTOR_KEYS,
		SWITCH_HOSTS_MAX, 7, {
			{ "mac", 48, SWITCH_MAC },
			{ "ip", 32, SWITCH_IPV4 },
			{ "qpn", 24, SWITCH_DECIMAL },
			{ "rkey", 32, SWITCH_DECIMAL },
			{ "base", 64, SWITCH_HEX },
			{ "mask", 32, SWITCH_HEX },
			{ "redundancy", 8, SWITCH_DECIMAL },
		}
	},
	[REPORT_REPORTER] = {
		"dart_reporter", "dart_report_from", 0, 1, 0, 4, {
			{ "mac", 48, SWITCH_MAC },
			{ "ip", 32, SWITCH_IPV4 },
			{ "checksum_bytes", 8, SWITCH_DECIMAL },
			{ "all_copies", 8, SWITCH_DECIMAL },
		}
	},
	[REPORT_CONNECTION] = {
		"dart_connection", "dart_reliable", 8, REPORT_COLLECTOR_KEYS,
		SWITCH_HOSTS_MAX, 1, {
			{ "first_psn", 24, SWITCH_DECIMAL },
		}
	},
	[REPORT_ANSWER] = {
		"dart_answer", "dart_answer_of", 56, SWITCH_HOSTS_MAX,
		SWITCH_HOSTS_MAX, 2, {
			{ "collector", 8, SWITCH_DECIMAL },
			{ "session", 16, SWITCH_DECIMAL },
		}, .is_sparse = true,
	},
	[REPORT_TRANSLATION_TABLE] = {
		"postcards_translation", "postcards_gather", 0, 1, 0, 3, {
			{ "port", 16, SWITCH_DECIMAL },
			{ "mask", 32, SWITCH_HEX },
			{ "age", 48, SWITCH_DECIMAL },
		}
	},
};

#define AT(member) offsetof(struct report_state, member)

const struct switch_object report_objects[TRANSLATOR_OBJECTS] = {
	[REPORT_SHARE] = { "share", SWITCH_TABLE, SWITCH_NUMBERED, &report_tables[REPORT_SHARE],
			   AT(shares) },
	[REPORT_COLLECTOR] = { "collector", SWITCH_TABLE, SWITCH_NUMBERED,
			       &report_tables[REPORT_COLLECTOR], AT(collectors) },
	[REPORT_REPORTER] = { "reporter", SWITCH_TABLE, SWITCH_NUMBERED,
			      &report_tables[REPORT_REPORTER], AT(reporter) },
	[REPORT_CONNECTION] = { "reliable connection", SWITCH_TABLE, SWITCH_NUMBERED,
				&report_tables[REPORT_CONNECTION], AT(connections) },
	[REPORT_ANSWER] = { "answers", SWITCH_TABLE, SWITCH_BY_ADDRESS,
			    &report_tables[REPORT_ANSWER], AT(answers) },
	[REPORT_SESSION] = { "session", SWITCH_SESSION, SWITCH_FROM_ONE, &switch_session,
			     AT(sessions) },
	[REPORT_PSN] = { "psn", SWITCH_REGISTER, SWITCH_NUMBERED, &switch_psn, AT(first_psns) },
	[REPORT_TRANSLATION] = { "postcards", SWITCH_TABLE, SWITCH_NUMBERED,
				 &report_tables[REPORT_TRANSLATION_TABLE], AT(translation) },
};

/* Is @entry that of this queue pair? */
static bool is_host(const void *hosts, uint32_t index, const struct switch_entry *entry)
{
	const struct dart_collector *collectors = hosts;

	return entry->values[COLLECTOR_IP] == ntohl(collectors[index].ip.s_addr) &&
	       entry->values[COLLECTOR_QPN] == collectors[index].qpn;
}

static void want_reporter(struct switch_entry *entry, const struct dart_collector *collector,
			  bool all_copies)
{
	uint32_t ip = ntohl(collector->reporter.s_addr);

	entry->there = true;
	entry->values[REPORTER_MAC] = switch_mac__of_ip(ip);
	entry->values[REPORTER_IP] = ip;
	entry->values[REPORTER_CHECKSUM_BYTES] = collector->geometry.checksum_bits / 8;
	entry->values[REPORTER_ALL_COPIES] = all_copies;
}

static void want_collector(struct switch_entry *entry, const struct dart_collector *collector)
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

static void want_connection(struct report_state *wanted, const struct dart_collector *collector,
			    uint32_t number, uint16_t port)
{
	struct switch_entry *answer = &wanted->answers[number];

	switch_entry__set(&wanted->connections[number], collector->first_psn);
	answer->there = true;
	answer->key = (uint64_t)ntohl(collector->ip.s_addr) << 24 | collector->qpn;
	answer->values[ANSWER_COLLECTOR] = number;
	answer->values[ANSWER_SESSION] = 1 + port;
}

static void want_translation(struct switch_entry *entry,
			     const struct report_translation *translation)
{
	entry->there = true;
	entry->values[TRANSLATION_PORT] = translation->port;
	entry->values[TRANSLATION_MASK] = translation->rows - 1;
	entry->values[TRANSLATION_AGE] = translation->age_us;
}

/* The probe that is under way at first is no report. */
uint32_t report_state__unanswered(uint64_t state, uint64_t next, uint64_t expected)
{
	const uint32_t distance = (next - expected) & DART_ROCE_PSN_MASK;

	if (state & REPORT_STATE_FOLLOWED)
		return distance;
	return state & REPORT_STATE_PROBING && distance ? distance - 1 : 0;
}

const struct switch_entry *report_state__answer(const struct switch_entry answers[SWITCH_HOSTS_MAX],
						const struct switch_entry *entry)
{
	uint32_t i;

	for (i = 0; i < SWITCH_HOSTS_MAX; i++)
		if (answers[i].there && answers[i].key == entry->key)
			return &answers[i];
	return NULL;
}

void report_state__want(const struct report_wish *wish, const struct report_state *now,
			struct report_state *wanted)
{
	const struct dart_collectors *collectors = &wish->collectors;
	uint8_t numbers[SWITCH_HOSTS_MAX];
	struct switch_entry *entry;
	uint32_t i, share;

	switch_hosts__number(now->collectors, collectors->list, collectors->count, is_host,
			     numbers);
	want_reporter(&wanted->reporter, &collectors->list[0], wish->all_copies);
	if (wish->translation.port)
		want_translation(&wanted->translation, &wish->translation);
	for (i = 0; i < collectors->count; i++) {
		want_collector(&wanted->collectors[numbers[i]], &collectors->list[i]);
		switch_entry__set(&wanted->first_psns[numbers[i]], collectors->list[i].first_psn);
		switch_entry__set(&wanted->sessions[wish->ports[i]], wish->ports[i]);
		if (collectors->list[i].is_reliable)
			want_connection(wanted, &collectors->list[i], numbers[i], wish->ports[i]);
	}
	for (share = 0; share < DART_STORE_SHARES; share++) {
		i = collectors->shares[share];
		if (i == DART_COLLECTOR_NONE)
			continue;
		entry = &wanted->shares[share];
		entry->there = true;
		entry->values[SHARE_COLLECTOR] = numbers[i];
		entry->values[SHARE_SESSION] = 1 + wish->ports[i];
	}
}
