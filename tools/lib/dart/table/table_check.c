// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Checks the rules of <dart/control.h> about the meaning of a table.  A hostile
 * table cannot make this slow: names are compared in sorted order, and an entry
 * has at most as many fields as bytes, because fields do not overlap; all
 * entries together have at most DART_CONTROL_DATA_MAX bytes.
 */
#include <stdlib.h>
#include <string.h>

#include <libdart/table/table_format_internal.h>

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Sorts @names.  Returns a name that occurs twice, or NULL. */
static const char *find_twin(const char **names, uint32_t count)
{
	uint32_t i;

	qsort(names, count, sizeof(*names), compare_names);
	for (i = 1; i < count; i++) {
		if (!strcmp(names[i - 1], names[i]))
			return names[i];
	}
	return NULL;
}

/* Printable ASCII, then NULs to the end, at least one. */
static bool node_name__is_valid(const char name[DART_CONTROL_NODE_NAME_MAX])
{
	size_t i, length = strnlen(name, DART_CONTROL_NODE_NAME_MAX);

	for (i = 0; i < length; i++) {
		if (name[i] < 0x20 || name[i] > 0x7e)
			return false;
	}
	for (; i < DART_CONTROL_NODE_NAME_MAX; i++) {
		if (name[i])
			return false;
	}
	return length < DART_CONTROL_NODE_NAME_MAX;
}

int dart_check__header(const struct dart_table *table, struct dart_error *error)
{
	if (!table->generation)
		return refuse(error, "the generation is 0");
	if (!table->instance)
		return refuse(error, "the instance is 0");
	if (table->exposure != DART_CONTROL_EXPOSURE_EXACT &&
	    table->exposure != DART_CONTROL_EXPOSURE_PAGE)
		return refuse(error, "the exposure is unknown");
	if (!table->cpus)
		return refuse(error, "the host has no CPUs");
	if (!node_name__is_valid(table->node_name))
		return refuse(error, "the name of the node is not one");
	if (!table->page_size || table->page_size & (table->page_size - 1))
		return refuse(error, "the page size is not a power of two");
	return 0;
}

int dart_check__memory_region(const struct dart_memory_region *region,
			      uint32_t index, struct dart_error *error)
{
	uint64_t end;

	if (!region->length)
		return refuse(error, "memory region %u is empty", index);
	if (__builtin_add_overflow(region->address, region->length, &end))
		return refuse(error, "memory region %u reaches beyond the address space", index);
	return 0;
}

int dart_check__schema(const struct dart_schema *schema, uint32_t index,
		       const char **names, struct dart_error *error)
{
	struct dart_schema front = *schema;
	const char *objection, *twin;
	uint32_t i;

	if (!schema->length || schema->length > DART_CONTROL_VALUE_MAX)
		return refuse(error, "schema %u has copies of %u bytes", index, schema->length);

	for (i = 0; i < schema->field_count; i++) {
		front.field_count = i;
		objection = dart_schema__objection(&front, &schema->fields[i]);
		if (objection)
			return refuse(error, "field %u of schema %u %s", i, index, objection);
		names[i] = schema->fields[i].name;
	}
	objection = dart_schema__objection_to_sequences(schema);
	if (objection)
		return refuse(error, "schema %u %s", index, objection);

	twin = find_twin(names, schema->field_count);
	if (twin)
		return refuse(error, "schema %u has two fields with the name \"%s\"", index, twin);
	return 0;
}

/* Does @region hold all bytes of @range? */
static bool region__holds(const struct dart_memory_region *region, const struct dart_range *range)
{
	uint64_t length, from;

	/* From the first byte of the first copy to the last of the last. */
	if (__builtin_mul_overflow(range->stride, (uint64_t)range->copies - 1, &length) ||
	    __builtin_add_overflow(length, range->length, &length) ||
	    __builtin_sub_overflow(range->address, region->address, &from))
		return false;
	return from <= region->length && length <= region->length - from;
}

static int check_range(const struct dart_table *table, const struct dart_entry *entry,
		       uint32_t entry_index, uint32_t index, struct dart_error *error)
{
	const struct dart_range *range = &entry->ranges[index];

	if (!range->length)
		return refuse(error, "range %u of entry %u is empty", index, entry_index);
	if (range->offset > entry->schema->length ||
	    range->length > entry->schema->length - range->offset)
		return refuse(error, "range %u of entry %u reaches beyond the copy", index,
			      entry_index);
	if (!range->copies || range->first_copy > entry->copies ||
	    range->copies > entry->copies - range->first_copy)
		return refuse(error, "range %u of entry %u has copies that the entry does not have",
			      index, entry_index);
	if (range->copies > 1 && range->stride < range->length)
		return refuse(error, "the copies in range %u of entry %u overlap", index,
			      entry_index);
	if (range->memory_region >= table->memory_region_count)
		return refuse(error, "range %u of entry %u refers to no memory region", index,
			      entry_index);
	if (!region__holds(&table->memory_regions[range->memory_region], range))
		return refuse(error, "range %u of entry %u reaches beyond memory region %u", index,
			      entry_index, range->memory_region);
	return 0;
}

/*
 * The first group of ranges defines the runs; every further group has the same runs and begins with
 * the copy after the last one of the previous group.
 */
static int check_groups(const struct dart_table *table, const struct dart_entry *entry,
			uint32_t entry_index, uint32_t *runs, struct dart_error *error)
{
	const struct dart_range *ranges = entry->ranges;
	uint32_t i, next_copy = 0;
	int ret;

	for (*runs = 0; *runs < entry->range_count; ++*runs) {
		if (ranges[*runs].first_copy)
			break;
	}
	if (!*runs)
		return refuse(error, "no range of entry %u begins with copy 0", entry_index);

	for (i = 0; i < entry->range_count; i++) {
		const struct dart_range *run = &ranges[i % *runs];
		const struct dart_range *head = &ranges[i - i % *runs];

		ret = check_range(table, entry, entry_index, i, error);
		if (ret)
			return ret;
		if (i % *runs == 0) {
			if (ranges[i].first_copy != next_copy)
				return refuse(
					error,
					"range %u of entry %u does not begin with the next copy",
					i, entry_index);
			next_copy += ranges[i].copies;
		} else if (ranges[i].first_copy != head->first_copy ||
			   ranges[i].copies != head->copies) {
			return refuse(error,
				      "range %u of entry %u does not have the copies of its group",
				      i, entry_index);
		}
		if (ranges[i].offset != run->offset || ranges[i].length != run->length)
			return refuse(error, "range %u of entry %u is not a run of the first group",
				      i, entry_index);
		if (i && i < *runs && run->offset < run[-1].offset + run[-1].length)
			return refuse(
				error,
				"range %u of entry %u begins before the end of the run before it",
				i, entry_index);
	}

	if (entry->range_count % *runs)
		return refuse(error, "the last group of ranges of entry %u is not complete",
			      entry_index);
	if (next_copy != entry->copies)
		return refuse(error, "no range of entry %u has copy %u", entry_index, next_copy);
	return 0;
}

/* Fields and runs are both in order: one pass is enough. */
static int check_fields_in_runs(const struct dart_entry *entry, uint32_t entry_index, uint32_t runs,
				struct dart_error *error)
{
	const struct dart_schema *schema = entry->schema;
	const struct dart_range *run = entry->ranges;
	const struct dart_range *end = run + runs;
	uint32_t i;

	for (i = 0; i < schema->field_count; i++) {
		const struct dart_field *field = &schema->fields[i];

		while (run < end && run->offset + run->length <= field->offset)
			run++;
		if (run == end || field->offset < run->offset ||
		    field->offset + field->width * field->count > run->offset + run->length)
			return refuse(error, "field %u of entry %u is not inside one range", i,
				      entry_index);
	}
	return 0;
}

/*
 * Rows with sequences are fetched in whole lines, and so is their memory region: a READ
 * that begins or ends with it must not cut a line.
 */
static int check_lines(const struct dart_table *table, const struct dart_entry *entry,
		       uint32_t entry_index, struct dart_error *error)
{
	const struct dart_range *range = entry->ranges;
	const struct dart_memory_region *region;
	uint32_t i;

	if (!dart_schema__has_sequence(entry->schema))
		return 0;
	if (entry->copies_are == DART_CONTROL_COPIES_CPU)
		return refuse(error, "entry %u has sequences, but its copies are of CPUs",
			      entry_index);
	for (i = 0; i < entry->range_count; i++, range++) {
		if ((range->address | range->offset | range->length |
		     (range->copies > 1 ? range->stride : 0)) % DART_CONTROL_LINE)
			return refuse(
				error,
				"range %u of entry %u has sequences, but not whole lines of %d bytes",
				i, entry_index, DART_CONTROL_LINE);
		region = &table->memory_regions[range->memory_region];
		if ((region->address | region->length) % DART_CONTROL_LINE)
			return refuse(
				error,
				"range %u of entry %u has sequences, but a memory region that is not whole lines of %d bytes",
				i, entry_index, DART_CONTROL_LINE);
	}
	return 0;
}

int dart_check__entry(const struct dart_table *table, const struct dart_entry *entry,
		      uint32_t index, uint64_t *data, struct dart_error *error)
{
	uint32_t runs;
	int ret;

	if (!entry->name[0])
		return refuse(error, "entry %u has no name", index);
	if (!dart_entry_name__is_valid(entry->name))
		return refuse(
			error,
			"entry %u has a name with a character that names do not have, or more than %d",
			index, DART_CONTROL_ENTRY_NAME_MAX - 1);
	if (entry->kind < DART_CONTROL_ENTRY_SOURCE || entry->kind > DART_CONTROL_ENTRY_SLICE)
		return refuse(error, "entry %u is of an unknown kind", index);
	if (entry->lifetime != DART_CONTROL_LIFETIME_IMMOBILE &&
	    entry->lifetime != DART_CONTROL_LIFETIME_DYNAMIC &&
	    entry->lifetime != DART_CONTROL_LIFETIME_SERVERLESS)
		return refuse(error, "entry %u has an unknown lifetime", index);
	if (entry->copies_are < DART_CONTROL_COPIES_CPU ||
	    entry->copies_are > DART_CONTROL_COPIES_SUM)
		return refuse(error, "entry %u has copies of an unknown kind", index);
	if (entry->copies_are == DART_CONTROL_COPIES_SUM && entry->copies != 1)
		return refuse(error, "entry %u is a sum with %u copies", index, entry->copies);
	if (!entry->copies || entry->copies > DART_CONTROL_COPIES_MAX)
		return refuse(error, "entry %u has %u copies", index, entry->copies);

	/* Before the fields, whose number it bounds. */
	*data += (uint64_t)entry->copies * entry->schema->length;
	if (*data > DART_CONTROL_DATA_MAX)
		return refuse(error, "the entries up to %u have more than %u bytes", index,
			      DART_CONTROL_DATA_MAX);

	ret = check_groups(table, entry, index, &runs, error);
	if (ret)
		return ret;
	return check_fields_in_runs(entry, index, runs, error) ?:
	       check_lines(table, entry, index, error);
}

static int compare_entries(const void *a, const void *b)
{
	const struct dart_entry *const *x = a, *const *y = b;

	return strcmp((*x)->name, (*y)->name);
}

/* Sorts the entries by name, and refuses a name that occurs twice. */
static int sort_entries(struct dart_table *table, struct dart_error *error)
{
	const struct dart_entry **sorted = table->by_name;
	uint32_t i;

	for (i = 0; i < table->entry_count; i++)
		sorted[i] = &table->entries[i];
	qsort(sorted, table->entry_count, sizeof(*sorted), compare_entries);
	for (i = 1; i < table->entry_count; i++) {
		if (!strcmp(sorted[i - 1]->name, sorted[i]->name))
			return refuse(error, "two entries have the name \"%s\"", sorted[i]->name);
	}
	return 0;
}

int dart_table__check(struct dart_table *table, const struct dart_schema *schemas,
		      uint32_t schema_count, struct dart_error *error)
{
	uint32_t i, names_max = 0;
	const char **names;
	uint64_t data = 0;
	int ret;

	for (i = 0; i < schema_count; i++) {
		if (schemas[i].field_count > names_max)
			names_max = schemas[i].field_count;
	}
	names = calloc((size_t)names_max + 1, sizeof(*names));
	if (!names)
		return dart_error__no_memory(error);

	ret = dart_check__header(table, error);
	for (i = 0; !ret && i < table->memory_region_count; i++)
		ret = dart_check__memory_region(&table->memory_regions[i], i, error);
	for (i = 0; !ret && i < schema_count; i++)
		ret = dart_check__schema(&schemas[i], i, names, error);
	for (i = 0; !ret && i < table->entry_count; i++)
		ret = dart_check__entry(table, &table->entries[i], i, &data, error);
	free(names);
	return ret ?: sort_entries(table, error);
}
