// SPDX-License-Identifier: LGPL-2.1-or-later
/* Prints registrations as a configuration file. */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <libdart/yaml_file.h>
#include <libdart/settings/quantity.h>

#include "configuration.h"

#define NS_PER_S INT64_C(1000000000)

/* The lists of a file, in the order in which they are printed. */
enum list {
	LIST_HOST,
	LIST_SOURCES,
	LIST_MAPS,
	LIST_COUNTERS,
	LIST_PROBES,
	LIST_APPLICATIONS,
	LIST_STORES,
	LIST_REPORTERS, /* inside of stores */
	LIST_TABLES,
	LIST_REQUESTERS, /* inside of tables */
	LIST_JOURNALS,
	LIST_APPENDERS, /* inside of journals */
	LIST_LEDGERS,
	LIST_ADDERS, /* inside of ledgers */
	LIST_SKETCHES,
	LIST_SKETCHERS, /* inside of sketches */
};

static const struct {
	const char *request;
	enum list list;
} types[] = {
	{ "register-host", LIST_HOST },
	{ "register-source", LIST_SOURCES },
	{ "follow-source", LIST_SOURCES },
	{ "register-map", LIST_MAPS },
	{ "register-counters", LIST_COUNTERS },
	{ "probe-load", LIST_PROBES },
	{ "application-add", LIST_APPLICATIONS },
	{ "store-create", LIST_STORES },
	{ "reporter-add", LIST_REPORTERS },
	{ "table-create", LIST_TABLES },
	{ "requester-add", LIST_REQUESTERS },
	{ "journal-create", LIST_JOURNALS },
	{ "appender-add", LIST_APPENDERS },
	{ "ledger-create", LIST_LEDGERS },
	{ "adder-add", LIST_ADDERS },
	{ "sketch-create", LIST_SKETCHES },
	{ "sketcher-add", LIST_SKETCHERS },
};

struct printer {
	FILE *file;
	const json_t *registrations;
	int comments; /* printed in place of a registration */
};

static const char *text_of(const json_t *request, const char *member)
{
	return json_string_value(json_object_get(request, member));
}

static const json_t *request_of(const json_t *registration)
{
	return json_object_get(registration, "request");
}

/* Is @text a YAML scalar without quotes, wherever it stands? */
static bool is_plain(const char *text)
{
	size_t length = strspn(text, "abcdefghijklmnopqrstuvwxyz"
				     "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				     "0123456789_-.:/@+=");

	return length && !text[length] && text[length - 1] != ':' && !strchr("-.:@=+", *text);
}

/* YAML takes the texts of JSON as quoted scalars. */
static void print_text(FILE *file, const char *text)
{
	json_t *json = is_plain(text) ? NULL : json_string(text);
	char *quoted = json ? json_dumps(json, JSON_ENCODE_ANY) : NULL;

	fputs(quoted ?: text, file);
	free(quoted);
	json_decref(json);
}

/* Prints "KEY: TEXT" of an item; omits a @text that is NULL. */
static void print_member(FILE *file, bool *is_first, const char *key, const char *text)
{
	if (!text)
		return;
	fprintf(file, "  %s %s: ", *is_first ? "-" : " ", key);
	print_text(file, text);
	fputc('\n', file);
	*is_first = false;
}

static bool is_of(const json_t *registration, enum list list)
{
	const char *name = text_of(request_of(registration), "request") ?: "";
	size_t i;

	for (i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (types[i].list == list && !strcmp(types[i].request, name))
			return true;
	return false;
}

/* ---- the items of each list */

/* Does dartd find @path by the label alone? */
static bool has_path(enum dart_object_kind kind, const char *label, const char *path)
{
	char found[PATH_MAX];
	const char *again;
	struct dart_error error;

	return !dart_object__find(kind, label, found, &again, &error) &&
	       !strcmp(again, label) && !strcmp(found, path);
}

static bool is_deferrable(const json_t *registration)
{
	return json_is_true(json_object_get(request_of(registration), "deferrable"));
}

static void print_host(FILE *file, const json_t *registrations, const json_t *registration)
{
	fputs("  gather: ", file);
	print_text(file, text_of(request_of(registration), "gather"));
	fputc('\n', file);
	if (is_deferrable(registration))
		fputs("  deferrable: true\n", file);
}

static void print_source(FILE *file, const json_t *registrations, const json_t *registration)
{
	const json_t *request = request_of(registration);
	const char *netns = text_of(request, "netns");
	const char *disk = text_of(request, "disk");
	const char *cgroup = text_of(request, "cgroup");
	const char *filesystem = text_of(request, "filesystem");
	const char *label = netns ?: disk ?: cgroup ?: filesystem;
	const char *path = text_of(registration, "path");
	bool is_first = true, is_followed;

	is_followed = !strcmp(text_of(request, "request"), "follow-source");
	if (label && path &&
	    has_path(netns  ? DART_OBJECT_NETNS :
		     disk   ? DART_OBJECT_DISK :
		     cgroup ? DART_OBJECT_CGROUP :
			      DART_OBJECT_FILESYSTEM,
		     label, path))
		path = NULL;

	print_member(file, &is_first, "source", text_of(request, "source"));
	print_member(file, &is_first, "netns", netns);
	print_member(file, &is_first, "netdev", text_of(request, "netdev"));
	print_member(file, &is_first, "disk", disk);
	print_member(file, &is_first, "cgroup", cgroup);
	print_member(file, &is_first, "filesystem", filesystem);
	print_member(file, &is_first, "path", label ? path : NULL);
	print_member(file, &is_first, "gather", text_of(request, "gather"));
	if (is_deferrable(registration))
		fputs("    deferrable: true\n", file);
	if (is_followed)
		fputs("    follow: true\n", file);
}

static void print_map(FILE *file, const json_t *registrations, const json_t *registration)
{
	bool is_first = true;

	print_member(file, &is_first, "pinned", text_of(registration, "path"));
	print_member(file, &is_first, "name", text_of(request_of(registration), "name"));
}

static void print_counters(FILE *file, const json_t *registrations, const json_t *registration)
{
	const json_t *request = request_of(registration), *name;
	const json_t *names = json_object_get(request, "counters");
	bool is_first = true;
	size_t i;

	print_member(file, &is_first, "name", text_of(request, "name"));
	if (names)
		fputs("    counters:\n", file);
	json_array_foreach((json_t *)names, i, name) {
		fputs("      - ", file);
		print_text(file, json_string_value(name) ?: "");
		fputc('\n', file);
	}
}

static void print_probe(FILE *file, const json_t *registrations, const json_t *registration)
{
	fputs("  - ", file);
	print_text(file, text_of(request_of(registration), "name") ?: "");
	fputc('\n', file);
}

static void print_application(FILE *file, const json_t *registrations, const json_t *registration)
{
	const json_t *request = request_of(registration);
	bool is_first = true;

	print_member(file, &is_first, "application", text_of(request, "name"));
	print_member(file, &is_first, "unit", text_of(request, "unit"));
	print_member(file, &is_first, "cgroup", text_of(request, "cgroup"));
	print_member(file, &is_first, "exe", text_of(request, "exe"));
	print_member(file, &is_first, "gather", text_of(request, "gather"));
	if (json_is_true(json_object_get(request, "follow")))
		fputs("    follow: true\n", file);
}

static void print_number(FILE *file, const char *key, const json_t *number)
{
	if (number)
		fprintf(file, "    %s: %" JSON_INTEGER_FORMAT "\n", key,
			json_integer_value(number));
}

/* A quantity with the largest unit that divides it. */
static void print_quantity(FILE *file, const char *key, enum dart_quantity quantity,
			   const json_t *number)
{
	char text[32];

	if (!number)
		return;
	dart_quantity__print(quantity, json_integer_value(number), text, sizeof(text));
	fprintf(file, "    %s: %s\n", key, text);
}

static void print_seconds(FILE *file, const char *key, const json_t *number)
{
	char text[32];

	if (!number)
		return;
	dart_quantity__print(DART_QUANTITY_TIME, json_integer_value(number) * NS_PER_S, text,
			     sizeof(text));
	fprintf(file, "    %s: %s\n", key, text);
}

static void print_power(FILE *file, const char *key, const json_t *log2)
{
	fprintf(file, "    %s: 2^%" JSON_INTEGER_FORMAT "\n", key, json_integer_value(log2));
}

/* Prints the addresses of all requests @type whose member @of is @whole. */
static void print_parts(FILE *file, const json_t *registrations, const char *list, const char *type,
			const char *of, const char *whole)
{
	const json_t *registration, *request;
	bool is_first = true;
	size_t i;

	json_array_foreach((json_t *)registrations, i, registration) {
		request = request_of(registration);
		if (strcmp(text_of(request, "request") ?: "", type) ||
		    strcmp(text_of(request, of) ?: "", whole))
			continue;
		if (is_first)
			fprintf(file, "    %s:\n", list);
		fputs("      - ", file);
		print_text(file, text_of(request, "address"));
		fputc('\n', file);
		is_first = false;
	}
}

static void print_store(FILE *file, const json_t *registrations, const json_t *registration)
{
	const json_t *request = request_of(registration);
	const char *transport;
	bool is_first = true;

	print_member(file, &is_first, "name", text_of(request, "name"));
	print_power(file, "slots", json_object_get(request, "slots_log2"));
	print_number(file, "value", json_object_get(request, "value_length"));
	print_number(file, "checksum", json_object_get(request, "checksum_bits"));
	print_number(file, "redundancy", json_object_get(request, "redundancy"));
	print_member(file, &is_first, "file", text_of(request, "file"));
	print_quantity(file, "epoch", DART_QUANTITY_TIME, json_object_get(request, "epoch_ns"));
	print_number(file, "epoch", json_object_get(request, "epoch_reports"));
	print_quantity(file, "keep", DART_QUANTITY_TIME, json_object_get(request, "keep_ns"));
	print_quantity(file, "keep_bytes", DART_QUANTITY_BYTES,
		       json_object_get(request, "keep_bytes"));
	print_member(file, &is_first, "schema", text_of(request, "schema"));
	if (json_is_true(json_object_get(request, "falling")))
		fputs("    falling: true\n", file);
	transport = json_string_value(json_object_get(request, "transport"));
	if (transport)
		fprintf(file, "    transport: %s\n", transport);
	print_parts(file, registrations, "reporters", "reporter-add", "store",
		    text_of(request, "name"));
}

static void print_shares(FILE *file, const json_t *shares)
{
	if (shares)
		fprintf(file, "    shares: %" JSON_INTEGER_FORMAT "-%" JSON_INTEGER_FORMAT "\n",
			json_integer_value(json_array_get(shares, 0)),
			json_integer_value(json_array_get(shares, 1)));
}

static void print_table(FILE *file, const json_t *registrations, const json_t *registration)
{
	const json_t *request = request_of(registration);
	bool is_first = true;

	print_member(file, &is_first, "name", text_of(request, "name"));
	print_power(file, "rows", json_object_get(request, "rows_log2"));
	print_number(file, "key", json_object_get(request, "key_length"));
	print_number(file, "value", json_object_get(request, "value_length"));
	print_number(file, "cells", json_object_get(request, "cells"));
	print_number(file, "packet", json_object_get(request, "packet_length"));
	print_shares(file, json_object_get(request, "shares"));
	print_member(file, &is_first, "file", text_of(request, "file"));
	print_member(file, &is_first, "user", text_of(request, "user"));
	print_parts(file, registrations, "requesters", "requester-add", "table",
		    text_of(request, "name"));
}

static void print_journal(FILE *file, const json_t *registrations, const json_t *registration)
{
	const json_t *request = request_of(registration);
	const json_t *batch_log2 = json_object_get(request, "batch_log2");
	const json_t *lists_log2 = json_object_get(request, "lists_log2");
	bool is_first = true;

	print_member(file, &is_first, "name", text_of(request, "name"));
	print_power(file, "batches", json_object_get(request, "batches_log2"));
	print_number(file, "entry", json_object_get(request, "entry_length"));
	if (batch_log2)
		print_power(file, "batch", batch_log2);
	if (lists_log2)
		print_power(file, "lists", lists_log2);
	print_number(file, "parts", json_object_get(request, "parts"));
	print_member(file, &is_first, "file", text_of(request, "file"));
	print_parts(file, registrations, "appenders", "appender-add", "journal",
		    text_of(request, "name"));
}

static void print_ledger(FILE *file, const json_t *registrations, const json_t *registration)
{
	const json_t *request = request_of(registration);
	bool is_first = true;

	print_member(file, &is_first, "name", text_of(request, "name"));
	print_power(file, "words", json_object_get(request, "words_log2"));
	print_number(file, "rows", json_object_get(request, "rows"));
	print_member(file, &is_first, "file", text_of(request, "file"));
	print_parts(file, registrations, "adders", "adder-add", "ledger",
		    text_of(request, "name"));
}

static void print_sketch(FILE *file, const json_t *registrations, const json_t *registration)
{
	const json_t *request = request_of(registration);
	bool is_first = true;

	print_member(file, &is_first, "name", text_of(request, "name"));
	print_power(file, "columns", json_object_get(request, "columns_log2"));
	print_member(file, &is_first, "kind", text_of(request, "kind"));
	print_number(file, "rows", json_object_get(request, "rows"));
	print_seconds(file, "period", json_object_get(request, "period"));
	print_number(file, "parts", json_object_get(request, "parts"));
	print_member(file, &is_first, "file", text_of(request, "file"));
	print_parts(file, registrations, "sketchers", "sketcher-add", "sketch",
		    text_of(request, "name"));
}

/* ---- registrations that a file cannot express */

/* Can YAML hold all texts in @json? */
static bool has_texts(const json_t *json)
{
	const json_t *value;
	const char *key;
	size_t i;

	if (json_is_string(json))
		return strlen(json_string_value(json)) == json_string_length(json) &&
		       *json_string_value(json) && dart_yaml__is_text(json_string_value(json));
	json_array_foreach((json_t *)json, i, value)
		if (!has_texts(value))
			return false;
	json_object_foreach((json_t *)json, key, value)
		if (!has_texts(value))
			return false;
	return true;
}

static bool has_whole(const struct printer *printer, enum list list, const char *name)
{
	const json_t *registration;
	size_t i;

	json_array_foreach((json_t *)printer->registrations, i, registration)
		if (is_of(registration, list) && has_texts(request_of(registration)) &&
		    !strcmp(text_of(request_of(registration), "name"), name))
			return true;
	return false;
}

/* Returns the reason that a file cannot express the registration, or NULL. */
static const char *objection(const struct printer *printer, const json_t *registration)
{
	const json_t *request = request_of(registration);
	const json_t *path = json_object_get(registration, "path");

	if (!has_texts(request) || !has_texts(path))
		return "a text in it has control characters";
	if (is_of(registration, LIST_MAPS) && !path)
		return "the map is not pinned";
	if (is_of(registration, LIST_SOURCES) && !path &&
	    (text_of(request, "netns") || text_of(request, "disk") ||
	     text_of(request, "cgroup") || text_of(request, "filesystem")))
		return "the object that it counts for has no path";
	if (is_of(registration, LIST_APPLICATIONS) && json_object_get(request, "pid"))
		return "it is a process, which a file cannot name";
	if (is_of(registration, LIST_REPORTERS) &&
	    !has_whole(printer, LIST_STORES, text_of(request, "store") ?: ""))
		return "it reports to no store";
	if (is_of(registration, LIST_REQUESTERS) &&
	    !has_whole(printer, LIST_TABLES, text_of(request, "table") ?: ""))
		return "it looks no table up";
	if (is_of(registration, LIST_APPENDERS) &&
	    !has_whole(printer, LIST_JOURNALS, text_of(request, "journal") ?: ""))
		return "it appends to no journal";
	if (is_of(registration, LIST_ADDERS) &&
	    !has_whole(printer, LIST_LEDGERS, text_of(request, "ledger") ?: ""))
		return "it adds to no ledger";
	if (is_of(registration, LIST_SKETCHERS) &&
	    !has_whole(printer, LIST_SKETCHES, text_of(request, "sketch") ?: ""))
		return "it counts for no sketch";
	return NULL;
}

static void print_list(const struct printer *printer, enum list list, const char *name,
		       void (*print)(FILE *file, const json_t *registrations,
				     const json_t *registration))
{
	const json_t *registration;
	bool is_first = true;
	size_t i;

	json_array_foreach((json_t *)printer->registrations, i, registration) {
		if (!is_of(registration, list) || objection(printer, registration))
			continue;
		if (is_first)
			fprintf(printer->file, "%s:\n", name);
		is_first = false;
		print(printer->file, printer->registrations, registration);
	}
}

/* Returns the number of comments. */
static int print_comments(const struct printer *printer)
{
	const json_t *registration;
	const char *reason;
	int comments = 0;
	char *request;
	size_t i;

	json_array_foreach((json_t *)printer->registrations, i, registration) {
		reason = objection(printer, registration);
		if (!reason)
			continue;
		request = json_dumps(request_of(registration), JSON_ENSURE_ASCII);
		fprintf(printer->file, "# not in this file: %s: %s\n", request ?: "?", reason);
		free(request);
		comments++;
	}
	return comments;
}

static int check(const json_t *registration, struct dart_error *error)
{
	const json_t *request = request_of(registration);
	const char *type = text_of(request, "request") ?: "";
	static const char *const needed[] = {
		[LIST_HOST] = "gather",	   [LIST_SOURCES] = "source",
		[LIST_MAPS] = "request",
		[LIST_COUNTERS] = "name",  [LIST_PROBES] = "name",
		[LIST_APPLICATIONS] = "name",
		[LIST_STORES] = "name",	   [LIST_REPORTERS] = "address",
		[LIST_TABLES] = "name",	   [LIST_REQUESTERS] = "address",
		[LIST_JOURNALS] = "name",  [LIST_APPENDERS] = "address",
		[LIST_LEDGERS] = "name",   [LIST_ADDERS] = "address",
		[LIST_SKETCHES] = "name",  [LIST_SKETCHERS] = "address",
	};
	size_t i;

	for (i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (!strcmp(types[i].request, type) && text_of(request, needed[types[i].list]))
			return 0;
	return dart_error__set(error, EPROTO, "cannot understand a registration of dartd: '%s'",
			       type);
}

int dart_configuration__print(FILE *file, const json_t *registrations, struct dart_error *error)
{
	struct printer printer = {
		.file = file,
		.registrations = registrations,
	};
	const json_t *registration;
	size_t i;
	int ret;

	json_array_foreach((json_t *)registrations, i, registration) {
		ret = check(registration, error);
		if (ret)
			return ret;
	}
	print_list(&printer, LIST_HOST, "host", print_host);
	print_list(&printer, LIST_SOURCES, "sources", print_source);
	print_list(&printer, LIST_MAPS, "maps", print_map);
	print_list(&printer, LIST_COUNTERS, "counters", print_counters);
	print_list(&printer, LIST_PROBES, "probes", print_probe);
	print_list(&printer, LIST_APPLICATIONS, "applications", print_application);
	print_list(&printer, LIST_STORES, "stores", print_store);
	print_list(&printer, LIST_TABLES, "tables", print_table);
	print_list(&printer, LIST_JOURNALS, "journals", print_journal);
	print_list(&printer, LIST_LEDGERS, "ledgers", print_ledger);
	print_list(&printer, LIST_SKETCHES, "sketches", print_sketch);
	ret = print_comments(&printer);
	if (ferror(file))
		return dart_error__set(error, EIO, "cannot write the configuration");
	return ret;
}
