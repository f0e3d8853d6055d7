// SPDX-License-Identifier: GPL-2.0-only
/* Makes the schema of a map's value, with BTF or without. */
#include <bpf/btf.h>
#include <errno.h>
#include <stdlib.h>

#include "agent/base/log.h"
#include "btf_fields.h"
#include "map_schema.h"

/* Leaves out fields that do not fit into the schema, such as overlaps. */
static int schema__fill(struct dart_schema *schema, struct btf_fields *fields)
{
	uint32_t i;
	int ret;

	for (i = 0; i < fields->count; i++) {
		ret = dart_schema__add(schema, &fields->fields[i]);
		if (ret == -ENOMEM)
			return ret;
		if (ret)
			fields->left_out++;
	}
	return 0;
}

static int schema__from_btf(struct dart_schema *schema, const struct btf *btf,
			    const struct bpf_map_info *map, enum dart_control_copies *copies_are,
			    struct dart_error *error)
{
	struct btf_fields *fields;
	int ret;

	if (!btf__type_by_id(btf, map->btf_value_type_id))
		return dart_error__set(error, EPROTONOSUPPORT,
				       "the map's BTF lacks the type of the value");
	fields = calloc(1, sizeof(*fields));
	if (!fields)
		return dart_error__no_memory(error);

	ret = btf_fields__collect(fields, btf, map->btf_value_type_id) ?:
		      schema__fill(schema, fields);
	if (ret == -E2BIG)
		dart_error__set(error, E2BIG, "the value has more than %d fields", BTF_FIELDS_MAX);
	else if (ret)
		dart_error__no_memory(error);
	else if (!schema->field_count)
		ret = dart_error__set(error, EINVAL, "the value has neither integers nor texts");
	else if (fields->left_out)
		log__peer_info(
			"map '%s': %u members left out (pointers, bitfields, floats, overlaps)",
			map->name, fields->left_out);
	*copies_are = fields->copies_are;
	if (!ret && fields->copies_are == DART_CONTROL_COPIES_CPU &&
	    dart_schema__has_sequence(schema))
		ret = dart_error__set(
			error, EINVAL,
			"the value has a sequence, but only rows can have one, not copies per CPU");

	btf_fields__free(fields);
	free(fields);
	return ret;
}

static int schema__without_btf(struct dart_schema *schema, struct dart_error *error)
{
	uint32_t length = schema->length;
	bool is_integer = length == 1 || length == 2 || length == 4;
	struct dart_field field = {
		.name = (char *)"value",
		.unit = (char *)"",
		.kind = DART_CONTROL_FIELD_GAUGE,
	};
	int ret;

	field.width = is_integer ? length : length % 8 ? 1 : 8;
	field.count = length / field.width;
	ret = dart_schema__add(schema, &field);
	return ret ? dart_error__system(error, -ret, "field 'value'") : 0;
}

/* Name of the value's type, or "". */
static const char *type_name(const struct btf *btf, uint32_t type_id)
{
	const struct btf_type *type = btf ? btf__type_by_id(btf, type_id) : NULL;

	return type ? btf__name_by_offset(btf, type->name_off) : "";
}

int map_schema__new(const struct bpf_map_info *map, const struct btf *own,
		    struct dart_schema **result, enum dart_control_copies *copies_are,
		    struct dart_error *error)
{
	const bool has_btf = map->btf_id && map->btf_value_type_id;
	const struct btf *btf = has_btf ? own : NULL;
	struct btf *loaded = NULL;
	struct dart_schema *schema;
	const char *name;
	int ret;

	if (has_btf && !own) {
		loaded = btf__load_from_kernel_by_id(map->btf_id);
		if (!loaded)
			return dart_error__system(error, errno, "cannot read the map's BTF");
		btf = loaded;
	}

	name = type_name(btf, map->btf_value_type_id);
	if (!*name || !dart_text__is_valid(name))
		name = "value";
	schema = dart_schema__new(name, map->value_size);
	if (!schema) {
		ret = dart_error__system(error, errno, "cannot describe a value of %u bytes",
					 map->value_size);
		goto free_btf;
	}

	*copies_are = DART_CONTROL_COPIES_ROW;
	if (btf)
		ret = schema__from_btf(schema, btf, map, copies_are, error);
	else
		ret = schema__without_btf(schema, error);
	if (ret)
		dart_schema__free(schema);
	else
		*result = schema;

free_btf:
	btf__free(loaded);
	return ret;
}
