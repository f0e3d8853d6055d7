// SPDX-License-Identifier: GPL-2.0-only
#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "slab.h"
#include "agent/schema/counters_schema.h"
#include "agent/schema/map_schema.h"
#include "agent/schema/schema_json.h"
#include "entry.h"

static int entry__add_run(struct entry *entry, uint32_t offset, uint32_t length)
{
	struct run *runs, *last;

	if (entry->run_count) {
		last = &entry->runs[entry->run_count - 1];
		if (last->offset + last->length == offset) {
			last->length += length;
			return 0;
		}
	}

	runs = reallocarray(entry->runs, entry->run_count + 1, sizeof(*runs));
	if (!runs)
		return -ENOMEM;
	entry->runs = runs;
	runs[entry->run_count++] = (struct run){ offset, length };
	return 0;
}

/*
 * Of a window controllers see the fields and not what is between them; other
 * values, padding included, belong to whoever registered them.
 */
static int entry__find_runs(struct entry *entry, struct dart_error *error)
{
	const struct dart_schema *schema = entry->schema;
	uint32_t i;
	int ret = 0;

	if (entry->kind != DART_CONTROL_ENTRY_SOURCE)
		ret = entry__add_run(entry, 0, schema->length);
	else
		for (i = 0; i < schema->field_count && !ret; i++)
			ret = entry__add_run(entry, schema->fields[i].offset,
					     schema->fields[i].width *
					     schema->fields[i].count);
	if (ret)
		return dart_error__no_memory(error);
	return 0;
}

static int entry__check_size(const struct entry *entry,
			     struct dart_error *error)
{
	const struct dart_zero_extent *extent = &entry->extent;

	if (!extent->length || extent->length > DART_CONTROL_VALUE_MAX ||
	    !extent->copies || extent->copies > DART_CONTROL_COPIES_MAX ||
	    extent->length * extent->copies > DART_CONTROL_DATA_MAX)
		return dart_error__set(
			error, EFBIG,
			"%u copies of %llu bytes are too many (at most %d of %d bytes, %d MiB in all)",
			extent->copies, extent->length, DART_CONTROL_COPIES_MAX,
			DART_CONTROL_VALUE_MAX, DART_CONTROL_DATA_MAX >> 20);
	return 0;
}

int entry__new_source(struct region *region, struct source_schemas *schemas,
		      const struct selector *selector, struct entry **result,
		      struct dart_error *error)
{
	struct entry *entry;
	int ret;

	entry = calloc(1, sizeof(*entry));
	if (!entry)
		return dart_error__no_memory(error);
	entry->kind = DART_CONTROL_ENTRY_SOURCE;
	entry->lifetime = selector->source->selector ?
				  DART_CONTROL_LIFETIME_DYNAMIC :
				  DART_CONTROL_LIFETIME_IMMOBILE;
	entry->copies_are = DART_CONTROL_COPIES_CPU;
	entry->key = selector->key;
	strcpy(entry->name, selector->name);

	ret = region__add_window(region, selector, &entry->extent, error);
	if (ret)
		goto free_entry;

	ret = entry__check_size(entry, error);
	if (!ret)
		ret = source_schemas__get(schemas, selector->source,
					  &entry->extent, &entry->schema,
					  error);
	if (!ret)
		ret = entry__find_runs(entry, error);
	if (ret)
		goto remove_extent;

	*result = entry;
	return 0;

remove_extent:
	entry__free(entry, region);
	return ret;
free_entry:
	free(entry);
	return ret;
}

int entry__new_map(struct region *region, int map_fd, const char *name,
		   struct entry **result, struct dart_error *error)
{
	struct bpf_map_info map = { };
	uint32_t map_size = sizeof(map);
	struct entry *entry;
	int ret;

	entry = calloc(1, sizeof(*entry));
	if (!entry)
		return dart_error__no_memory(error);
	entry->kind = DART_CONTROL_ENTRY_MAP;
	entry->lifetime = DART_CONTROL_LIFETIME_DYNAMIC;

	/* First, because the module decides whether this is a map at all. */
	ret = region__add_map(region, map_fd, &entry->extent, error);
	if (ret)
		goto free_entry;

	if (bpf_obj_get_info_by_fd(map_fd, &map, &map_size)) {
		ret = dart_error__set(error, errno,
				      "cannot ask what the map is: %s",
				      strerror(errno));
		goto remove_extent;
	}
	if (!name)
		name = map.name;
	ret = entry_name__check(name, error);
	if (ret)
		goto remove_extent;
	strcpy(entry->name, name);

	ret = entry__check_size(entry, error);
	if (!ret)
		ret = map_schema__new(&map, &entry->own_schema,
				      &entry->copies_are, error);
	entry->schema = entry->own_schema;
	if (!ret)
		ret = entry__find_runs(entry, error);
	if (ret)
		goto remove_extent;

	*result = entry;
	return 0;

remove_extent:
	entry__free(entry, region);
	return ret;
free_entry:
	free(entry);
	return ret;
}

int entry__new_counters(struct region *region, const char *name, json_t *names,
			struct entry **result, struct dart_error *error)
{
	struct entry *entry;
	int ret;

	entry = calloc(1, sizeof(*entry));
	if (!entry)
		return dart_error__no_memory(error);
	entry->kind = DART_CONTROL_ENTRY_COUNTERS;
	entry->lifetime = DART_CONTROL_LIFETIME_DYNAMIC;
	entry->copies_are = DART_CONTROL_COPIES_CPU;
	strcpy(entry->name, name);

	ret = region__add_counters(region, name, json_array_size(names),
				   &entry->extent, error);
	if (ret)
		goto free_entry;

	if (!names && *entry->extent.name)
		ret = counters_schema__new(&entry->extent, &entry->own_schema,
					   error);
	else if (names)
		ret = schema_json__new_counters(name, names, &entry->own_schema,
						error);
	else
		ret = dart_error__set(
			error, EPERM,
			"counters '%s' are another program's, which knows their names",
			name);
	entry->schema = entry->own_schema;
	if (!ret)
		ret = entry__find_runs(entry, error);
	if (ret)
		goto remove_extent;

	*result = entry;
	return 0;

remove_extent:
	entry__free(entry, region);
	return ret;
free_entry:
	free(entry);
	return ret;
}

int entry__new_slice(struct slab *slab, const char *name,
		     struct dart_schema *schema, int *fd, struct entry **result,
		     struct dart_error *error)
{
	struct dart_zero_slice slice;
	struct entry *entry;
	int ret;

	entry = calloc(1, sizeof(*entry));
	if (!entry)
		return dart_error__no_memory(error);
	entry->kind = DART_CONTROL_ENTRY_SLICE;
	entry->lifetime = DART_CONTROL_LIFETIME_SERVERLESS;
	entry->copies_are = DART_CONTROL_COPIES_ROW;
	entry->schema = schema;
	strcpy(entry->name, name);
	ret = entry__add_run(entry, 0, schema->length);
	if (ret) {
		dart_error__no_memory(error);
		goto free_entry;
	}

	ret = slab__lend(slab, schema->length, &slice, error);
	if (ret)
		goto free_runs;
	entry->own_schema = schema;
	entry->extent = (struct dart_zero_extent){
		.id = slice.id,
		.data = slice.data,
		.length = schema->length,
		.stride = schema->length,
		.copies = 1,
	};
	*fd = slice.fd;
	*result = entry;
	return 0;

free_runs:
	free(entry->runs);
free_entry:
	free(entry);
	return ret;
}

void entry__free(struct entry *entry, struct region *region)
{
	if (entry->kind == DART_CONTROL_ENTRY_SLICE)
		region__remove_slice(region, entry->extent.id);
	else
		region__remove(region, entry->extent.id);
	dart_schema__free(entry->own_schema);
	free(entry->runs);
	free(entry);
}
