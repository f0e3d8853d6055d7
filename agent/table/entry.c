// SPDX-License-Identifier: GPL-2.0-only
/* Creates entries of every kind: their extents, schemas and runs. */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

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
 * For a window, and for an exact slice, controllers see the fields only, not the bytes between
 * them.  Other values, padding included, belong to the client that registered them.
 */
static int entry__find_runs(struct entry *entry, struct dart_error *error)
{
	const struct dart_schema *schema = entry->schema;
	uint32_t i;
	int ret = 0;

	if (!entry->is_exact &&
	    (entry->kind != DART_CONTROL_ENTRY_SOURCE || entry->is_gathered))
		ret = entry__add_run(entry, 0, schema->length);
	else
		for (i = 0; i < schema->field_count && !ret; i++)
			ret = entry__add_run(entry, schema->fields[i].offset,
					     schema->fields[i].width * schema->fields[i].count);
	return ret ? dart_error__no_memory(error) : 0;
}

uint32_t entry__count_runs(const struct dart_schema *schema)
{
	uint32_t count = 0, end = 0, i;

	for (i = 0; i < schema->field_count; i++) {
		count += !i || schema->fields[i].offset != end;
		end = schema->fields[i].offset + schema->fields[i].width * schema->fields[i].count;
	}
	return count;
}

static int entry__check_size(const struct entry *entry, struct dart_error *error)
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

struct entry *entry__new(enum dart_control_entry_kind kind, enum dart_control_lifetime lifetime,
			 enum dart_control_copies copies_are, const char *name)
{
	struct entry *entry = calloc(1, sizeof(*entry));

	if (!entry)
		return NULL;
	entry->kind = kind;
	entry->lifetime = lifetime;
	entry->copies_are = copies_are;
	entry->name = strdup(name);
	if (entry->name)
		return entry;
	free(entry);
	return NULL;
}

int entry__rename(struct entry *entry, const char *name)
{
	char *copy = strdup(name);

	if (!copy)
		return -ENOMEM;
	free(entry->name);
	entry->name = copy;
	return 0;
}

/* Controllers refuse a table with other sequences. */
static int entry__check_sequences(const struct entry *entry, struct dart_error *error)
{
	const char *objection = dart_schema__objection_to_sequences(entry->schema);

	if (!objection && entry->is_exact && dart_schema__has_sequence(entry->schema))
		objection = "has sequences, whose lines are exposed as a whole";
	if (!objection)
		return 0;
	return dart_error__set(error, EINVAL, "the value '%.64s' %s",
			       entry->schema->name, objection);
}

int entry__complete(struct entry *entry, struct region *region, int ret,
		    struct entry **result, struct dart_error *error)
{
	if (!entry->schema)
		entry->schema = entry->own_schema;
	ret = ret ?: entry__check_sequences(entry, error) ?: entry__find_runs(entry, error);
	if (ret)
		entry__free(entry, region);
	else
		*result = entry;
	return ret;
}

int entry__new_source(struct region *region, struct source_schemas *schemas,
		      const struct selector *selector, struct entry **result,
		      struct dart_error *error)
{
	const struct source *source = selector->source;
	struct entry *entry;
	int ret;

	entry = entry__new(DART_CONTROL_ENTRY_SOURCE,
			   source->selector ? DART_CONTROL_LIFETIME_DYNAMIC :
					      DART_CONTROL_LIFETIME_IMMOBILE,
			   DART_CONTROL_COPIES_CPU, selector->name);
	if (!entry)
		return dart_error__no_memory(error);
	entry->key = selector->key;
	ret = region__add_window(region, selector, &entry->extent, error) ?:
		      entry__check_size(entry, error)			  ?:
		      source_schemas__get(schemas, source, &entry->extent, &entry->schema, error);
	return entry__complete(entry, region, ret, result, error);
}

static int entry__describe_map(struct entry *entry, int map_fd, const struct btf *btf,
			       const char *name, struct dart_error *error)
{
	struct bpf_map_info map = { };
	uint32_t map_size = sizeof(map);
	int ret;

	if (bpf_obj_get_info_by_fd(map_fd, &map, &map_size))
		return dart_error__system(error, errno, "cannot query the map");
	if (!name)
		name = map.name;
	ret = entry_name__check(name, error);
	if (ret)
		return ret;
	if (entry__rename(entry, name))
		return dart_error__no_memory(error);
	return entry__check_size(entry, error) ?:
		       map_schema__new(&map, btf, &entry->own_schema, &entry->copies_are, error);
}

int entry__new_map(struct region *region, int map_fd, const struct btf *btf, const char *name,
		   struct entry **result, struct dart_error *error)
{
	struct entry *entry;
	int ret;

	entry = entry__new(DART_CONTROL_ENTRY_MAP, DART_CONTROL_LIFETIME_DYNAMIC,
			   DART_CONTROL_COPIES_ROW, "");
	if (!entry)
		return dart_error__no_memory(error);
	/* First, because the module decides whether the map is suitable. */
	ret = region__add_map(region, map_fd, &entry->extent, error) ?:
		      entry__describe_map(entry, map_fd, btf, name, error);
	return entry__complete(entry, region, ret, result, error);
}

int entry__new_counters(struct region *region, const char *name, json_t *names,
			struct entry **result, struct dart_error *error)
{
	struct entry *entry;
	int ret;

	entry = entry__new(DART_CONTROL_ENTRY_COUNTERS, DART_CONTROL_LIFETIME_DYNAMIC,
			   DART_CONTROL_COPIES_CPU, name);
	if (!entry)
		return dart_error__no_memory(error);
	ret = region__add_counters(region, name, json_array_size(names), &entry->extent, error);
	if (!ret && names)
		ret = schema_json__new_counters(name, names, &entry->own_schema, error);
	else if (!ret && *entry->extent.name)
		ret = counters_schema__new(&entry->extent, &entry->own_schema, error);
	else if (!ret)
		ret = dart_error__set(
			error, EPERM,
			"counters '%s' belong to another program, which alone knows their names",
			name);
	return entry__complete(entry, region, ret, result, error);
}

/* Without an extent.  Takes @schema over; NULL if out of memory. */
static struct entry *new_slice(const char *name, struct dart_schema *schema)
{
	struct entry *entry;

	entry = entry__new(DART_CONTROL_ENTRY_SLICE, DART_CONTROL_LIFETIME_SERVERLESS,
			   DART_CONTROL_COPIES_ROW, name);
	if (entry)
		entry->own_schema = schema;
	else
		dart_schema__free(schema);
	return entry;
}

static void entry__set_slice(struct entry *entry, uint32_t id, uint64_t data)
{
	entry->extent = (struct dart_zero_extent){
		.id = id,
		.data = data,
		.length = entry->own_schema->length,
		.stride = entry->own_schema->length,
		.copies = 1,
	};
}

int entry__new_slice(struct region *region, struct arena *arena, const struct arena_place *place,
		     const char *name, struct dart_schema *schema, bool is_exact,
		     struct entry **result, struct dart_error *error)
{
	struct entry *entry = new_slice(name, schema);

	if (!entry)
		return dart_error__no_memory(error);
	entry->arena = arena;
	entry->is_exact = is_exact;
	entry->place = *place;
	entry__set_slice(entry, 0, place->first);
	return entry__complete(entry, region, 0, result, error);
}

struct entry *entry__new_process(const char *name, struct dart_schema *schema, uint32_t gather_ms,
				 uint64_t object, uint32_t rows)
{
	struct entry *entry = entry__new(
		DART_CONTROL_ENTRY_SOURCE, DART_CONTROL_LIFETIME_DYNAMIC,
		rows > 1 ? DART_CONTROL_COPIES_ROW : DART_CONTROL_COPIES_SUM, name);

	if (!entry) {
		dart_schema__free(schema);
		return NULL;
	}
	entry->own_schema = schema;
	entry->is_gathered = true;
	entry->key = (struct selector_key){
		.source = DART_ZERO_SOURCE_PROCESS_MEMORY,
		.gather_ms = gather_ms,
		.object = object,
	};
	return entry;
}

int entry__new_self(struct region *region, const char *name, struct dart_schema *schema,
		    const struct dart_zero_slice *slice, struct entry **result,
		    struct dart_error *error)
{
	struct entry *entry = new_slice(name, schema);

	if (!entry)
		return dart_error__no_memory(error);
	entry->is_self = true;
	entry__set_slice(entry, slice->id, slice->data);
	return entry__complete(entry, region, 0, result, error);
}

void entry__free(struct entry *entry, struct region *region)
{
	if (entry->is_self || (entry->extent.id && entry->is_gathered))
		region__remove_part(region, entry->extent.id);
	else if (entry->extent.id)
		region__remove(region, entry->extent.id);
	if (entry->extent.id && entry->is_gathered)
		region__give_source(region, entry->key.source);
	dart_schema__free(entry->own_schema);
	free(entry->runs);
	free(entry->name);
	free(entry);
}

struct entry *entries__find_map(const struct entries *entries, uint32_t map_id)
{
	struct entry *entry;

	TAILQ_FOREACH(entry, entries, link)
		if (entry->kind == DART_CONTROL_ENTRY_MAP && entry->extent.map_id == map_id)
			return entry;
	return NULL;
}

struct entry *entries__find_counters(const struct entries *entries, const char *name)
{
	struct entry *entry;

	TAILQ_FOREACH(entry, entries, link)
		if (entry->kind == DART_CONTROL_ENTRY_COUNTERS &&
		    !entry->has_ended && !strcmp(entry->name, name))
			return entry;
	return NULL;
}
