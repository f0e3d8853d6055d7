// SPDX-License-Identifier: LGPL-2.1-or-later
/* Schemas: the fields in a copy of an entry. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "schema.h"

bool dart_text__is_valid(const char *text)
{
	size_t length;

	for (length = 0; text[length]; length++) {
		if (length + 1 >= DART_CONTROL_NAME_MAX)
			return false;
		if (text[length] < 0x20 || text[length] > 0x7e)
			return false;
	}
	return true;
}

/* Of names.  strspn(3) would make this of a string for each name, and tables have thousands. */
static const bool is_allowed[256] = {
	['a' ... 'z'] = true, ['A' ... 'Z'] = true, ['0' ... '9'] = true, ['_'] = true,
	['-'] = true,	      ['.'] = true,	    [':'] = true,	  ['/'] = true,
	['@'] = true,	      ['+'] = true,	    ['='] = true,	  ['%'] = true,
	['~'] = true,	      ['['] = true,	    [']'] = true,
};

/* @size: bytes that a name can have with its NUL. */
static bool is_name(const char *name, size_t size)
{
	size_t length = 0;

	while (is_allowed[(unsigned char)name[length]])
		length++;
	return length && length < size && !name[length];
}

bool dart_name__is_valid(const char *name)
{
	return is_name(name, DART_CONTROL_NAME_MAX);
}

bool dart_entry_name__is_valid(const char *name)
{
	return is_name(name, DART_CONTROL_ENTRY_NAME_MAX);
}

struct dart_schema *dart_schema__new(const char *name, uint32_t length)
{
	struct dart_schema *schema;

	if (!dart_text__is_valid(name) || !length || length > DART_CONTROL_VALUE_MAX) {
		errno = EINVAL;
		return NULL;
	}

	schema = calloc(1, sizeof(*schema));
	if (!schema)
		return NULL;
	schema->length = length;
	schema->name = strdup(name);
	if (!schema->name) {
		free(schema);
		return NULL;
	}
	return schema;
}

static const char *shape__objection(const struct dart_field *field)
{
	switch (field->kind) {
	case DART_CONTROL_FIELD_COUNTER:
	case DART_CONTROL_FIELD_GAUGE:
	case DART_CONTROL_FIELD_HISTOGRAM:
		if (field->width != 1 && field->width != 2 &&
		    field->width != 4 && field->width != 8)
			return "has a width other than 1, 2, 4 or 8";
		if (!field->count)
			return "has no elements";
		return NULL;
	case DART_CONTROL_FIELD_TEXT:
		if (!field->width)
			return "is a text without bytes";
		if (field->count != 1)
			return "is a text with a count other than 1";
		return NULL;
	case DART_CONTROL_FIELD_SEQUENCE:
		if ((field->width != 4 && field->width != 8) ||
		    field->count != 1 || field->is_signed)
			return "is a sequence that is not one number of 4 or 8 bytes";
		return NULL;
	case DART_CONTROL_FIELD_TIME:
		if (field->width != 8 || field->count != 1 || field->is_signed)
			return "is a time that is not one number of 8 bytes";
		return NULL;
	case DART_CONTROL_FIELD_ADDRESS:
		if (field->width != 16 || field->count != 1)
			return "is an address that is not 16 bytes";
		return NULL;
	}
	return "is of an unknown kind";
}

static const char *strings__objection(const struct dart_field *field)
{
	if (!*field->name)
		return "has no name";
	if (!dart_name__is_valid(field->name))
		return "has a name other than 1 to 255 letters, digits or \"_-.:/@+=%~[]\"";
	if (!dart_text__is_valid(field->unit))
		return "has a unit other than at most 255 printable ASCII characters";
	return NULL;
}

const char *dart_schema__objection(const struct dart_schema *schema, const struct dart_field *field)
{
	const char *objection = strings__objection(field) ?: shape__objection(field);
	const struct dart_field *last;

	if (objection)
		return objection;
	if (field->offset > schema->length ||
	    (uint64_t)field->width * field->count > schema->length - field->offset)
		return "reaches beyond the copy";
	if (!schema->field_count)
		return NULL;

	/* The last field passed these checks: its end is within the copy. */
	last = &schema->fields[schema->field_count - 1];
	if (field->offset < last->offset + last->width * last->count)
		return "begins before the end of the previous field";
	return NULL;
}

bool dart_schema__has_sequence(const struct dart_schema *schema)
{
	uint32_t i;

	if (schema->has_passed)
		return schema->sequence_width;
	for (i = 0; i < schema->field_count; i++) {
		if (schema->fields[i].kind == DART_CONTROL_FIELD_SEQUENCE)
			return true;
	}
	return false;
}

const char *dart_schema__objection_to_sequences(const struct dart_schema *schema)
{
	uint32_t i, at, width = 0, count = 0;

	for (i = 0; i < schema->field_count; i++) {
		const struct dart_field *field = &schema->fields[i];

		if (field->kind != DART_CONTROL_FIELD_SEQUENCE)
			continue;
		at = field->offset % DART_CONTROL_LINE;
		if (at && at + field->width != DART_CONTROL_LINE)
			return "has a sequence that neither begins nor ends a line of 64 bytes";
		if (count && field->width != width)
			return "has sequences of 4 and of 8 bytes";
		width = field->width;
		count++;
	}
	if (!count)
		return NULL;
	if (schema->length % DART_CONTROL_LINE)
		return "has sequences, but a length that is not a multiple of 64 bytes";
	/* Fields do not overlap: so many are all. */
	if (count != 2 * (schema->length / DART_CONTROL_LINE))
		return "has a line of 64 bytes that does not begin and end with a sequence";
	return NULL;
}

int dart_schema__add(struct dart_schema *schema, const struct dart_field *field)
{
	struct dart_field *fields, copy = *field;

	if (dart_schema__objection(schema, field))
		return -EINVAL;
	if (dart_schema__find(schema, field->name))
		return -EEXIST;

	fields = reallocarray(schema->fields, schema->field_count + 1, sizeof(*fields));
	if (!fields)
		return -ENOMEM;
	schema->fields = fields;

	copy.name = strdup(field->name);
	if (!copy.name)
		return -ENOMEM;
	copy.unit = strdup(field->unit);
	if (!copy.unit) {
		free(copy.name);
		return -ENOMEM;
	}
	fields[schema->field_count++] = copy;
	return 0;
}

static bool is_same_field(const struct dart_field *field, const struct dart_field *other)
{
	return !strcmp(field->name, other->name) && !strcmp(field->unit, other->unit) &&
	       field->offset == other->offset && field->width == other->width &&
	       field->count == other->count && field->kind == other->kind &&
	       field->is_signed == other->is_signed && field->lags == other->lags;
}

bool dart_schema__equals(const struct dart_schema *schema, const struct dart_schema *other)
{
	uint32_t i;

	if (strcmp(schema->name, other->name) || schema->length != other->length ||
	    schema->field_count != other->field_count)
		return false;
	for (i = 0; i < schema->field_count; i++)
		if (!is_same_field(&schema->fields[i], &other->fields[i]))
			return false;
	return true;
}

const struct dart_field *dart_schema__find(const struct dart_schema *schema, const char *name)
{
	uint32_t i;

	for (i = 0; i < schema->field_count; i++) {
		if (!strcmp(schema->fields[i].name, name))
			return &schema->fields[i];
	}
	return NULL;
}

void dart_schema__free(struct dart_schema *schema)
{
	uint32_t i;

	if (!schema)
		return;
	for (i = 0; i < schema->field_count; i++) {
		free(schema->fields[i].name);
		free(schema->fields[i].unit);
	}
	free(schema->fields);
	free(schema->name);
	free(schema);
}

#define DIGITS_MAX 6 /* so that ms fit into 32 bits; dartd gathers at least once a minute */

uint32_t dart_gathered_name__ms(const char *name, size_t *length)
{
	const char *plus = strrchr(name, '+');
	size_t digits = plus ? strspn(plus + 1, "0123456789") : 0;
	uint32_t unit = 0;

	if (!digits || digits > DIGITS_MAX || plus[1] == '0')
		return 0;
	if (!strcmp(plus + 1 + digits, "s"))
		unit = 1000;
	else if (!strcmp(plus + 1 + digits, "ms"))
		unit = 1;
	*length = plus - name;
	return atoi(plus + 1) * unit;
}
