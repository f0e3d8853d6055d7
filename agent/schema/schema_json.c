// SPDX-License-Identifier: GPL-2.0-only
/* Parses the schema of a request. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <dart/control.h>
#include <dart/registration.h>
#include <libdart/table/value.h>

#include "schema_json.h"

static int find_kind(const char *name, enum dart_control_field_kind *kind)
{
	for (*kind = DART_CONTROL_FIELD_COUNTER; *kind <= DART_CONTROL_FIELD_TIME; ++*kind)
		if (!strcmp(dart_field_kind__name(*kind), name))
			return 0;
	return -EINVAL;
}

static int parse_field(json_t *json, struct dart_field *field, struct dart_error *error)
{
	json_int_t offset, width, count = 1;
	const char *name, *kind, *unit = "";
	enum dart_control_field_kind of_kind;
	json_error_t json_error;
	int is_signed = 0;

	if (json_unpack_ex(json, &json_error, 0, "{s:s, s:I, s:I, s:s, s?s, s?I, s?b !}", "name",
			   &name, "offset", &offset, "width", &width, "kind", &kind, "unit", &unit,
			   "count", &count, "signed", &is_signed))
		return dart_error__set(error, EINVAL, "invalid field: %s", json_error.text);
	if (offset < 0 || offset > UINT32_MAX || width < 0 || width > UINT32_MAX || count < 0 ||
	    count > UINT32_MAX || find_kind(kind, &of_kind))
		return dart_error__set(error, EINVAL,
				       "field '%s' has an invalid offset, width, count or kind",
				       name);
	*field = (struct dart_field){
		.name = (char *)name,
		.unit = (char *)unit,
		.offset = offset,
		.width = width,
		.count = count,
		.kind = of_kind,
		.is_signed = is_signed,
	};
	return 0;
}

static int by_offset(const void *a, const void *b)
{
	const struct dart_field *left = a, *right = b;

	return (left->offset > right->offset) - (left->offset < right->offset);
}

static int add_fields(struct dart_schema *schema, const struct dart_field *fields, size_t count,
		      struct dart_error *error)
{
	const char *objection;
	size_t i;
	int ret;

	for (i = 0; i < count; i++) {
		objection = dart_schema__objection(schema, &fields[i]);
		if (objection)
			return dart_error__set(error, EINVAL, "field '%.64s' %s",
					       fields[i].name, objection);
		ret = dart_schema__add(schema, &fields[i]);
		if (ret == -EEXIST)
			return dart_error__set(
				error, EINVAL,
				"two fields are called '%.64s' (names of fields are unique in a schema)",
				fields[i].name);
		if (ret)
			return dart_error__system(error, -ret, "cannot add field '%s'",
						  fields[i].name);
	}
	return 0;
}

/* The fields point to strings of @json. */
static int parse_fields(json_t *json, struct dart_field **result, struct dart_error *error)
{
	size_t i, count = json_array_size(json);
	struct dart_field *fields;
	int ret;

	if (!count || count > DART_REGISTRATION_FIELDS_MAX)
		return dart_error__set(error, EINVAL, "a schema must have 1 to %d fields",
				       DART_REGISTRATION_FIELDS_MAX);
	fields = calloc(count, sizeof(*fields));
	if (!fields)
		return dart_error__no_memory(error);
	for (i = 0; i < count; i++) {
		ret = parse_field(json_array_get(json, i), &fields[i], error);
		if (ret) {
			free(fields);
			return ret;
		}
	}
	qsort(fields, count, sizeof(*fields), by_offset);
	*result = fields;
	return 0;
}

static int new_schema(const char *name, json_int_t length,
		      struct dart_schema **schema, struct dart_error *error)
{
	*schema = NULL;
	if (length > 0 && length <= DART_CONTROL_VALUE_MAX)
		*schema = dart_schema__new(name, length);
	if (*schema)
		return 0;
	return dart_error__set(error, EINVAL, "a schema must have a name and 1 to %d bytes",
			       DART_CONTROL_VALUE_MAX);
}

int schema_json__new(json_t *json, struct dart_schema **schema, struct dart_error *error)
{
	struct dart_field *fields = NULL;
	json_error_t json_error;
	json_int_t length;
	json_t *array;
	const char *name;
	int ret;

	if (json_unpack_ex(json, &json_error, 0, "{s:s, s:I, s:o !}", "name", &name, "length",
			   &length, "fields", &array))
		return dart_error__set(error, EINVAL, "invalid schema: %s", json_error.text);
	ret = parse_fields(array, &fields, error);
	if (ret)
		return ret;
	ret = new_schema(name, length, schema, error);
	if (ret)
		goto free_fields;
	ret = add_fields(*schema, fields, json_array_size(array), error);
	if (ret) {
		dart_schema__free(*schema);
		*schema = NULL;
	}
free_fields:
	free(fields);
	return ret;
}

int schema_json__new_counters(const char *name, json_t *names, struct dart_schema **schema,
			      struct dart_error *error)
{
	struct dart_field field = {
		.unit = "",
		.width = sizeof(uint64_t),
		.count = 1,
		.kind = DART_CONTROL_FIELD_COUNTER,
	};
	json_t *one;
	size_t i;
	int ret;

	ret = new_schema(name, json_array_size(names) * sizeof(uint64_t), schema, error);
	if (ret)
		return ret;
	json_array_foreach(names, i, one) {
		field.name = (char *)json_string_value(one);
		field.offset = i * sizeof(uint64_t);
		ret = field.name ? add_fields(*schema, &field, 1, error) :
				   dart_error__set(error, EINVAL, "counter names must be strings");
		if (ret) {
			dart_schema__free(*schema);
			*schema = NULL;
			return ret;
		}
	}
	return 0;
}

bool schema_json__names(const struct dart_schema *schema, json_t *names)
{
	const char *name;
	uint32_t i;

	if (json_array_size(names) != schema->field_count)
		return false;
	for (i = 0; i < schema->field_count; i++) {
		name = json_string_value(json_array_get(names, i));
		if (!name || strcmp(name, schema->fields[i].name))
			return false;
	}
	return true;
}
