// SPDX-License-Identifier: GPL-2.0-only
/* Records the rows of an entry, and compares them with later samples. */
#include "row_watch.h"

#include <errno.h>
#include <string.h>

static const uint8_t *copy_of(const struct sample_entry *entry, uint32_t copy)
{
	return (const uint8_t *)entry->copies + (size_t)copy * entry->entry->schema->length;
}

static bool is_text(const struct dart_field *field)
{
	return field->kind == DART_CONTROL_FIELD_TEXT || field->kind == DART_CONTROL_FIELD_ADDRESS;
}

/* The number follows the sequence and the time, see record_layout.c of the agent. */
const struct dart_field *row__number(const struct dart_entry *entry)
{
	static const char *const names[] = { "cpu", "node", "port", "device" };
	const struct dart_schema *schema = entry->schema;
	const struct dart_field *field = schema->fields;
	bool is_dated = false;
	unsigned int i;

	if (entry->copies_are != DART_CONTROL_COPIES_ROW)
		return NULL;
	for (; field < schema->fields + schema->field_count; field++) {
		is_dated |= field->kind == DART_CONTROL_FIELD_TIME;
		if (field->kind != DART_CONTROL_FIELD_SEQUENCE &&
		    field->kind != DART_CONTROL_FIELD_TIME)
			break;
	}
	if (!is_dated || field == schema->fields + schema->field_count ||
	    field->kind != DART_CONTROL_FIELD_GAUGE || field->count != 1)
		return NULL;
	for (i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(field->name, names[i]))
			return field;
	return NULL;
}

bool row_watch__is_needed(const struct dart_entry *entry)
{
	const struct dart_schema *schema = entry->schema;
	uint32_t i;

	if (entry->copies_are == DART_CONTROL_COPIES_CPU && entry->copies > 1)
		return false;
	for (i = 0; i < schema->field_count; i++)
		if (is_text(&schema->fields[i]))
			return true;
	return dart_schema__has_sequence(schema);
}

static int row_watch__choose_fields(struct row_watch *watch, struct arena *arena,
				    const struct dart_entry *entry)
{
	const struct dart_schema *schema = entry->schema;
	const struct dart_field *number = row__number(entry);
	uint32_t *fields = arena__take_array(arena, schema->field_count + 1, sizeof(*fields));
	uint32_t i;

	if (!fields)
		return -ENOMEM;
	for (i = 0; i < schema->field_count; i++) {
		if (&schema->fields[i] != number && !is_text(&schema->fields[i]))
			continue;
		fields[watch->field_count++] = i;
		watch->key_length += schema->fields[i].width;
	}
	watch->fields = fields;
	return 0;
}

static void row_watch__copy_key(struct row_watch *watch, const struct sample_entry *entry,
				uint32_t copy)
{
	const struct dart_field *fields = entry->entry->schema->fields;
	uint8_t *key = watch->keys + (size_t)copy * watch->key_length;
	uint32_t i;

	for (i = 0; i < watch->field_count; i++) {
		const struct dart_field *field = &fields[watch->fields[i]];

		memcpy(key, copy_of(entry, copy) + field->offset, field->width);
		key += field->width;
	}
}

int row_watch__init(struct row_watch *watch, struct arena *arena, const struct sample_entry *entry,
		    uint32_t index)
{
	const struct dart_schema *schema = entry->entry->schema;
	const uint32_t copies = entry->entry->copies;
	enum dart_row_state state;
	uint32_t i;

	*watch = (struct row_watch){ .entry = index, .copies = copies };
	if (row_watch__choose_fields(watch, arena, entry->entry))
		return -ENOMEM;
	watch->present = arena__take_array(arena, copies, sizeof(*watch->present));
	watch->keys = arena__take_array(arena, copies, watch->key_length);
	if (!watch->present || !watch->keys)
		return -ENOMEM;
	for (i = 0; i < copies; i++) {
		state = dart_row__state(schema, copy_of(entry, i));
		watch->present[i] = state == DART_ROW_WHOLE ||
				    (state == DART_ROW_TORN && !watch->field_count);
		if (watch->present[i])
			row_watch__copy_key(watch, entry, i);
	}
	return 0;
}

static bool row_watch__has_key(const struct row_watch *watch, const struct sample_entry *entry,
			       uint32_t copy)
{
	const struct dart_field *fields = entry->entry->schema->fields;
	const uint8_t *key = watch->keys + (size_t)copy * watch->key_length;
	const uint8_t *row = copy_of(entry, copy);
	uint32_t i;

	for (i = 0; i < watch->field_count; i++) {
		const struct dart_field *field = &fields[watch->fields[i]];

		if (memcmp(key, row + field->offset, field->width))
			return false;
		key += field->width;
	}
	return true;
}

bool row_watch__fits(const struct row_watch *watch, const struct sample_entry *entry)
{
	const struct dart_schema *schema = entry->entry->schema;
	enum dart_row_state state;
	uint32_t i;

	for (i = 0; i < watch->copies; i++) {
		state = dart_row__state(schema, copy_of(entry, i));
		if (state == DART_ROW_TORN)
			continue;
		if (watch->present[i] != (state == DART_ROW_WHOLE) ||
		    (watch->present[i] && !row_watch__has_key(watch, entry, i)))
			return false;
	}
	return true;
}
