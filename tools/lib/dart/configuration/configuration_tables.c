// SPDX-License-Identifier: LGPL-2.1-or-later
/* The lookup tables and requesters in a configuration file. */
#include <stdlib.h>
#include <string.h>

#include <dart/tea.h>
#include <dart/tea_access.h>
#include <libdart/configuration/configuration_loader_internal.h>

struct table {
	const char *name, *file, *user;
	const yaml_node_t *requesters; /* NULL: none */
	long long rows_log2, key, value, cells, packet; /* -1: not given */
	long long first_share, last_share; /* -1: not given */
};

static int take_rows(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	return dart_configuration__take_power(yaml, node, DART_TEA_ROWS_LOG2_MAX, into);
}

static int take_key(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	return dart_configuration__take_number(yaml, node, 1, DART_TEA_KEY_MAX, into);
}

static int take_value(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	return dart_configuration__take_number(yaml, node, 1, DART_TEA_VALUE_MAX, into);
}

static int take_cells(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	return dart_configuration__take_number(yaml, node, 1, DART_TEA_CELLS_MAX, into);
}

/* Whether the longest packet has room depends on the other members: dartd checks it. */
static int take_packet(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	return dart_configuration__take_number(yaml, node, DART_TEA_PACKET_MIN,
					       1 << DART_TEA_ROW_LOG2_MAX, into);
}

/* Parses a share; returns the end of its text, or NULL. */
static const char *parse_share(const char *text, long long *share)
{
	size_t digits = strspn(text, "0123456789");

	*share = strtoll(text, NULL, 10);
	if (!digits || digits > 4 || *share >= DART_TEA_SHARES)
		return NULL;
	return text + digits;
}

/* "0-511", or "7" */
static int take_shares(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	const char *text = dart_yaml__text(node) ?: "", *end;
	struct table *table = into;

	end = parse_share(text, &table->first_share);
	table->last_share = table->first_share;
	if (end && *end == '-')
		end = parse_share(end + 1, &table->last_share);
	if (end && !*end && table->first_share <= table->last_share)
		return 0;
	return dart_yaml__refuse(yaml, node,
				 "'%s' is not a range of shares from 0 to %d, such as 0-511", text,
				 DART_TEA_SHARES - 1);
}

/* The item of the table comes before the items of its requesters. */
static int take_requesters(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	const yaml_node_t **requesters = into;

	*requesters = node;
	return 0;
}

static int check_table(struct dart_yaml *yaml, const yaml_node_t *item, const struct table *table)
{
	const char *missing = !table->name	   ? "name" :
			      table->rows_log2 < 0 ? "rows" :
			      table->key < 0	   ? "key" :
			      table->value < 0	   ? "value" :
						     NULL;

	if (missing)
		return dart_yaml__refuse(yaml, item, "the table has no '%s'", missing);
	if (strlen(table->name) >= DART_TEA_NAME_MAX)
		return dart_yaml__refuse(yaml, item,
					 "the name of a table has at most %d bytes: '%s'",
					 DART_TEA_NAME_MAX - 1, table->name);
	return dart_configuration__check_path(yaml, item, table->file);
}

static json_t *shares(const struct table *table)
{
	if (table->first_share < 0)
		return NULL;
	return json_pack("[II]", (json_int_t)table->first_share, (json_int_t)table->last_share);
}

static int add_table(struct dart_configuration_loader *loader, struct dart_yaml *yaml,
		     const yaml_node_t *item, const struct table *table)
{
	char identity[64 + DART_TEA_NAME_MAX];
	int ret = check_table(yaml, item, table);

	if (ret)
		return ret;
	snprintf(identity, sizeof(identity), "table '%s'", table->name);
	ret = dart_configuration_loader__claim(loader, yaml, item, identity, identity);
	if (!ret && table->file)
		ret = dart_configuration_loader__claim(
			loader, yaml, item, table->file, table->file);
	if (ret)
		return ret;
	return dart_configuration_loader__add(
		loader, yaml, item,
		json_pack("{s:s, s:s, s:I, s:I, s:I, s:o*, s:o*, s:o*, s:s*, s:s*}", "request",
			  "table-create", "name", table->name, "rows_log2",
			  (json_int_t)table->rows_log2, "key_length", (json_int_t)table->key,
			  "value_length", (json_int_t)table->value, "cells",
			  dart_configuration__optional(table->cells), "packet_length",
			  dart_configuration__optional(table->packet), "shares", shares(table),
			  "file", table->file, "user", table->user),
		table->file);
}

static int take_table(struct dart_yaml *yaml, const yaml_node_t *item, void *into)
{
	static const struct dart_yaml_member members[] = {
		{ "name", dart_configuration__take_text, offsetof(struct table, name) },
		{ "rows", take_rows, offsetof(struct table, rows_log2) },
		{ "key", take_key, offsetof(struct table, key) },
		{ "value", take_value, offsetof(struct table, value) },
		{ "cells", take_cells, offsetof(struct table, cells) },
		{ "packet", take_packet, offsetof(struct table, packet) },
		{ "shares", take_shares, 0 },
		{ "file", dart_configuration__take_text,
		  offsetof(struct table, file) },
		{ "user", dart_configuration__take_text, offsetof(struct table, user) },
		{ "requesters", take_requesters,
		  offsetof(struct table, requesters) },
		{}
	};
	struct table table = {
		.rows_log2 = -1,
		.key = -1,
		.value = -1,
		.cells = -1,
		.packet = -1,
		.first_share = -1,
	};
	struct dart_configuration_hosts hosts = {
		.loader = into,
		.host = "requester",
		.object = "table",
		.request = "requester-add",
	};
	int ret, taken;

	ret = dart_yaml__take_mapping(yaml, item, members, &table) ?:
		      add_table(into, yaml, item, &table);
	if (!table.requesters || !dart_yaml__goes_on(yaml, ret))
		return ret;
	hosts.name = table.name ?: "?";
	taken = dart_yaml__take_list(yaml, table.requesters,
				     dart_configuration__take_host_of, &hosts);
	return taken ?: ret;
}

int dart_configuration__take_tables(struct dart_yaml *yaml, const yaml_node_t *node, void *into)
{
	return dart_yaml__take_list(yaml, node, take_table, into);
}
