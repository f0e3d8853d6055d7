// SPDX-License-Identifier: GPL-2.0-only
/* Compares requests of a configuration with the requests that dartd has carried out. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dart/journal.h>
#include <dart/ledger.h>
#include <dart/registration.h>
#include <dart/sketch.h>
#include <dart/store.h>
#include <dart/tea.h>

#include "registered.h"

static const char *text_of(const json_t *json, const char *member)
{
	return json_string_value(json_object_get(json, member)) ?: "";
}

/* The defaults of members that a request may leave out; NULL: the kind has no defaults. */
static json_t *defaults_of(const char *type)
{
	if (!strcmp(type, "store-create"))
		return json_pack(
			"{s:s, s:s, s:s, s:s, s:s, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:b}",
			"request", "", "name", "", "file", "", "schema", "", "transport", "auto",
			"slots_log2", -1, "value_length", -1, "checksum_bits",
			DART_STORE_CHECKSUM_BITS, "redundancy", DART_STORE_REDUNDANCY, "epoch_ns",
			0, "epoch_reports", 0, "keep_ns", 0, "keep_bytes", 0, "falling", 0);
	if (!strcmp(type, "table-create"))
		return json_pack("{s:s, s:s, s:s, s:s, s:i, s:i, s:i, s:i, s:i, s:[ii]}", "request",
				 "", "name", "", "file", "", "user", DART_REGISTRATION_TABLE_USER,
				 "rows_log2", -1, "key_length", -1, "value_length", -1, "cells",
				 DART_TEA_CELLS, "packet_length", DART_TEA_PACKET, "shares", 0,
				 DART_TEA_SHARES - 1);
	if (!strcmp(type, "journal-create"))
		return json_pack("{s:s, s:s, s:s, s:i, s:i, s:i, s:i, s:i}", "request", "", "name",
				 "", "file", "", "batches_log2", -1, "entry_length", -1,
				 "batch_log2", DART_JOURNAL_BATCH_LOG2, "lists_log2", 0, "parts",
				 DART_JOURNAL_PARTS);
	if (!strcmp(type, "ledger-create"))
		return json_pack("{s:s, s:s, s:s, s:i, s:i}", "request", "", "name", "", "file", "",
				 "words_log2", -1, "rows", DART_LEDGER_ROWS);
	if (!strcmp(type, "sketch-create"))
		return json_pack("{s:s, s:s, s:s, s:s, s:i, s:i, s:I, s:i}", "request", "", "name",
				 "", "file", "", "kind", "count-min", "columns_log2", -1, "rows",
				 DART_SKETCH_ROWS, "period", (json_int_t)DART_SKETCH_PERIOD,
				 "parts", DART_SKETCH_PARTS);
	return NULL;
}

/* The same text for requests that mean the same; NULL without memory. */
static char *identity_of(const json_t *request, const char *path)
{
	const char *type = text_of(request, "request");
	json_t *whole = defaults_of(type);
	char *text = NULL;
	int ret = 0;

	if (whole)
		ret = json_object_update(whole, (json_t *)request);
	else
		whole = json_copy((json_t *)request);
	/* Maps without names differ in their paths only. */
	if (!ret && !strcmp(type, "register-map"))
		ret = json_object_set_new(whole, "path", json_string(path));
	if (!ret)
		text = json_dumps(whole, JSON_COMPACT | JSON_SORT_KEYS);
	json_decref(whole);
	return text;
}

/* The first of two equal registrations counts. */
static int add(json_t *registered, const json_t *registration)
{
	char *identity = identity_of(json_object_get(registration, "request"),
				     text_of(registration, "path"));
	int ret = -ENOMEM;

	if (!identity)
		return ret;
	if (json_object_get(registered, identity) ||
	    !json_object_set_new(registered, identity,
				 json_boolean(!json_object_get(registration, "missing"))))
		ret = 0;
	free(identity);
	return ret;
}

json_t *registered__index(const json_t *registrations)
{
	json_t *registered = json_object();
	const json_t *registration;
	size_t i;

	json_array_foreach((json_t *)registrations, i, registration) {
		if (!registered || add(registered, registration)) {
			json_decref(registered);
			return NULL;
		}
	}
	return registered;
}

int registered__has(const json_t *registered, const struct dart_configuration_item *item)
{
	char *identity = identity_of(item->request, item->path ?: "");
	int ret = identity ? json_is_true(json_object_get(registered, identity)) : -ENOMEM;

	free(identity);
	return ret;
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
	static const char *const further[] = {
		"netns",      "netdev", "disk",	 "cgroup",  "ledger",
		"filesystem", "store",	"table", "journal", "sketch"
	};
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
