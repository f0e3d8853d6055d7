// SPDX-License-Identifier: GPL-2.0-only
/* Writes rows of the farm and describes them. */
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>

#include "farm_values.h"

#define RECORD_LINES 8
#define BYTES_MAX (1 << 20)

/* The words after the first sequence of a row. */
static const struct {
	const char *name;
	enum dart_control_field_kind kind;
} head[] = {
	{ "host", DART_CONTROL_FIELD_GAUGE },
	{ "epoch", DART_CONTROL_FIELD_GAUGE },
	{ "update", DART_CONTROL_FIELD_COUNTER },
};

#define HEAD_WORDS ((uint32_t)(sizeof(head) / sizeof(*head)))

int farm_shape__init(struct farm_shape *shape, enum farm_form form, uint64_t bytes)
{
	const uint32_t record = RECORD_LINES * FARM_LINE;

	if (!bytes || bytes % record || bytes > BYTES_MAX)
		return -EINVAL;
	*shape = (struct farm_shape){
		.form = form,
		.entries = form == FARM_ROWS ? 1 : bytes / record,
		.copies = form == FARM_ROWS ? bytes / FARM_LINE : 1,
		.lines = form == FARM_ROWS ? 1 : RECORD_LINES,
	};
	return 0;
}

uint32_t farm_shape__row(const struct farm_shape *shape)
{
	return shape->lines * FARM_LINE;
}

uint32_t farm_shape__entry(const struct farm_shape *shape)
{
	return shape->copies * farm_shape__row(shape);
}

uint32_t farm_shape__size(const struct farm_shape *shape)
{
	return shape->entries * farm_shape__entry(shape);
}

uint32_t farm_shape__values(uint32_t line)
{
	return FARM_LINE_WORDS - (line ? 0 : HEAD_WORDS);
}

static int add_field(struct dart_schema *schema, const char *name, uint32_t offset, uint32_t width,
		     uint32_t count, enum dart_control_field_kind kind)
{
	const struct dart_field field = {
		.name = (char *)name,
		.unit = "",
		.offset = offset,
		.width = width,
		.count = count,
		.kind = kind,
	};

	return dart_schema__add(schema, &field);
}

static int add_sequence(struct dart_schema *schema, const char *name, uint32_t offset)
{
	return add_field(schema, name, offset, sizeof(uint32_t), 1, DART_CONTROL_FIELD_SEQUENCE);
}

static int add_line(struct dart_schema *schema, uint32_t line)
{
	const uint32_t first = line * FARM_LINE;
	uint32_t offset = first + offsetof(struct farm_line, words);
	const uint32_t word = sizeof(uint64_t);
	char name[32];
	uint32_t i;
	int ret;

	snprintf(name, sizeof(name), "sequence.%u", line);
	ret = add_sequence(schema, name, first);
	for (i = 0; !line && i < HEAD_WORDS && !ret; i++, offset += word)
		ret = add_field(schema, head[i].name, offset, word, 1, head[i].kind);
	snprintf(name, sizeof(name), "value.%u", line);
	if (!ret)
		ret = add_field(schema, name, offset, word, farm_shape__values(line),
				DART_CONTROL_FIELD_COUNTER);
	snprintf(name, sizeof(name), "last_sequence.%u", line);
	return ret ?: add_sequence(schema, name, first + offsetof(struct farm_line, last_sequence));
}

struct dart_schema *farm_shape__schema(const struct farm_shape *shape)
{
	struct dart_schema *schema;
	uint32_t line;
	int ret = 0;

	schema = dart_schema__new(shape->form == FARM_ROWS ? "farm_row" : "farm_record",
				  farm_shape__row(shape));
	if (!schema)
		return NULL;
	for (line = 0; line < shape->lines && !ret; line++)
		ret = add_line(schema, line);
	if (!ret)
		return schema;
	dart_schema__free(schema);
	errno = -ret;
	return NULL;
}

static void set_sequences(struct farm_line *row, const struct farm_shape *shape, uint32_t number)
{
	uint32_t line;

	for (line = 0; line < shape->lines; line++) {
		__atomic_store_n(&row[line].sequence, number, __ATOMIC_RELAXED);
		__atomic_store_n(&row[line].last_sequence, number, __ATOMIC_RELAXED);
	}
}

static void write_row(struct farm_line *row, const struct farm_shape *shape,
		      const struct farm_row *place, uint64_t update)
{
	struct dart_random values = farm_rule__words(place);
	uint32_t line, i;

	set_sequences(row, shape, 2 * update + 1);
	atomic_thread_fence(memory_order_release);
	for (line = 0; line < shape->lines; line++) {
		i = 0;
		if (!line) {
			row->words[i++] = place->host;
			row->words[i++] = place->epoch;
			row->words[i++] = update;
		}
		while (i < FARM_LINE_WORDS)
			row[line].words[i++] = farm_rule__next(&values, update);
	}
	atomic_thread_fence(memory_order_release);
	set_sequences(row, shape, 2 * update + 2);
}

void farm_values__write(void *memory, const struct farm_shape *shape, uint32_t host, uint32_t epoch,
			uint32_t entry, uint64_t update)
{
	struct farm_row place = {
		.host = host,
		.epoch = epoch,
		.entry = entry,
	};
	struct farm_line *row = memory;

	for (; place.copy < shape->copies; place.copy++) {
		write_row(row, shape, &place, update);
		row += shape->lines;
	}
}
