// SPDX-License-Identifier: LGPL-2.1-or-later
/* Tables: compared with a later header, searched by name. */
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <libdart/table/table_format_internal.h>

int dart_table__same(const struct dart_table *table, const void *bytes)
{
	struct dart_control_header header;

	memcpy(&header, bytes, sizeof(header));
	if (le64toh(header.magic) != DART_CONTROL_MAGIC ||
	    le32toh(header.abi_version) != DART_CONTROL_ABI_VERSION ||
	    le64toh(header.instance) != table->instance)
		return -ECONNRESET;
	if (le64toh(header.generation_begin) != table->generation ||
	    le64toh(header.generation_end) != table->generation)
		return -ESTALE;
	return 0;
}

uint32_t dart_table__cpu_words(const struct dart_table *table)
{
	return table->cpus / 64 + !!(table->cpus % 64);
}

bool dart_table__is_online(const struct dart_table *table, uint32_t cpu)
{
	return !table->online || table->online[cpu / 64] >> cpu % 64 & 1;
}

bool dart_table__is_nohz_full(const struct dart_table *table, uint32_t cpu)
{
	return table->nohz_full && table->nohz_full[cpu / 64] >> cpu % 64 & 1;
}

static int compare_with_entry(const void *name, const void *entry)
{
	const struct dart_entry *const *of = entry;

	return strcmp(name, (*of)->name);
}

const struct dart_entry *dart_table__find(const struct dart_table *table, const char *name)
{
	const struct dart_entry **found;
	uint32_t i;

	if (table->by_name) {
		found = bsearch(name, table->by_name, table->entry_count,
				sizeof(*table->by_name), compare_with_entry);
		return found ? *found : NULL;
	}
	for (i = 0; i < table->entry_count; i++) {
		if (!strcmp(table->entries[i].name, name))
			return &table->entries[i];
	}
	return NULL;
}

uint32_t dart_table__count_removed(const struct dart_table *old, const struct dart_table *now,
				   const char **first)
{
	uint32_t i, k = 0, removed = 0;

	for (i = 0; i < old->entry_count; i++) {
		const char *name = old->by_name[i]->name;
		int order = -1;

		while (k < now->entry_count) {
			order = strcmp(name, now->by_name[k]->name);
			if (order <= 0)
				break;
			order = -1;
			k++;
		}
		if (!order)
			continue;
		if (!removed++)
			*first = name;
	}
	return removed;
}
