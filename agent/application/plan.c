// SPDX-License-Identifier: GPL-2.0-only
/* Orders values for rows of records, and finds locations for the module: see plan.h. */
#include "plan.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORD 8 /* bytes */
#define LINE (DART_ZERO_RECORD_LINE_WORDS * WORD)
/* Bytes between two values that one location covers. */
#define GAP_MAX 64

/* ---- one field for each value */

static bool is_text(const struct dart_field *field)
{
	return field->kind == DART_CONTROL_FIELD_TEXT;
}

static uint32_t align(uint32_t at, uint32_t width)
{
	return (at + width - 1) / width * width;
}

/* Values in the order in which they were added, and the bytes of words of a row so far. */
struct flattening {
	struct dart_application_entry *flat;
	const struct dart_application_entry *entry;
	uint32_t values; /* of a row, when all are added */
	uint32_t located_rows; /* rows that have locations of their own */
	uint32_t length; /* bytes of a copy */
	uint32_t row; /* bytes */
	uint32_t next_integer, next_text; /* fields of @entry */
};

static uint32_t find_next(const struct dart_application_entry *entry, uint32_t from, bool is_a_text)
{
	while (from < entry->schema->field_count &&
	       is_text(&entry->schema->fields[from]) != is_a_text)
		from++;
	return from;
}

/* @offset: bytes from the field to its element. */
static struct dart_application_location location_of(const struct dart_application_entry *entry,
						    uint32_t row, uint32_t field, uint32_t offset)
{
	struct dart_application_location location =
		dart_application_entry__location(entry, row, field);

	if (location.steps)
		location.offsets[location.steps - 1] += offset;
	else
		location.address += offset;
	return location;
}

static int add_value(struct flattening *to, uint32_t index, uint32_t element)
{
	const struct dart_field *field = &to->entry->schema->fields[index];
	const uint32_t place = to->flat->schema->field_count;
	const uint32_t width = is_text(field) ? 1 : field->width;
	char name[DART_CONTROL_NAME_MAX + 16];
	struct dart_field value = *field;
	uint32_t row;

	snprintf(name, sizeof(name), field->count > 1 ? "%s_%u" : "%s", field->name, element);
	value.name = name;
	value.count = 1;
	value.offset = align(to->length, width);
	for (row = 0; row < to->located_rows; row++)
		to->flat->locations[row * to->values + place] =
			location_of(to->entry, row, index, element * field->width);
	to->length = value.offset + field->width;
	to->row = align(to->row, width) + field->width;
	return dart_schema__add(to->flat->schema, &value);
}

static int add_field(struct flattening *to, uint32_t index)
{
	uint32_t i;
	int ret = 0;

	for (i = 0; !ret && i < to->entry->schema->fields[index].count; i++)
		ret = add_value(to, index, i);
	return ret;
}

/*
 * A text lies in one line, so integers fill the lines in which the next text has no room.
 * -ENOSPC: there are too few integers.
 */
static int add_fields(struct flattening *to)
{
	const struct dart_schema *schema = to->entry->schema;
	uint32_t *next;
	int ret = 0;

	while (!ret) {
		to->next_integer = find_next(to->entry, to->next_integer, false);
		to->next_text = find_next(to->entry, to->next_text, true);
		next = &to->next_integer;
		if (to->next_text < schema->field_count &&
		    to->row % LINE + schema->fields[to->next_text].width <= LINE)
			next = &to->next_text;
		if (*next == schema->field_count)
			return to->next_text < schema->field_count ? -ENOSPC : 0;
		ret = add_field(to, (*next)++);
	}
	return ret;
}

int application_entry__flatten(const struct dart_application_entry *entry,
			       struct dart_application_entry *flat, struct dart_error *error)
{
	struct flattening to = { .flat = flat, .entry = entry, .row = WORD };
	uint32_t bytes = 0, i;
	const struct dart_field *field;
	int ret;

	*flat = (struct dart_application_entry){ .rows = entry->rows, .stride = entry->stride };
	for (i = 0; i < entry->schema->field_count; i++) {
		field = &entry->schema->fields[i];
		to.values += field->count;
		bytes += field->count * field->width + WORD;
	}
	flat->schema = dart_schema__new(entry->schema->name, bytes);
	to.located_rows = entry->stride ? 1 : entry->rows;
	flat->locations = calloc((size_t)to.values * to.located_rows, sizeof(*flat->locations));
	ret = flat->schema && flat->locations ? add_fields(&to) : -ENOMEM;
	if (!ret) {
		/* Side by side, so that each row begins at a multiple of a word. */
		flat->schema->length = align(to.length, WORD);
		return 0;
	}
	dart_application_entry__clear(flat);
	return ret == -ENOMEM ?
		       dart_error__no_memory(error) :
		       dart_error__set(
			       error, EINVAL, "the values of '%s' cannot form a row: %s",
			       entry->schema->name,
			       ret == -ENOSPC ?
				       "a text is longer than the 56 bytes of a line, or there are too few integers between texts" :
				       "a name is too long or occurs twice");
}

/* ---- locations */

/* The location of the words that contain a value; @before: its bytes before the value. */
static struct dart_zero_location words_of(const struct dart_application_location *from,
					  uint64_t base, uint32_t width, uint32_t *before)
{
	struct dart_zero_location location = { .address = base + from->address,
					       .step_count = from->steps };
	uint32_t i;

	*before = (from->steps ? from->offsets[from->steps - 1] : location.address) % WORD;
	for (i = 0; i < from->steps; i++)
		location.steps[i] = from->offsets[i];
	if (from->steps)
		location.steps[from->steps - 1] -= *before;
	else
		location.address -= *before;
	location.length = align(*before + width, WORD);
	return location;
}

/* Where its words are counted from. */
static uint64_t start_of(const struct dart_zero_location *location)
{
	return location->step_count ? (uint64_t)location->steps[location->step_count - 1] :
				      location->address;
}

static bool have_same_pointers(const struct dart_zero_location *location,
			       const struct dart_zero_location *other)
{
	if (location->step_count != other->step_count)
		return false;
	if (!location->step_count)
		return true;
	return location->address == other->address &&
	       (location->step_count == 1 || location->steps[0] == other->steps[0]);
}

/* True if @last, made longer, covers @next and begins before it. */
static bool covers(const struct dart_zero_location *last, const struct dart_zero_location *next)
{
	return have_same_pointers(last, next) && start_of(next) >= start_of(last) &&
	       start_of(next) <= start_of(last) + last->length + GAP_MAX;
}

/* The words that contain a value. */
struct wanted {
	struct dart_zero_location location;
	uint32_t before; /* bytes before the value */
	uint32_t field;
};

/* Neighbours in memory follow each other. */
static int by_place(const void *a, const void *b)
{
	const struct dart_zero_location *left = &((const struct wanted *)a)->location;
	const struct dart_zero_location *right = &((const struct wanted *)b)->location;
	uint32_t i;

	if (left->step_count != right->step_count)
		return left->step_count < right->step_count ? -1 : 1;
	if (left->address != right->address)
		return left->address < right->address ? -1 : 1;
	for (i = 0; i < left->step_count; i++)
		if (left->steps[i] != right->steps[i])
			return left->steps[i] < right->steps[i] ? -1 : 1;
	return 0;
}

/* Joins the sorted words to locations, and tells where in a copy each field lies. */
static void join(struct application_locations *locations, const struct wanted *wanted,
		 uint32_t count, uint32_t *offsets, uint32_t *length)
{
	struct dart_zero_location *last = NULL;
	uint64_t end;
	uint32_t i;

	for (i = 0; i < count; i++) {
		const struct dart_zero_location *next = &wanted[i].location;

		if (last && covers(last, next)) {
			end = start_of(next) - start_of(last) + next->length;
			if (end > last->length) {
				*length += end - last->length;
				last->length = end;
			}
		} else {
			last = &locations->list[locations->count++];
			*last = *next;
			*length += next->length;
		}
		offsets[wanted[i].field] = *length - last->length +
					   (start_of(next) - start_of(last)) + wanted[i].before;
	}
}

static bool has_text_behind_pointer(const struct dart_application_entry *flat)
{
	uint32_t i;

	for (i = 0; i < flat->schema->field_count; i++)
		if (is_text(&flat->schema->fields[i]) && flat->locations[i].steps)
			return true;
	return false;
}

int application_locations__make(struct application_locations *locations,
				const struct dart_application_entry *flat,
				const struct application_process *process, struct dart_error *error)
{
	const uint32_t fields = flat->schema->field_count;
	const struct dart_application_location *from;
	uint32_t length = 0, *offsets, i;
	struct wanted *wanted;
	int ret;

	*locations = (struct application_locations){};
	if (flat->rows > 1 || has_text_behind_pointer(flat) || fields > DART_ZERO_RECORD_WORDS_MAX)
		return -EOPNOTSUPP;
	locations->list = calloc(fields, sizeof(*locations->list));
	offsets = calloc(fields, sizeof(*offsets));
	wanted = calloc(fields, sizeof(*wanted));
	if (!locations->list || !offsets || !wanted) {
		ret = dart_error__no_memory(error);
		goto out;
	}
	for (i = 0; i < fields; i++) {
		from = &flat->locations[i];
		wanted[i].field = i;
		wanted[i].location = words_of(from, process->bases[from->module],
					      flat->schema->fields[i].width, &wanted[i].before);
	}
	qsort(wanted, fields, sizeof(*wanted), by_place);
	join(locations, wanted, fields, offsets, &length);
	ret = -EOPNOTSUPP;
	if (length > DART_ZERO_RECORD_WORDS_MAX * WORD)
		goto out;
	ret = record_layout__init(&locations->layout, flat->schema, NULL, error);
	if (!ret)
		record_layout__move(&locations->layout, flat->schema, offsets);
out:
	free(wanted);
	free(offsets);
	if (ret)
		application_locations__clear(locations);
	return ret;
}

void application_locations__clear(struct application_locations *locations)
{
	record_layout__clear(&locations->layout);
	free(locations->list);
	*locations = (struct application_locations){};
}
