// SPDX-License-Identifier: GPL-2.0-only
/* Finds variables, members and counters in BTF. */
#include <string.h>

#include "btf_layout.h"

/* Nested structs with one member, such as atomic64_t, local_t and u64_stats_t. */
#define WRAPPERS_MAX 8

uint32_t btf_layout__counter_width(const struct btf *btf, uint32_t type_id)
{
	const struct btf_type *type;
	unsigned int depth;
	int id;

	for (depth = 0; depth < WRAPPERS_MAX; depth++) {
		id = btf__resolve_type(btf, type_id);
		type = id < 0 ? NULL : btf__type_by_id(btf, id);
		if (!type)
			return 0;
		if (btf_is_int(type))
			return type->size == 4 || type->size == 8 ? type->size : 0;
		if (!btf_is_struct(type) || btf_vlen(type) != 1)
			return 0;
		type_id = btf_members(type)->type;
	}
	return 0;
}

const struct btf_type *btf_layout__enum(const struct btf *btf, const char *name)
{
	uint32_t i, count = btf__type_cnt(btf);
	uint16_t j;

	for (i = 1; i < count; i++) {
		const struct btf_type *type = btf__type_by_id(btf, i);
		const struct btf_enum *value = btf_enum(type);

		if (!btf_is_enum(type))
			continue;
		for (j = 0; j < btf_vlen(type); j++, value++)
			if (!strcmp(btf__name_by_offset(btf, value->name_off), name))
				return type;
	}
	return NULL;
}

const char *btf_layout__element(const struct btf *btf,
				const struct btf_type *elements, uint32_t index)
{
	const struct btf_enum *value = btf_enum(elements);
	uint16_t i;

	for (i = 0; i < btf_vlen(elements); i++, value++)
		if ((uint32_t)value->val == index)
			return btf__name_by_offset(btf, value->name_off);
	return NULL;
}

/* Finds a member of a struct and adds its offset to @offset. */
static const struct btf_member *find_member(const struct btf *btf, const struct btf_type *type,
					    const char *name, size_t length, uint32_t *offset)
{
	const struct btf_member *member = btf_members(type);
	const char *its_name;
	uint16_t i;

	for (i = 0; i < btf_vlen(type); i++, member++) {
		its_name = btf__name_by_offset(btf, member->name_off);
		if (strlen(its_name) != length || memcmp(its_name, name, length))
			continue;
		if (btf_member_bitfield_size(type, i) || btf_member_bit_offset(type, i) % 8)
			return NULL;
		*offset += btf_member_bit_offset(type, i) / 8;
		return member;
	}
	return NULL;
}

const struct btf_type *btf_layout__member(const struct btf *btf, const struct btf_type *type,
					  const char **path, uint32_t *type_id, uint32_t *offset)
{
	const struct btf_member *member;
	size_t length;
	int id;

	for (;;) {
		length = strcspn(*path, ".");
		if (!btf_is_composite(type))
			return NULL;
		member = find_member(btf, type, *path, length, offset);
		id = member ? btf__resolve_type(btf, member->type) : -1;
		if (id < 0)
			return NULL;
		*type_id = id;
		type = btf__type_by_id(btf, id);
		if (!(*path)[length])
			return type;
		*path += length + 1;
	}
}

const struct btf_type *btf_layout__variable(const struct btf *btf, const char *extent,
					    const char **name)
{
	const struct btf_type *type;
	int id;

	id = btf__find_by_name_kind(btf, extent, BTF_KIND_VAR);
	if (id >= 0)
		id = btf__type_by_id(btf, id)->type;
	else
		id = btf__find_by_name_kind(btf, extent, BTF_KIND_STRUCT);
	if (id < 0)
		id = btf__find_by_name_kind(btf, extent, BTF_KIND_TYPEDEF);

	*name = "";
	for (type = id < 0 ? NULL : btf__type_by_id(btf, id); type;
	     type = btf__type_by_id(btf, type->type)) {
		if (!**name)
			*name = btf__name_by_offset(btf, type->name_off);
		if (!btf_is_mod(type) && !btf_is_typedef(type))
			break;
	}
	return type && btf_is_struct(type) ? type : NULL;
}
