// SPDX-License-Identifier: LGPL-2.1-or-later
/* Frees the memory of a decoded table, or gives it up for memory that equal tables share. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <libdart/table/table_memory_internal.h>

void dart_table__free(struct dart_table *table)
{
	struct decoded_table *decoded = (struct decoded_table *)table;

	if (!decoded)
		return;
	free(table->memory_regions);
	free(table->entries);
	free(table->by_name);
	free(decoded->ranges);
	free(decoded->schemas);
	free(decoded->fields);
	free(decoded->strings);
	free(decoded->cpu_sets);
	free(decoded);
}

/* By the index of a schema; @found has room for all. */
static int find_others(const struct decoded_table *decoded, dart_schema_replacement *replacement,
		       void *data, const struct dart_schema **found)
{
	const struct dart_table *table = &decoded->table;
	const struct dart_schema *schema;
	uint32_t i;

	for (i = 0; i < table->entry_count; i++) {
		schema = table->entries[i].schema;
		if (found[schema - decoded->schemas])
			continue;
		found[schema - decoded->schemas] = replacement(data, schema);
		if (!found[schema - decoded->schemas])
			return -ENOMEM;
	}
	return 0;
}

static size_t names_size(const struct dart_table *table)
{
	size_t size = 1;
	uint32_t i;

	for (i = 0; i < table->entry_count; i++)
		size += strlen(table->entries[i].name) + 1;
	return size;
}

int dart_table__replace_schemas(struct dart_table *table, dart_schema_replacement *replacement,
				void *data)
{
	struct decoded_table *decoded = (struct decoded_table *)table;
	const struct dart_schema **found =
		calloc((size_t)decoded->schema_count + 1, sizeof(*found));
	char *names = malloc(names_size(table)), *name = names;
	struct dart_entry *entry;
	int ret = -ENOMEM;

	if (found && names)
		ret = find_others(decoded, replacement, data, found);
	if (ret) {
		free(found);
		free(names);
		return ret;
	}
	for (entry = table->entries; entry < table->entries + table->entry_count; entry++) {
		entry->schema = found[entry->schema - decoded->schemas];
		strcpy(name, entry->name);
		entry->name = name;
		name += strlen(name) + 1;
	}
	free(found);
	free(decoded->schemas);
	free(decoded->fields);
	free(decoded->strings);
	decoded->schemas = NULL;
	decoded->fields = NULL;
	decoded->strings = names;
	return 0;
}
