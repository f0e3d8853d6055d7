// SPDX-License-Identifier: GPL-2.0-only
/* Compares tables, ignoring the parts that belong to one host only. */
#include "catalog.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Numbers of an entry and of a range, without padding, so that they can be hashed and compared. */
struct entry_numbers {
	uint64_t since, place;
	const struct dart_schema *schema; /* shared, so equal schemas have the same address */
	uint32_t kind, lifetime, copies_are, copies, ranges, name_length;
};

struct range_numbers {
	uint64_t place, stride; /* relative to the memory region */
	uint32_t memory_region, first_copy, copies, offset, length, reserved;
};

static struct entry_numbers numbers_of_entry(const struct dart_entry *entry)
{
	return (struct entry_numbers){
		.since = entry->since,
		.place = entry->place,
		.schema = entry->schema,
		.kind = entry->kind,
		.lifetime = entry->lifetime,
		.copies_are = entry->copies_are,
		.copies = entry->copies,
		.ranges = entry->range_count,
		.name_length = strlen(entry->name),
	};
}

static struct range_numbers numbers_of_range(const struct dart_table *table,
					     const struct dart_range *range)
{
	return (struct range_numbers){
		.place = range->address - table->memory_regions[range->memory_region].address,
		.stride = range->stride,
		.memory_region = range->memory_region,
		.first_copy = range->first_copy,
		.copies = range->copies,
		.offset = range->offset,
		.length = range->length,
	};
}

static int compare_entries(const struct dart_table *one, const struct dart_table *other,
			   uint32_t index)
{
	const struct dart_entry *a = &one->entries[index];
	const struct dart_entry *b = &other->entries[index];
	const struct entry_numbers of_a = numbers_of_entry(a);
	const struct entry_numbers of_b = numbers_of_entry(b);
	struct range_numbers range_of_a, range_of_b;
	int order;
	uint32_t i;

	order = memcmp(&of_a, &of_b, sizeof(of_a)) ?: strcmp(a->name, b->name);
	for (i = 0; !order && i < a->range_count; i++) {
		range_of_a = numbers_of_range(one, &a->ranges[i]);
		range_of_b = numbers_of_range(other, &b->ranges[i]);
		order = memcmp(&range_of_a, &range_of_b, sizeof(range_of_a));
	}
	return order;
}

static int compare_u64(uint64_t one, uint64_t other)
{
	return (one > other) - (one < other);
}

/*
 * Compares the places where the values of the wanted entries land. READs begin and end at cache
 * lines, so these places also depend on the addresses and the lengths of memory regions.
 */
static int compare_landings(const struct catalog *one, const struct catalog *other)
{
	int order = compare_u64(dart_read_plan__landing_size(one->plan),
				dart_read_plan__landing_size(other->plan));
	const struct dart_entry *a, *b;
	uint32_t i, k;

	for (i = 0; !order && i < one->wanted_count; i++) {
		a = &one->table->entries[one->wanted[i]];
		b = &other->table->entries[other->wanted[i]];
		for (k = 0; !order && k < a->range_count; k++)
			order = compare_u64(dart_read_plan__place(one->plan, &a->ranges[k]),
					    dart_read_plan__place(other->plan, &b->ranges[k]));
	}
	return order;
}

static int compare(const struct content *a, const struct content *b)
{
	const struct catalog *one = (const struct catalog *)a;
	const struct catalog *other = (const struct catalog *)b;
	const uint32_t entries = one->table->entry_count;
	int order;

	order = compare_u64(entries, other->table->entry_count) ?:
			compare_u64(one->table->memory_region_count, other->table->memory_region_count) ?:
			compare_u64(one->wanted_count, other->wanted_count);
	if (!order && one->wanted_count)
		order = memcmp(one->wanted, other->wanted,
			       one->wanted_count * sizeof(*one->wanted));
	for (uint32_t i = 0; !order && i < entries; i++)
		order = compare_entries(one->table, other->table, i);
	return order ?: compare_landings(one, other);
}

static void hash_entry(XXH3_state_t *state, const struct dart_table *table,
		       const struct dart_entry *entry)
{
	const struct entry_numbers of_entry = numbers_of_entry(entry);
	struct range_numbers of_range;
	uint32_t i;

	XXH3_64bits_update(state, &of_entry, sizeof(of_entry));
	XXH3_64bits_update(state, entry->name, of_entry.name_length);
	for (i = 0; i < entry->range_count; i++) {
		of_range = numbers_of_range(table, &entry->ranges[i]);
		XXH3_64bits_update(state, &of_range, sizeof(of_range));
	}
}

static void hash_landing(XXH3_state_t *state, const struct dart_read_plan *plan,
			 const struct dart_entry *entry)
{
	uint64_t place;
	uint32_t i;

	for (i = 0; i < entry->range_count; i++) {
		place = dart_read_plan__place(plan, &entry->ranges[i]);
		XXH3_64bits_update(state, &place, sizeof(place));
	}
}

static uint64_t hash(struct content_store *store, const struct catalog *catalog)
{
	const struct dart_table *table = catalog->table;
	XXH3_state_t *state = content_store__hash(store);
	uint32_t i;

	XXH3_64bits_update(state, catalog->wanted,
			   catalog->wanted_count * sizeof(*catalog->wanted));
	for (i = 0; i < table->entry_count; i++)
		hash_entry(state, table, &table->entries[i]);
	for (i = 0; i < catalog->wanted_count; i++)
		hash_landing(state, catalog->plan, &table->entries[catalog->wanted[i]]);
	return XXH3_64bits_digest(state);
}

static void catalog__free(struct content *content)
{
	struct catalog *catalog = (struct catalog *)content;
	uint32_t i;

	dart_read_plan__free(catalog->plan);
	dart_table__free(catalog->table);
	for (i = 0; i < catalog->schema_count; i++)
		content__release(&catalog->schemas[i]->content);
	free(catalog->schemas);
	free(catalog->wanted);
	free(catalog);
}

static const struct content_kind catalog__kind = {
	.compare = compare,
	.free = catalog__free,
};

int catalogs__open(struct catalogs *catalogs)
{
	*catalogs = (struct catalogs){};
	return content_store__open(&catalogs->catalogs, &catalog__kind) ?:
		       content_store__open(&catalogs->schemas, &shared_schema__kind);
}

void catalogs__close(struct catalogs *catalogs)
{
	content_store__close(&catalogs->catalogs);
	content_store__close(&catalogs->schemas);
}

struct sharing {
	struct catalogs *catalogs;
	struct catalog *catalog;
};

static const struct dart_schema *share_schema(void *data, const struct dart_schema *schema)
{
	struct sharing *sharing = data;
	struct catalog *catalog = sharing->catalog;
	struct shared_schema *shared;

	shared = shared_schema__get(&sharing->catalogs->schemas, schema);
	if (!shared)
		return NULL;
	catalog->schemas[catalog->schema_count++] = shared;
	return &shared->schema;
}

static int catalog__share_schemas(struct catalog *catalog, struct catalogs *catalogs)
{
	struct sharing sharing = { .catalogs = catalogs, .catalog = catalog };

	/* One schema for each entry at most. */
	catalog->schemas =
		calloc((size_t)catalog->table->entry_count + 1, sizeof(*catalog->schemas));
	if (!catalog->schemas)
		return -ENOMEM;
	return dart_table__replace_schemas(catalog->table, share_schema, &sharing);
}

int catalog__new(struct catalogs *catalogs, struct dart_table *table, uint32_t *wanted,
		 uint32_t wanted_count, struct catalog **catalogp)
{
	struct catalog *catalog = calloc(1, sizeof(*catalog));
	int err = 0;

	if (!catalog) {
		dart_table__free(table);
		free(wanted);
		return -ENOMEM;
	}
	content__init(&catalog->content, &catalog__kind);
	catalog->table = table;
	catalog->wanted = wanted;
	catalog->wanted_count = wanted_count;
	if (catalogs)
		err = catalog__share_schemas(catalog, catalogs);
	if (!err)
		err = dart_read_plan__new(table, wanted, wanted_count, &catalog->plan);
	if (err == -ENOMEM)
		content__release(&catalog->content);
	else
		*catalogp = catalog;
	return err;
}

struct catalog *catalog__share(struct catalogs *catalogs, struct catalog *catalog)
{
	struct content_store *store;
	struct content *shared;

	if (!catalogs)
		return catalog;
	store = &catalogs->catalogs;
	catalog->content.hash = hash(store, catalog);
	shared = content_store__find(store, &catalog->content);
	if (shared) {
		content__release(&catalog->content);
		return (struct catalog *)shared;
	}
	if (content_store__add(store, &catalog->content)) {
		content__release(&catalog->content);
		return NULL;
	}
	return catalog;
}
