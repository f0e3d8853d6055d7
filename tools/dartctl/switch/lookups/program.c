// SPDX-License-Identifier: GPL-2.0-only
/* The facts about a P4 program with lookup tables, see program.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "program.h"

#define GEOMETRY "tea_geometry"
#define POPULAR "tea_popular_t"

/* Constant @index of the default action of @table; 0 if it is none below 256. */
static uint32_t constant(const json_t *table, size_t index)
{
	const json_t *entry = json_object_get(table, "default_entry");
	const json_t *data = json_object_get(entry, "action_data");
	const char *text = json_string_value(json_array_get(data, index));
	unsigned long number;
	char *end;

	if (!text)
		return 0;
	number = strtoul(text, &end, 16);
	return *end || number > UINT8_MAX ? 0 : number;
}

static uint32_t room_of(const struct switch_program *program, const char *name)
{
	const json_t *table = switch_program__table(program, name);
	json_int_t size;

	size = json_integer_value(json_object_get(table, "max_size"));
	return size < 0 || size > UINT32_MAX ? 0 : size;
}

int lookup_program__sizes(const struct switch_program *program,
			  struct lookup_sizes *sizes, struct dart_error *error)
{
	const json_t *table = switch_program__table(program, GEOMETRY);

	*sizes = (struct lookup_sizes){
		.key_length = constant(table, 0),
		.value_length = constant(table, 1),
		.cells = constant(table, 2),
		.stash_room = room_of(program, LOOKUP_TABLE_STASH),
		.cache_room = room_of(program, LOOKUP_TABLE_CACHE),
	};
	if (!sizes->key_length || sizes->key_length > DART_TEA_KEY_MAX ||
	    !sizes->value_length || sizes->value_length > DART_TEA_VALUE_MAX ||
	    !sizes->cells || sizes->cells > DART_TEA_CELLS_MAX)
		return dart_error__set(error, EINVAL,
				       "the program does not say in " GEOMETRY
				       " which tables it looks up");
	return 0;
}

int lookup_program__popular(const struct switch_program *program, int32_t *list,
			    struct dart_error *error)
{
	json_t *element, *id;
	const char *name;
	size_t i;

	json_array_foreach(json_object_get(program->json, "learn_lists"), i, element) {
		name = json_string_value(json_object_get(element, "name"));
		id = json_object_get(element, "id");
		if (!name || strcmp(name, POPULAR) || !json_is_integer(id) ||
		    json_integer_value(id) < 0 || json_integer_value(id) > INT32_MAX)
			continue;
		*list = json_integer_value(id);
		return 0;
	}
	return dart_error__set(error, EINVAL, "the program has no digest " POPULAR);
}

int lookup_program__check(const struct switch_program *program,
			  const struct dart_tea_tables *tables, struct dart_error *error)
{
	const struct dart_tea_geometry *geometry = &tables->geometry;
	struct lookup_sizes sizes;
	int ret;

	ret = lookup_program__sizes(program, &sizes, error);
	if (ret)
		return ret;
	if (sizes.key_length != geometry->key_length ||
	    sizes.value_length != geometry->value_length || sizes.cells != geometry->cells)
		return dart_error__set(
			error, EINVAL,
			"table '%s' has keys of %u bytes, values of %u and %u cells in a bucket, but the program has %u, %u and %u",
			tables->name, geometry->key_length, geometry->value_length, geometry->cells,
			sizes.key_length, sizes.value_length, sizes.cells);
	if (sizes.stash_room < tables->stashed_count)
		return dart_error__set(error, EINVAL,
				       "the stash has %zu entries, but the program has room for %u",
				       tables->stashed_count, sizes.stash_room);
	return 0;
}
