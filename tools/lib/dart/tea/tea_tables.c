// SPDX-License-Identifier: LGPL-2.1-or-later
/* Reads files of lookup tables, see tea_tables.h. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libdart/text_file.h>

#include "tea_tables.h"
#include "tea_tables_loader_internal.h"

static bool is_in(json_int_t number, json_int_t least, json_int_t most)
{
	return number >= least && number <= most;
}

/* The first table sets the numbers that all must share. */
static int take_kind(struct dart_tea_tables_loader *loader, const char *name,
		     const struct dart_tea_geometry *geometry)
{
	struct dart_tea_tables *tables = loader->tables;
	int ret;

	if (loader->hash) {
		if (strcmp(name, tables->name))
			return refuse(loader, "table '%s', but '%s' before", name, tables->name);
		if (memcmp(geometry, &tables->geometry, sizeof(*geometry)))
			return refuse(loader, "table '%s' has another geometry than before", name);
		return 0;
	}
	if (!*name || strlen(name) >= sizeof(tables->name))
		return refuse(loader, "the name is empty or too long");
	strcpy(tables->name, name);
	tables->geometry = *geometry;
	ret = dart_tea_hash__new(geometry, &loader->hash);
	return ret == -ENOMEM ? dart_error__no_memory(loader->error) : ret;
}

static int take_table(struct dart_tea_tables_loader *loader, json_t *json)
{
	json_int_t rows_log2, cells, key_length, value_length, packet_length;
	struct dart_tea_geometry geometry;
	json_t *servers, *server;
	json_error_t error;
	const char *name;
	size_t i;
	int ret;

	if (json_unpack_ex(json, &error, 0, "{s:s, s:I, s:I, s:I, s:I, s:I, s:o !}", "name", &name,
			   "rows_log2", &rows_log2, "cells", &cells, "key_length", &key_length,
			   "value_length", &value_length, "packet_length", &packet_length,
			   "servers", &servers))
		return refuse(loader, "%s", error.text);
	if (!is_in(rows_log2, 0, UINT32_MAX) || !is_in(cells, 0, UINT32_MAX) ||
	    !is_in(key_length, 0, UINT32_MAX) || !is_in(value_length, 0, UINT32_MAX) ||
	    !is_in(packet_length, 0, UINT32_MAX))
		return refuse(loader, "a table cannot have this geometry");
	geometry = (struct dart_tea_geometry){ rows_log2, cells, key_length,
					       value_length, packet_length };
	if (dart_tea_geometry__check(&geometry))
		return refuse(loader, "a table cannot have this geometry");
	if (!json_is_array(servers))
		return refuse(loader, "servers are not a list");
	ret = take_kind(loader, name, &geometry);
	if (ret)
		return ret;
	json_array_foreach(servers, i, server) {
		ret = dart_tea_tables_loader__take_server(loader, server);
		if (ret)
			return ret;
	}
	return 0;
}

static int take_root(struct dart_tea_tables_loader *loader, json_t *root)
{
	json_t *list, *table;
	json_error_t error;
	int ret = 0;
	size_t i;

	if (json_unpack_ex(root, &error, 0, "{s:o !}", "tables", &list) || !json_is_array(list))
		return refuse(loader, "not a file of lookup tables (see 'dartctl table export')");
	json_array_foreach(list, i, table) {
		ret = take_table(loader, table);
		if (ret)
			break;
	}
	return ret;
}

static int take_file(struct dart_tea_tables_loader *loader)
{
	json_error_t json_error;
	json_t *root;
	FILE *file;
	bool is_empty;
	int ret;

	file = fopen(loader->path, "re");
	if (!file)
		return dart_error__system(loader->error, errno, "cannot open %s", loader->path);
	dart_text_file__pass_mark(file);
	is_empty = dart_text_file__is_at_end(file);
	root = json_loadf(file, JSON_REJECT_DUPLICATES, &json_error);
	fclose(file);
	if (is_empty)
		return dart_error__set(loader->error, EINVAL,
				       "%s is empty: the command that should have written it has failed (try it again)",
				       loader->path);
	if (!root)
		return dart_error__set(loader->error, EINVAL, "%s:%d: not JSON: %s", loader->path,
				       json_error.line, json_error.text);
	ret = take_root(loader, root);
	json_decref(root);
	return ret;
}

static int compare_stashed(const void *a, const void *b)
{
	const struct dart_tea_stashed *first = a, *second = b;

	return memcmp(first->key, second->key, sizeof(first->key));
}

/* Replicas stash some of the same entries. */
static void sort_stash(struct dart_tea_tables *tables)
{
	struct dart_tea_stashed *list = tables->stashed;
	size_t i, count = 0;

	if (!tables->stashed_count)
		return;
	qsort(list, tables->stashed_count, sizeof(*list), compare_stashed);
	for (i = 1; i < tables->stashed_count; i++)
		if (compare_stashed(&list[count], &list[i]))
			list[++count] = list[i];
	tables->stashed_count = count + 1;
}

int dart_tea_tables__load(const char *const *paths, size_t count, struct in_addr requester,
			  struct dart_tea_tables *tables, struct dart_error *error)
{
	struct dart_tea_tables_loader loader = {
		.tables = tables,
		.is_any_requester = requester.s_addr == INADDR_ANY,
		.error = error,
	};
	int ret = 0;
	size_t i;

	*tables = (struct dart_tea_tables){ .requester = requester };
	memset(tables->shares, DART_TEA_SERVER_NONE, sizeof(tables->shares));
	memset(tables->replicas, DART_TEA_SERVER_NONE, sizeof(tables->replicas));
	for (i = 0; !ret && i < count; i++) {
		loader.path = paths[i];
		ret = take_file(&loader);
	}
	if (!ret && !tables->server_count)
		ret = dart_error__set(error, ENOENT, "the files have no server of a table");
	dart_tea_hash__free(loader.hash);
	if (ret)
		dart_tea_tables__free(tables);
	else
		sort_stash(tables);
	return ret;
}

void dart_tea_tables__free(struct dart_tea_tables *tables)
{
	free(tables->stashed);
	tables->stashed = NULL;
	tables->stashed_count = 0;
}

uint32_t dart_tea_tables__uncovered(const struct dart_tea_tables *tables)
{
	uint32_t share, count = 0;

	for (share = 0; share < DART_TEA_SHARES; share++)
		count += tables->shares[share] == DART_TEA_SERVER_NONE;
	return count;
}
