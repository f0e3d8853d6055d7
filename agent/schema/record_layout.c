// SPDX-License-Identifier: GPL-2.0-only
/* Lays the fields of a copy out in the lines of a record. */
#include "record_layout.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORD		8	/* bytes */
#define LINE_WORDS	DART_ZERO_RECORD_LINE_WORDS

_Static_assert(DART_ZERO_RECORD_LINE == DART_CONTROL_LINE, "rows are lines");

/* A row in the making. */
struct row {
	struct dart_schema *schema;
	uint32_t words;		/* that have been used */
};

static uint32_t lines_of(uint32_t words)
{
	return (words + LINE_WORDS - 1) / LINE_WORDS;
}

/* @end: "begin" or "end" of the line, @offset bytes behind its start. */
static int row__add_sequence(struct row *row, uint32_t line, size_t offset,
			     const char *end)
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

static int row__begin_line(struct row *row, uint32_t line)
{
	return row__add_sequence(
		row, line, offsetof(struct dart_zero_record_line, sequence),
		"begin");
}

static int row__end_line(struct row *row, uint32_t line)
{
	return row__add_sequence(
		row, line,
		offsetof(struct dart_zero_record_line, last_sequence), "end");
}

/* In the next word. */
static int row__add(struct row *row, const struct dart_field *field)
{
	const uint32_t line = row->words / LINE_WORDS;
	const uint32_t word = row->words % LINE_WORDS;
	struct dart_field placed = *field;
	int ret;

	placed.offset = line * DART_ZERO_RECORD_LINE +
			offsetof(struct dart_zero_record_line, words) +
			word * WORD;
	ret = word ? 0 : row__begin_line(row, line);
	ret = ret ?: dart_schema__add(row->schema, &placed);
	if (!ret && word == LINE_WORDS - 1)
		ret = row__end_line(row, line);
	row->words++;
	return ret;
}

/* The last line need not be full. */
static int row__end(struct row *row)
{
	return row->words % LINE_WORDS ?
		       row__end_line(row, row->words / LINE_WORDS) :
		       0;
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

static bool follows(const struct dart_zero_piece *piece,
		    const struct dart_field *field)
{
	return piece->width == field->width && piece->count < UINT16_MAX &&
	       piece->offset + piece->width * piece->count == field->offset;
}

/* Fields that are side by side are one piece. */
static void layout__add_piece(struct record_layout *layout,
			      const struct dart_field *field)
{
	struct dart_zero_piece *last = layout->pieces + layout->piece_count - 1;

	if (layout->piece_count && follows(last, field))
		last->count++;
	else
		layout->pieces[layout->piece_count++] = (struct dart_zero_piece){
			.offset = field->offset,
			.width = field->width,
			.count = 1,
		};
}

int record_layout__init(struct record_layout *layout,
			const struct dart_schema *copy,
			const char *number_name, struct dart_error *error)
{
	const uint32_t words = copy->field_count + (number_name ? 2 : 1);
	struct row row = { };
	uint32_t i;
	int ret;

	*layout = (struct record_layout){ };
	if (words > DART_ZERO_RECORD_WORDS_MAX)
		return dart_error__set(error, E2BIG,
				       "'%s' has %u fields, and a record at most %d",
				       copy->name, copy->field_count,
				       DART_ZERO_RECORD_WORDS_MAX - 2);
	layout->schema = dart_schema__new(
		copy->name, lines_of(words) * DART_ZERO_RECORD_LINE);
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
	ret = ret ?: row__end(&row);
	if (!ret)
		return 0;
	record_layout__clear(layout);
	return dart_error__system(error, -ret,
				  "the fields of '%s' are not those of a record",
				  copy->name);
}

void record_layout__clear(struct record_layout *layout)
{
	dart_schema__free(layout->schema);
	free(layout->pieces);
	*layout = (struct record_layout){ };
}
