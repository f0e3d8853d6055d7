// SPDX-License-Identifier: GPL-2.0-only
/* Compares requests of a configuration with the requests that dartd has carried out. */
#include <stdio.h>
#include <string.h>

#include <dart/journal.h>
#include <dart/ledger.h>
#include <dart/sketch.h>
#include <dart/store.h>
#include <dart/tea.h>

#include "registered.h"

static const char *text_of(const json_t *json, const char *member)
{
	return json_string_value(json_object_get(json, member)) ?: "";
}

/* Compares a number of two stores; a missing one stands for the default. */
static bool is_same_number(const json_t *a, const json_t *b, const char *member,
			   json_int_t otherwise)
{
	const json_t *number_a = json_object_get(a, member);
	const json_t *number_b = json_object_get(b, member);

	return (number_a ? json_integer_value(number_a) : otherwise) ==
	       (number_b ? json_integer_value(number_b) : otherwise);
}

static bool is_same_store(const json_t *a, const json_t *b)
{
	return !strcmp(text_of(a, "name"), text_of(b, "name")) &&
	       !strcmp(text_of(a, "file"), text_of(b, "file")) &&
	       is_same_number(a, b, "slots_log2", -1) && is_same_number(a, b, "value_length", -1) &&
	       is_same_number(a, b, "checksum_bits", DART_STORE_CHECKSUM_BITS) &&
	       is_same_number(a, b, "redundancy", DART_STORE_REDUNDANCY) &&
	       is_same_number(a, b, "epoch_ns", 0) && is_same_number(a, b, "epoch_reports", 0) &&
	       is_same_number(a, b, "keep_ns", 0) && is_same_number(a, b, "keep_bytes", 0) &&
	       !strcmp(text_of(a, "schema"), text_of(b, "schema")) &&
	       json_is_true(json_object_get(a, "falling")) ==
		       json_is_true(json_object_get(b, "falling"));
}

/*
 * Compares lookup tables as the agent would register them: missing numbers stand for the defaults.
 */
static bool is_same_table(const json_t *a, const json_t *b)
{
	const json_t *shares = json_object_get(a, "shares");
	const json_t *others = json_object_get(b, "shares");
	json_t *all = json_pack("[ii]", 0, DART_TEA_SHARES - 1);
	bool is_same = json_equal(shares ?: all, others ?: all);

	json_decref(all);
	return is_same && !strcmp(text_of(a, "name"), text_of(b, "name")) &&
	       !strcmp(text_of(a, "file"), text_of(b, "file")) &&
	       is_same_number(a, b, "rows_log2", -1) && is_same_number(a, b, "key_length", -1) &&
	       is_same_number(a, b, "value_length", -1) &&
	       is_same_number(a, b, "cells", DART_TEA_CELLS) &&
	       is_same_number(a, b, "packet_length", DART_TEA_PACKET);
}

static bool is_same_journal(const json_t *a, const json_t *b)
{
	return !strcmp(text_of(a, "name"), text_of(b, "name")) &&
	       !strcmp(text_of(a, "file"), text_of(b, "file")) &&
	       is_same_number(a, b, "batches_log2", -1) &&
	       is_same_number(a, b, "entry_length", -1) &&
	       is_same_number(a, b, "batch_log2", DART_JOURNAL_BATCH_LOG2) &&
	       is_same_number(a, b, "lists_log2", 0) &&
	       is_same_number(a, b, "parts", DART_JOURNAL_PARTS);
}

static bool is_same_ledger(const json_t *a, const json_t *b)
{
	return !strcmp(text_of(a, "name"), text_of(b, "name")) &&
	       !strcmp(text_of(a, "file"), text_of(b, "file")) &&
	       is_same_number(a, b, "words_log2", -1) &&
	       is_same_number(a, b, "rows", DART_LEDGER_ROWS);
}

/* The kind of a sketch, which is the default if it is missing. */
static const char *kind_of(const json_t *request)
{
	const char *kind = text_of(request, "kind");

	return *kind ? kind : "count-min";
}

static bool is_same_sketch(const json_t *a, const json_t *b)
{
	return !strcmp(text_of(a, "name"), text_of(b, "name")) &&
	       !strcmp(text_of(a, "file"), text_of(b, "file")) &&
	       !strcmp(kind_of(a), kind_of(b)) && is_same_number(a, b, "columns_log2", -1) &&
	       is_same_number(a, b, "rows", DART_SKETCH_ROWS) &&
	       is_same_number(a, b, "period", DART_SKETCH_PERIOD) &&
	       is_same_number(a, b, "parts", DART_SKETCH_PARTS);
}

static bool is_same(const json_t *registration, const struct dart_configuration_item *item)
{
	const json_t *request = json_object_get(registration, "request");
	const char *type = text_of(item->request, "request");

	if (strcmp(text_of(request, "request"), type))
		return false;
	if (!strcmp(type, "store-create"))
		return is_same_store(request, item->request);
	if (!strcmp(type, "table-create"))
		return is_same_table(request, item->request);
	if (!strcmp(type, "journal-create"))
		return is_same_journal(request, item->request);
	if (!strcmp(type, "ledger-create"))
		return is_same_ledger(request, item->request);
	if (!strcmp(type, "sketch-create"))
		return is_same_sketch(request, item->request);
	/* Maps without names differ in their paths only. */
	if (!strcmp(type, "register-map") && strcmp(text_of(registration, "path"), item->path))
		return false;
	return json_equal(request, item->request);
}

bool registered__has(const json_t *registrations, const struct dart_configuration_item *item)
{
	const json_t *registration;
	size_t i;

	json_array_foreach((json_t *)registrations, i, registration)
		if (is_same(registration, item))
			return !json_object_get(registration, "missing");
	return false;
}

void registered__describe(const struct dart_configuration_item *item, char *text, size_t size)
{
	static const struct {
		const char *request, *kind, *name;
	} kinds[] = {
		{ "register-host", "host, gathered every", "gather" },
		{ "register-source", "source", "source" },
		{ "follow-source", "follower of", "source" },
		{ "register-map", "map", "name" },
		{ "register-counters", "counters", "name" },
		{ "probe-load", "probe", "name" },
		{ "store-create", "store", "name" },
		{ "reporter-add", "reporter", "address" },
		{ "table-create", "table", "name" },
		{ "requester-add", "requester", "address" },
		{ "journal-create", "journal", "name" },
		{ "appender-add", "appender", "address" },
		{ "ledger-create", "ledger", "name" },
		{ "adder-add", "adder", "address" },
		{ "sketch-create", "sketch", "name" },
		{ "sketcher-add", "sketcher", "address" },
	};
	static const char *const further[] = { "netns",	     "netdev", "disk",	"cgroup", "ledger",
					       "filesystem", "store",  "table", "journal", "sketch" };
	const char *type = text_of(item->request, "request"), *name, *value;
	size_t i, used = 0;

	*text = '\0';
	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (strcmp(kinds[i].request, type))
			continue;
		name = text_of(item->request, kinds[i].name);
		used = snprintf(text, size, "%s %s", kinds[i].kind, *name ? name : item->path);
	}
	for (i = 0; i < sizeof(further) / sizeof(further[0]) && used < size; i++) {
		value = text_of(item->request, further[i]);
		if (*value)
			used += snprintf(text + used, size - used, ", %s %s", further[i], value);
	}
}
