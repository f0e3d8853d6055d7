// SPDX-License-Identifier: GPL-2.0-only
/* dartctl table show: the load of a lookup table, and the switches with a copy. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/dartctl/cli/command.h"

/* Finds the description of the table @name; NULL with a message printed. */
static json_t *find_table(json_t *tables, const char *name)
{
	const char *its;
	json_t *table;
	size_t i;

	json_array_foreach(tables, i, table) {
		its = json_string_value(json_object_get(table, "name"));
		if (its && !strcmp(its, name))
			return table;
	}
	fail(ENOENT, "there is no table '%s'", name);
	return NULL;
}

static long long number(const json_t *object, const char *member)
{
	return json_integer_value(json_object_get(object, member));
}

static const char *text(const json_t *object, const char *member)
{
	return json_string_value(json_object_get(object, member)) ?: "?";
}

static void print_requesters(const json_t *table, const json_t *requesters)
{
	const json_t *requester;
	size_t i;

	printf("requesters     %zu, with %lld bytes each\n",
	       json_array_size(requesters), number(table, "view_bytes"));
	json_array_foreach((json_t *)requesters, i, requester)
		printf("  %-15s %s, queue pair %lld, expects PSN %lld\n",
		       text(requester, "requester"), text(requester, "state"),
		       number(requester, "qpn"), number(requester, "expected_psn"));
}

static void print(const json_t *table, const json_t *requesters)
{
	const json_t *shares = json_object_get(table, "shares");
	const double load = json_number_value(json_object_get(table, "load"));

	printf("rows           2^%lld of %lld cells\n",
	       number(table, "rows_log2"), number(table, "cells"));
	printf("key            %lld bytes\n", number(table, "key_length"));
	printf("value          %lld bytes\n", number(table, "value_length"));
	printf("packets        of up to %lld bytes\n", number(table, "packet_length"));
	printf("shares         %lld to %lld\n",
	       (long long)json_integer_value(json_array_get(shares, 0)),
	       (long long)json_integer_value(json_array_get(shares, 1)));
	printf("entries        %lld, %lld of them in the stash\n",
	       number(table, "entries"), number(table, "stashed"));
	printf("load factor    %.4f\n", load);
	printf("moves          %lld\n", number(table, "moves"));
	printf("no place       for %lld insertions\n", number(table, "full"));
	printf("memory         %lld bytes%s\n", number(table, "bytes"),
	       json_is_true(json_object_get(table, "huge_pages")) ? " in huge pages" : "");
	if (json_object_get(table, "file"))
		printf("file           %s\n", text(table, "file"));
	printf("user           %s\n", text(table, "user"));
	printf("epoch          %lld\n", number(table, "epoch"));
	printf("readers        %lld\n", number(table, "readers"));
	print_requesters(table, requesters);
}

int command_table_show(const struct options *options, int argc, char **argv)
{
	json_t *tables, *tables_reply, *table, *requesters, *requesters_reply;
	int status = EXIT_FAILURE;

	tables = client__ask(options, json_pack("{s:s}", "request", "table-list"), -1, "tables",
			     &tables_reply, NULL);
	if (!tables)
		return EXIT_FAILURE;
	table = find_table(tables, argv[0]);
	if (!table)
		goto release_tables;
	requesters = client__ask(
		options, json_pack("{s:s, s:s}", "request", "requester-list", "table", argv[0]), -1,
		"requesters", &requesters_reply, NULL);
	if (!requesters)
		goto release_tables;
	status = EXIT_SUCCESS;
	if (!options->json)
		print(table, requesters);
	else if (json_object_set(table, "requesters", requesters))
		status = fail__out_of_memory();
	else
		status = print_json(json_incref(table), JSON_REAL_PRECISION(6));
	json_decref(requesters_reply);
release_tables:
	json_decref(tables_reply);
	return status;
}
