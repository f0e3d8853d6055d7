// SPDX-License-Identifier: GPL-2.0-only
/* Assigns the fields of a copy to words of a record's lines. */
#include "record_layout.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORD		8	/* bytes */
#define LINE_BYTES	(DART_ZERO_RECORD_LINE_WORDS * WORD)

_Static_assert(DART_ZERO_RECORD_LINE == DART_CONTROL_LINE, "rows are lines");

/* A row under construction. */
struct row {
	struct dart_schema *schema;
	uint32_t bytes;		/* used bytes of words */
	uint32_t lines;		/* lines begun */
};

/* A text needs no alignment: each of its bytes counts as a value. */
static uint32_t value_width(const struct dart_field *field)
{
	return field->kind == DART_CONTROL_FIELD_TEXT ? 1 : field->width;
}

/* Byte of @field in a row whose first @bytes bytes of words are used. */
static uint32_t place_behind(uint32_t bytes, const struct dart_field *field)
{
	const uint32_t width = value_width(field);

	return (bytes + width - 1) / width * width;
}

static uint32_t bytes_of(const struct dart_schema *copy, const char *number_name)
{
	uint32_t bytes = number_name ? 2 * WORD : WORD, i;

	for (i = 0; i < copy->field_count; i++)
		bytes = place_behind(bytes, &copy->fields[i]) + copy->fields[i].width;
	return bytes;
}

/* @end is "begin" or "end" of the line; @offset counts bytes from the start of the line. */
static int row__add_sequence(struct row *row, uint32_t line, size_t offset, const char *end)
{
	struct dart_field field = {
		.unit = "",
		.offset = line * DART_ZERO_RECORD_LINE + offset,
		.width = sizeof(__u32),
		.count = 1,
		.kind = DART_CONTROL_FIELD_SEQUENCE,
	};
	char name[32];

	snprintf(name, sizeof(name), "sequence.%u.%s", line, end);
	field.name = name;
	return dart_schema__add(row->schema, &field);
}

/* Ends the last line that was begun, if any. */
static int row__end_line(struct row *row)
{
	return row->lines ? row__add_sequence(row, row->lines - 1,
					      offsetof(struct dart_zero_record_line, last_sequence),
					      "end") :
			    0;
}

static int row__begin_line(struct row *row)
{
	const int ret = row__end_line(row);

	return ret   ?:
		       row__add_sequence(row, row->lines++,
					 offsetof(struct dart_zero_record_line, sequence), "begin");
}

static int row__add(struct row *row, const struct dart_field *field)
{
	const uint32_t at = place_behind(row->bytes, field);
	const uint32_t line = at / LINE_BYTES;
	struct dart_field placed = *field;
	int ret;

	/* A text cannot continue in another line, because sequences are between them. */
	if ((at + field->width - 1) / LINE_BYTES != line)
		return -EINVAL;
	placed.offset = line * DART_ZERO_RECORD_LINE +
			offsetof(struct dart_zero_record_line, words) + at % LINE_BYTES;
	row->bytes = at + field->width;
	ret = line == row->lines ? row__begin_line(row) : 0;
	return ret ?: dart_schema__add(row->schema, &placed);
}

static int row__begin(struct row *row, const char *number_name)
{
	static const struct dart_field time = {
		.name = "time",
		.unit = "ns",
		.width = WORD,
		.count = 1,
		.kind = DART_CONTROL_FIELD_TIME,
	};
	const struct dart_field number = {
		.name = (char *)number_name,
		.unit = "",
		.width = WORD,
		.count = 1,
		.kind = DART_CONTROL_FIELD_GAUGE,
	};
	int ret = row__add(row, &time);

	if (!ret && number_name)
		ret = row__add(row, &number);
	return ret;
}

static bool follows(const struct dart_zero_piece *piece, const struct dart_field *field)
{
	return piece->width == value_width(field) &&
	       piece->count <= UINT16_MAX - field->width / piece->width &&
	       piece->offset + piece->width * piece->count == field->offset;
}

/* Adjacent fields become one piece. */
static void layout__add_piece(struct record_layout *layout, const struct dart_field *field)
{
	struct dart_zero_piece *last = layout->pieces + layout->piece_count - 1;
	const uint32_t width = value_width(field), count = field->width / width;

	if (layout->piece_count && follows(last, field))
		last->count += count;
	else
		layout->pieces[layout->piece_count++] = (struct dart_zero_piece){
			.offset = field->offset,
			.width = width,
			.count = count,
		};
}

int record_layout__init(struct record_layout *layout, const struct dart_schema *copy,
			const char *number_name, struct dart_error *error)
{
	const uint32_t bytes = bytes_of(copy, number_name);
	struct row row = { };
	uint32_t i;
	int ret;

	*layout = (struct record_layout){ };
	if (bytes > DART_ZERO_RECORD_WORDS_MAX * WORD)
		return dart_error__set(
			error, E2BIG,
			"'%s' has %u bytes of values, and a row of a record at most %d", copy->name,
			bytes, DART_ZERO_RECORD_WORDS_MAX * WORD);
	layout->schema = dart_schema__new(copy->name, (bytes + LINE_BYTES - 1) / LINE_BYTES *
							      DART_ZERO_RECORD_LINE);
	layout->pieces = calloc(copy->field_count, sizeof(*layout->pieces));
	if (!layout->schema || !layout->pieces) {
		record_layout__clear(layout);
		return dart_error__no_memory(error);
	}

	row.schema = layout->schema;
	ret = row__begin(&row, number_name);
	for (i = 0; i < copy->field_count && !ret; i++) {
		ret = row__add(&row, &copy->fields[i]);
		layout__add_piece(layout, &copy->fields[i]);
	}
	ret = ret ?: row__end_line(&row);
	if (!ret)
		return 0;
	record_layout__clear(layout);
	return dart_error__system(error, -ret, "the fields of '%s' are not those of a record",
				  copy->name);
}

void record_layout__move(struct record_layout *layout, const struct dart_schema *copy,
			 const uint32_t offsets[])
{
	struct dart_field field;
	uint32_t i;

	layout->piece_count = 0;
	for (i = 0; i < copy->field_count; i++) {
		field = copy->fields[i];
		field.offset = offsets[i];
		layout__add_piece(layout, &field);
	}
}

void record_layout__clear(struct record_layout *layout)
{
	dart_schema__free(layout->schema);
	free(layout->pieces);
	*layout = (struct record_layout){ };
}
