// SPDX-License-Identifier: LGPL-2.1-or-later
/* Entries of layouts, and how they are made of fields: see entry.h and entry_internal.h. */
#include <errno.h>
#include <stdlib.h>

#include <libdart/application/entry.h>

#include "document_internal.h"
#include "entry_internal.h"

struct dart_application_location
dart_application_entry__location(const struct dart_application_entry *entry, uint32_t row,
				 uint32_t field)
{
	const bool is_scattered = entry->rows > 1 && !entry->stride;
	struct dart_application_location location =
		entry->locations[(is_scattered ? row : 0) * entry->schema->field_count + field];

	location.address += (uint64_t)row * entry->stride;
	return location;
}

void dart_application_entry__clear(struct dart_application_entry *entry)
{
	dart_schema__free(entry->schema);
	free(entry->locations);
	free(entry->instance);
}

/* ---- drafts */

int dart_entry_draft__add(struct dart_entry_draft *draft, const struct dart_field *field,
			  const struct dart_application_location *location)
{
	struct dart_application_location *locations;
	struct dart_field *fields;

	fields = dart_document__grow(draft->fields, draft->field_count, sizeof(*fields));
	if (!fields)
		return -ENOMEM;
	draft->fields = fields;
	locations = dart_document__grow(draft->locations, draft->field_count, sizeof(*locations));
	if (!locations)
		return -ENOMEM;
	draft->locations = locations;
	locations[draft->field_count] = *location;
	fields[draft->field_count++] = *field;
	return 0;
}

uint32_t dart_field__alignment(const struct dart_field *field)
{
	return field->kind == DART_CONTROL_FIELD_TEXT ? 1 : field->width;
}

/* Gives the fields their offsets in a copy, side by side.  Returns the bytes of the copy. */
static uint32_t place_fields(struct dart_entry_draft *draft)
{
	/* Below 2^32: the largest field has DART_APPLICATION_FIELDS_MAX elements of 8 bytes. */
	uint32_t length = 0, alignment, i;

	for (i = 0; i < draft->field_count; i++) {
		alignment = dart_field__alignment(&draft->fields[i]);
		length = (length + alignment - 1) / alignment * alignment;
		draft->fields[i].offset = length;
		length += draft->fields[i].width * draft->fields[i].count;
	}
	return length;
}

int dart_entry_draft__finish(struct dart_entry_draft *draft, const char *name,
			     struct dart_application_entry *entry, struct dart_error *error)
{
	const uint32_t length = place_fields(draft);
	uint32_t i;
	int ret;

	if (length > DART_CONTROL_VALUE_MAX)
		return dart_error__set(error, EINVAL, "the fields have more than %d bytes",
				       DART_CONTROL_VALUE_MAX);
	entry->schema = dart_schema__new(name, length);
	if (!entry->schema)
		return dart_error__no_memory(error);
	for (i = 0; i < draft->field_count; i++) {
		ret = dart_schema__add(entry->schema, &draft->fields[i]);
		if (ret == -ENOMEM)
			return dart_error__no_memory(error);
		if (ret)
			return dart_error__set(error, EINVAL,
					       ret == -EEXIST ?
						       "two fields are called '%s'" :
						       "field '%s' is not allowed in a table",
					       draft->fields[i].name);
	}
	entry->locations = draft->locations;
	draft->locations = NULL;
	entry->rows = 1;
	entry->stride = 0;
	return 0;
}

void dart_entry_draft__clear(struct dart_entry_draft *draft)
{
	uint32_t i;

	for (i = 0; i < draft->field_count; i++) {
		free(draft->fields[i].name);
		free(draft->fields[i].unit);
	}
	free(draft->fields);
	free(draft->locations);
}
