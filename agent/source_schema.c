// SPDX-License-Identifier: GPL-2.0-only
#include <bpf/btf.h>
#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "log.h"
#include "source_schema.h"

static int does_not_fit(const struct source *source, const char *detail,
			struct why *why)
{
	return why__say(why, EPROTONOSUPPORT,
			"layout of %s does not fit this kernel's BTF: %s",
			source->name, detail);
}

static int add_counter(struct dart_schema *schema, const char *name,
		       const char *unit, uint32_t offset, uint32_t width)
{
	char lower[DART_CONTROL_NAME_MAX];
	struct dart_field field = {
		.name = lower,
		.unit = (char *)unit,
		.offset = offset,
		.width = width,
		.count = 1,
		.kind = DART_CONTROL_FIELD_COUNTER,
	};
	size_t i;

	for (i = 0; i < sizeof(lower) - 1 && name[i]; i++)
		lower[i] = tolower((unsigned char)name[i]);
	lower[i] = '\0';
	return dart_schema__add(schema, &field);
}

/*
 * The type of what @path ("member" or "member.member") leads to, NULL if it
 * leads nowhere; *@offset is its place in bytes.
 */
static const struct btf_type *find_member(const struct btf *btf,
					  const struct btf_type *type,
					  const char *path, uint32_t *offset)
{
	const struct btf_member *member;
	size_t length;
	uint16_t i;

	for (*offset = 0; *path; path += length + (path[length] == '.')) {
		length = strcspn(path, ".");
		if (!type || !btf_is_struct(type))
			return NULL;
		member = btf_members(type);
		for (i = 0; i < btf_vlen(type); i++, member++) {
			const char *name = btf__name_by_offset(btf,
							       member->name_off);

			if (!strncmp(name, path, length) && !name[length])
				break;
		}
		if (i == btf_vlen(type))
			return NULL;
		*offset += btf_member_bit_offset(type, i) / 8;
		type = btf__type_by_id(btf, btf__resolve_type(btf,
							      member->type));
	}
	return type;
}

/* Bytes of an integer, also if it is wrapped up as atomic_t; 0 for others. */
static uint32_t integer_width(const struct btf *btf,
			      const struct btf_type *type)
{
	int id;

	if (type && btf_is_struct(type) && btf_vlen(type) == 1) {
		id = btf__resolve_type(btf, btf_members(type)->type);
		type = btf__type_by_id(btf, id);
	}
	if (!type || !btf_is_int(type))
		return 0;
	return type->size == 4 || type->size == 8 ? type->size : 0;
}

/* The name of array element @index, NULL if the enum has none. */
static const char *element_name(const struct btf *btf,
				const struct btf_type *elements,
				uint32_t index)
{
	const struct btf_enum *value = btf_enum(elements);
	uint16_t i;

	for (i = 0; i < btf_vlen(elements); i++, value++)
		if ((uint32_t)value->val == index)
			return btf__name_by_offset(btf, value->name_off);
	return NULL;
}

static int add_array(struct dart_schema *schema, const struct source *source,
		     const struct btf *btf, const struct btf_type *variable,
		     struct why *why)
{
	const struct btf_type *elements, *type;
	const struct btf_array *array;
	size_t prefix = strlen(source->prefix);
	uint32_t i, offset, width;
	int id, ret;

	type = find_member(btf, variable, source->array, &offset);
	if (!type || !btf_is_array(type))
		return does_not_fit(source, "there is no array in it", why);
	array = btf_array(type);
	id = btf__resolve_type(btf, array->type);
	width = integer_width(btf, btf__type_by_id(btf, id));
	if (!width)
		return does_not_fit(source, "its array is not of counters",
				    why);

	id = btf__find_by_name_kind(btf, source->elements, BTF_KIND_ENUM);
	elements = btf__type_by_id(btf, id);
	if (id < 0 || !elements)
		return does_not_fit(source, "nothing names its elements", why);

	for (i = 0; i < array->nelems; i++) {
		const char *name = element_name(btf, elements, i);

		if (!name)
			return does_not_fit(source, "an element has no name",
					    why);
		if (!strncmp(name, source->prefix, prefix))
			name += prefix;
		ret = add_counter(schema, name, source->unit,
				  offset + i * width, width);
		if (ret)
			return does_not_fit(source, strerror(-ret), why);
	}
	return 0;
}

static int add_members(struct dart_schema *schema, const struct source *source,
		       const struct btf *btf, const struct btf_type *variable,
		       struct why *why)
{
	const struct source_member *wanted;
	uint32_t offset, width;
	int ret;

	for (wanted = source->members; wanted->name; wanted++) {
		width = integer_width(btf, find_member(btf, variable,
						       wanted->name, &offset));
		if (!width && wanted->optional)
			continue;
		if (!width) {
			log__warning("source %s: this kernel has no counter '%s': left out",
				     source->name, wanted->name);
			continue;
		}
		ret = add_counter(schema, wanted->name, wanted->unit, offset,
				  width);
		if (ret)
			return does_not_fit(source, strerror(-ret), why);
	}
	if (!schema->field_count)
		return does_not_fit(source, "none of its counters is there",
				    why);
	return 0;
}

/* The type of the variable, a struct, or NULL. */
static const struct btf_type *
find_variable(const struct btf *btf, const struct dart_zero_extent *extent)
{
	const struct btf_type *type;
	int id;

	id = btf__find_by_name_kind(btf, extent->name, BTF_KIND_VAR);
	if (id < 0)
		return NULL;
	id = btf__resolve_type(btf, btf__type_by_id(btf, id)->type);
	type = id < 0 ? NULL : btf__type_by_id(btf, id);
	if (!type || !btf_is_struct(type) || type->size != extent->length)
		return NULL;
	return type;
}

int source_schema__new(const struct source *source,
		       const struct dart_zero_extent *extent,
		       struct dart_schema **result, struct why *why)
{
	const struct btf_type *variable;
	struct dart_schema *schema;
	struct btf *btf;
	int ret;

	btf = btf__load_vmlinux_btf();
	if (!btf)
		return why__say(why, errno,
				"cannot read the kernel's types: %s (the kernel needs CONFIG_DEBUG_INFO_BTF)",
				strerror(errno));

	variable = find_variable(btf, extent);
	if (!variable) {
		ret = does_not_fit(source, "no such variable of this size",
				   why);
		goto free_btf;
	}
	schema = dart_schema__new(btf__name_by_offset(btf, variable->name_off),
				  extent->length);
	if (!schema) {
		ret = does_not_fit(source, strerror(errno), why);
		goto free_btf;
	}

	if (source->array)
		ret = add_array(schema, source, btf, variable, why);
	else
		ret = add_members(schema, source, btf, variable, why);
	if (ret)
		dart_schema__free(schema);
	else
		*result = schema;

free_btf:
	btf__free(btf);
	return ret;
}
