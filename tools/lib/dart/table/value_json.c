// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Values and schemas as JSON.  Jansson's *_new() functions take the reference
 * even when they fail, so an error only has to drop the enclosing object.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libdart/escape.h>
#include <libdart/json.h>

#include "value.h"

/* Drops an incomplete object; returns NULL. */
static json_t *drop(json_t *json)
{
	json_decref(json);
	return NULL;
}

static json_t *number__to_json(const struct dart_field *field, uint64_t value)
{
	if (!field->is_signed && value > INT64_MAX)
		return dart_json__unsigned(value);
	return json_integer((json_int_t)value);
}

json_t *dart_text__to_json(const void *bytes, size_t width)
{
	const size_t size = DART_ESCAPE_BYTES * strnlen(bytes, width) + 1;
	char *text = malloc(size);
	json_t *json;

	if (!text)
		return NULL;
	dart_escape__text(bytes, width, DART_ESCAPE_NAME, text, size);
	json = json_string(text);
	free(text);
	return json;
}

/*
 * Element @index of a field: the sum over all copies of @entry, or its value in
 * the single copy at @copies if @entry is NULL.
 */
static json_t *element__to_json(const struct dart_entry *entry, const struct dart_field *field,
				const void *copies, uint32_t index)
{
	if (entry)
		return number__to_json(field, dart_entry__sum(entry, field, copies, index));
	return number__to_json(field, dart_field__get(field, copies, index));
}

static json_t *address__to_json(const struct dart_field *field, const void *copy)
{
	char text[INET6_ADDRSTRLEN];

	dart_field__address(field, copy, text);
	return json_string(text);
}

/* As element__to_json(). */
static json_t *field__to_json(const struct dart_entry *entry, const struct dart_field *field,
			      const void *copies)
{
	json_t *elements;
	uint32_t i;

	if (field->kind == DART_CONTROL_FIELD_TEXT)
		return dart_text__to_json((const uint8_t *)copies + field->offset, field->width);
	if (field->kind == DART_CONTROL_FIELD_ADDRESS)
		return address__to_json(field, copies);
	if (field->count == 1)
		return element__to_json(entry, field, copies, 0);

	elements = json_array();
	for (i = 0; elements && i < field->count; i++) {
		if (json_array_append_new(elements, element__to_json(entry, field, copies, i)))
			return drop(elements);
	}
	return elements;
}

static json_t *copy__to_json(const struct dart_schema *schema, const void *copy)
{
	json_t *values = json_object();
	uint32_t i;

	for (i = 0; values && i < schema->field_count; i++) {
		const struct dart_field *field = &schema->fields[i];

		if (field->kind == DART_CONTROL_FIELD_SEQUENCE)
			continue;
		if (json_object_set_new(values, field->name, field__to_json(NULL, field, copy)))
			return drop(values);
	}
	return values;
}

static json_t *copies__to_json(const struct dart_entry *entry, const void *copies)
{
	json_t *rows = json_array();
	const uint8_t *copy = copies;
	uint32_t i;

	for (i = 0; rows && i < entry->copies; i++) {
		if (json_array_append_new(rows, copy__to_json(entry->schema, copy)))
			return drop(rows);
		copy += entry->schema->length;
	}
	return rows;
}

/* Rows by number, without empty ones; torn ones are null. */
static json_t *sequenced__to_json(const struct dart_entry *entry, const void *copies)
{
	json_t *rows = json_object(), *row;
	const uint8_t *copy = copies;
	enum dart_row_state state;
	char number[16];
	uint32_t i;

	for (i = 0; rows && i < entry->copies; i++) {
		state = dart_row__state(entry->schema, copy);
		if (state != DART_ROW_EMPTY) {
			snprintf(number, sizeof(number), "%u", i);
			row = state == DART_ROW_TORN ? json_null() :
						       copy__to_json(entry->schema, copy);
			if (json_object_set_new(rows, number, row))
				return drop(rows);
		}
		copy += entry->schema->length;
	}
	return rows;
}

static json_t *sums__to_json(const struct dart_entry *entry, const void *copies)
{
	json_t *sums = json_object();
	uint32_t i;

	for (i = 0; sums && i < entry->schema->field_count; i++) {
		const struct dart_field *field = &entry->schema->fields[i];

		if (field->kind != DART_CONTROL_FIELD_COUNTER &&
		    field->kind != DART_CONTROL_FIELD_HISTOGRAM)
			continue;
		if (json_object_set_new(sums, field->name, field__to_json(entry, field, copies)))
			return drop(sums);
	}
	return sums;
}

/* The only copy of an entry that has none for CPUs or rows; null unless it is whole. */
static json_t *sum__to_json(const struct dart_entry *entry, const void *copy)
{
	if (dart_row__state(entry->schema, copy) != DART_ROW_WHOLE)
		return json_null();
	return copy__to_json(entry->schema, copy);
}

/* The values under their names, by the meaning of the copies. */
static int add_copies(json_t *json, const struct dart_entry *entry, const void *copies)
{
	switch (entry->copies_are) {
	case DART_CONTROL_COPIES_CPU:
		return json_object_set_new(json, "sum", sums__to_json(entry, copies)) ?:
			       json_object_set_new(json, "cpus", copies__to_json(entry, copies));
	case DART_CONTROL_COPIES_SUM:
		return json_object_set_new(json, "sum", sum__to_json(entry, copies));
	default:
		return json_object_set_new(json, "rows",
					   dart_schema__has_sequence(entry->schema) ?
						   sequenced__to_json(entry, copies) :
						   copies__to_json(entry, copies));
	}
}

json_t *dart_entry__to_json(const struct dart_entry *entry, const void *copies)
{
	json_t *json = json_object();

	if (!json ||
	    json_object_set_new(json, "kind", json_string(dart_entry_kind__name(entry->kind))) ||
	    json_object_set_new(json, "schema", json_string(entry->schema->name)) ||
	    json_object_set_new(json, "copies",
			json_string(dart_copies__name(entry->copies_are))) ||
	    json_object_set_new(json, "since", json_integer(entry->since)) ||
	    (dart_schema__lags(entry->schema) &&
	     json_object_set_new(json, "lags_on_nohz_full", json_true())) ||
	    add_copies(json, entry, copies))
		return drop(json);
	return json;
}

static json_t *description(const struct dart_field *field)
{
	json_t *json = json_object();

	if (!json || json_object_set_new(json, "name", json_string(field->name)) ||
	    json_object_set_new(json, "kind", json_string(dart_field_kind__name(field->kind))) ||
	    json_object_set_new(json, "unit", json_string(field->unit)) ||
	    json_object_set_new(json, "offset", json_integer(field->offset)) ||
	    json_object_set_new(json, "width", json_integer(field->width)) ||
	    json_object_set_new(json, "count", json_integer(field->count)) ||
	    json_object_set_new(json, "signed", json_boolean(field->is_signed)))
		return drop(json);
	return json;
}

static json_t *descriptions(const struct dart_schema *schema)
{
	json_t *json = json_array();
	uint32_t i;

	for (i = 0; json && i < schema->field_count; i++) {
		if (json_array_append_new(json, description(&schema->fields[i])))
			return drop(json);
	}
	return json;
}

json_t *dart_schema__to_json(const struct dart_schema *schema)
{
	json_t *json = json_object();

	if (!json || json_object_set_new(json, "name", json_string(schema->name)) ||
	    json_object_set_new(json, "length", json_integer(schema->length)) ||
	    json_object_set_new(json, "fields", descriptions(schema)))
		return drop(json);
	return json;
}
