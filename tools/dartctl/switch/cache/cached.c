// SPDX-License-Identifier: GPL-2.0-only
/* Entries in the cache of a switch with lookup tables, see cached.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cached.h"
#include "tools/dartctl/switch/bmv2/register.h"
#include "tools/dartctl/switch/bmv2/table.h"

#define POPULAR "tea_popular"
#define POPULAR_FROM "tea_popular_from"

/* The registers to clear at the end of a period, in this order. */
static const char *const sketch[] = {
	"tea_sketch_0", "tea_sketch_1",	  "tea_sketch_2",
	"tea_sketch_3", "tea_reported_0", "tea_reported_1",
};

int cached__set_threshold(struct thrift *thrift, uint32_t packets, struct dart_error *error)
{
	struct bmv2_entry entry = { .value_count = 1 };

	bmv2_bytes__set(&entry.values[0], packets, 16);
	return bmv2_table__set_default(thrift, POPULAR, POPULAR_FROM, &entry, error);
}

int cached__clear_sketch(struct thrift *thrift, struct dart_error *error)
{
	size_t i;
	int ret = 0;

	for (i = 0; !ret && i < sizeof(sketch) / sizeof(sketch[0]); i++)
		ret = bmv2_register__clear(thrift, sketch[i], error);
	return ret;
}

static void set_key(const struct cached_list *list, struct bmv2_entry *entry,
		    const struct cached *cached)
{
	entry->handle = cached->handle;
	entry->key.length = list->sizes.key_length;
	memcpy(entry->key.bytes, cached->key, entry->key.length);
	entry->value_count = 1;
	entry->values[0].length = list->sizes.value_length;
	memcpy(entry->values[0].bytes, cached->value, entry->values[0].length);
}

int cached__open(struct cached_list *list, const struct lookup_sizes *sizes)
{
	list->sizes = *sizes;
	list->count = 0;
	list->entries = calloc(sizes->cache_room, sizeof(*list->entries));
	return list->entries ? 0 : -ENOMEM;
}

void cached__close(struct cached_list *list)
{
	free(list->entries);
	list->entries = NULL;
	list->count = 0;
}

struct cached *cached__find(const struct cached_list *list, const uint8_t *key)
{
	size_t i;

	for (i = 0; i < list->count; i++)
		if (!memcmp(list->entries[i].key, key, list->sizes.key_length))
			return &list->entries[i];
	return NULL;
}

int cached__add(struct cached_list *list, struct thrift *thrift, const uint8_t *key,
		const uint8_t *value, struct dart_error *error)
{
	struct cached *cached = &list->entries[list->count];
	struct bmv2_entry entry = { .handle = 0 };
	int ret;

	if (list->count == list->sizes.cache_room)
		return dart_error__set(error, ENOSPC, "its cache is full");
	*cached = (struct cached){ .handle = 0 };
	memcpy(cached->key, key, list->sizes.key_length);
	memcpy(cached->value, value, list->sizes.value_length);
	set_key(list, &entry, cached);
	ret = bmv2_table__add(thrift, LOOKUP_TABLE_CACHE, LOOKUP_ACTION_CACHE, &entry, error);
	if (ret)
		return ret;
	cached->handle = entry.handle;
	list->count++;
	return 0;
}

int cached__change(const struct cached_list *list, struct thrift *thrift, struct cached *cached,
		   const uint8_t *value, struct dart_error *error)
{
	struct bmv2_entry entry = { .handle = 0 };

	if (!memcmp(cached->value, value, list->sizes.value_length))
		return 0;
	memcpy(cached->value, value, list->sizes.value_length);
	set_key(list, &entry, cached);
	return bmv2_table__change(thrift, LOOKUP_TABLE_CACHE, LOOKUP_ACTION_CACHE, &entry, error);
}

int cached__remove(struct cached_list *list, struct thrift *thrift, struct cached *cached,
		   struct dart_error *error)
{
	int ret;

	ret = bmv2_table__remove(thrift, LOOKUP_TABLE_CACHE, cached->handle, error);
	if (!ret)
		*cached = list->entries[--list->count];
	return ret;
}
