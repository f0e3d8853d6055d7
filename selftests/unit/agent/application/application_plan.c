// SPDX-License-Identifier: GPL-2.0-only
/*
 * The module copies an entry from locations, dartd from fields: the rows are the same.  The process
 * is this test, whose memory the module's part of the test reads as the module does.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/application/plan.h"
#include "agent/application/reader.h"
#include "agent/gather/record.h"
#include "selftests/unit/unit.h"

#define LINES 64

static struct {
	uint32_t first, second;
	uint64_t samples[9];
	char run_id[41], other_id[41];
	_Alignas(8) uint16_t small;
	const uint64_t *far;
	const char *text;
	const void *none;
} state;

static const uint64_t away[3] = { 1, 2, 77 };

static uint64_t at(const void *address)
{
	return (uintptr_t)address;
}

static void add(struct dart_application_entry *entry, const char *name, uint32_t width,
		uint32_t count, enum dart_control_field_kind kind, const void *address, int offset)
{
	struct dart_schema *schema = entry->schema;
	const struct dart_field *last =
		schema->field_count ? &schema->fields[schema->field_count - 1] : NULL;
	const uint32_t after = last ? last->offset + last->width * last->count : 0;
	const struct dart_field field = {
		.name = (char *)name,
		.unit = "",
		.offset = (after + 7) / 8 * 8,
		.width = width,
		.count = count,
		.kind = kind,
	};

	entry->locations[schema->field_count] = (struct dart_application_location){
		.address = at(address),
		.steps = offset >= 0,
		.offsets = { offset >= 0 ? offset : 0 },
	};
	assert_int_equal(dart_schema__add(schema, &field), 0);
}

static struct dart_application_entry new_entry(void)
{
	struct dart_application_entry entry = {
		.schema = dart_schema__new("state", 4096),
		.locations = calloc(16, sizeof(*entry.locations)),
		.rows = 1,
	};

	memset(state.run_id, 'r', sizeof(state.run_id));
	memset(state.other_id, 'o', sizeof(state.other_id));
	state.first = 11;
	state.second = 22;
	state.samples[8] = 99;
	state.small = 5;
	state.far = away;
	state.text = "behind a pointer" + 1;
	add(&entry, "run_id", 41, 1, DART_CONTROL_FIELD_TEXT, state.run_id, -1);
	add(&entry, "other_id", 41, 1, DART_CONTROL_FIELD_TEXT, state.other_id, -1);
	add(&entry, "second", 4, 1, DART_CONTROL_FIELD_GAUGE, &state.second, -1);
	add(&entry, "again", 4, 1, DART_CONTROL_FIELD_GAUGE, &state.second, -1);
	add(&entry, "first", 4, 1, DART_CONTROL_FIELD_GAUGE, &state.first, -1);
	add(&entry, "samples", 8, 9, DART_CONTROL_FIELD_COUNTER, state.samples, -1);
	add(&entry, "small", 2, 1, DART_CONTROL_FIELD_GAUGE, &state.small, -1);
	add(&entry, "far", 8, 1, DART_CONTROL_FIELD_COUNTER, &state.far, 16);
	add(&entry, "none", 8, 1, DART_CONTROL_FIELD_COUNTER, &state.none, 16);
	return entry;
}

static struct application_process self(void)
{
	static const uint8_t witness[APPLICATION_WITNESS_BYTES];

	return (struct application_process){
		.pid = getpid(),
		.memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC),
		.witness_address = (uintptr_t)witness,
	};
}

/* As kmod/samplers/process_memory.c. */
static void copy_locations(const struct application_locations *locations, uint8_t *copy)
{
	const struct dart_zero_location *location;
	uint64_t address;
	uint32_t i;

	for (location = locations->list; location < locations->list + locations->count;
	     location++) {
		address = location->address;
		for (i = 0; i < location->step_count && address; i++) {
			assert_int_equal(address % 8, 0);
			address = *(const uint64_t *)(uintptr_t)address;
			address += address ? location->steps[i] : 0;
		}
		assert_int_equal(address % 8 + location->length % 8, 0);
		if (address)
			memcpy(copy, (const void *)(uintptr_t)address, location->length);
		copy += location->length;
	}
}

static void write_row(const struct record_layout *layout, const uint8_t *copy, uint64_t length,
		      struct dart_zero_record_line *lines)
{
	const struct dart_zero_record wanted = {
		.form = DART_ZERO_RECORD_SUM,
		.pieces = (uintptr_t)layout->pieces,
		.piece_count = layout->piece_count,
	};
	struct record_pages pages;
	struct record *record;

	memset(lines, 0, LINES * sizeof(*lines));
	assert_int_equal(record_pages__open(&pages, lines, LINES * sizeof(*lines)), 0);
	assert_int_equal(record__new(&wanted, length, &record), 0);
	assert_int_equal(record__place(record, &pages), 0);
	record__write(record, 0, 1234, 0, copy, 1, 0);
	record__free(record);
	record_pages__close(&pages);
}

static uint64_t value(const struct dart_schema *schema, const void *row, const char *name)
{
	const struct dart_field *field = dart_schema__find(schema, name);
	uint64_t number = 0;

	assert_non_null(field);
	memcpy(&number, (const uint8_t *)row + field->offset, field->width);
	return number;
}

static void test_rows_are_equal(void **unused)
{
	static struct dart_zero_record_line fetched[LINES], gathered[LINES];
	struct dart_application_entry entry = new_entry(), flat;
	struct application_process process = self();
	struct application_locations locations;
	struct application_reader *reader;
	struct record_layout layout;
	struct dart_error error;
	uint8_t *rows, *copy = calloc(1, 1 << 16);

	assert_int_equal(application_entry__flatten(&entry, &flat, &error), 0);
	assert_int_equal(record_layout__init(&layout, flat.schema, NULL, &error), 0);
	rows = calloc(1, flat.schema->length);
	assert_int_equal(application_reader__new(&reader, &flat, &error), 0);
	assert_int_equal(application_reader__read(reader, &process, rows, NULL, 0), 0);
	write_row(&layout, rows, flat.schema->length, fetched);

	assert_int_equal(application_locations__make(&locations, &flat, &process, &error), 0);
	/*
	 * Neighbours share one, in whatever order the entry has them; each pointer leads to
	 * another.
	 */
	assert_int_equal(locations.count, 3);
	copy_locations(&locations, copy);
	write_row(&locations.layout, copy, 1 << 16, gathered);

	assert_true(dart_schema__equals(layout.schema, locations.layout.schema));
	assert_memory_equal(fetched, gathered, sizeof(fetched));
	assert_int_equal(value(layout.schema, fetched, "first"), 11);
	assert_int_equal(value(layout.schema, fetched, "again"), 22);
	assert_int_equal(value(layout.schema, fetched, "samples_8"), 99);
	assert_int_equal(value(layout.schema, fetched, "small"), 5);
	assert_int_equal(value(layout.schema, fetched, "far"), 77);
	assert_int_equal(value(layout.schema, fetched, "none"), 0);

	application_locations__clear(&locations);
	application_reader__free(reader);
	record_layout__clear(&layout);
	dart_application_entry__clear(&flat);
	dart_application_entry__clear(&entry);
	close(process.memory);
	free(rows);
	free(copy);
}

static void test_texts_behind_pointers(void **unused)
{
	struct dart_application_entry entry = new_entry(), flat;
	struct application_process process = self();
	struct application_locations locations;
	struct dart_error error;

	add(&entry, "text", 32, 1, DART_CONTROL_FIELD_TEXT, &state.text, 0);
	assert_int_equal(application_entry__flatten(&entry, &flat, &error), 0);
	assert_int_equal(application_locations__make(&locations, &flat, &process, &error),
			 -EOPNOTSUPP);
	dart_application_entry__clear(&flat);
	dart_application_entry__clear(&entry);
	close(process.memory);
}

static void test_texts_too_long(void **unused)
{
	struct dart_application_entry entry = new_entry(), flat;
	struct dart_error error;

	add(&entry, "long", 57, 1, DART_CONTROL_FIELD_TEXT, state.run_id, -1);
	assert_int_equal(application_entry__flatten(&entry, &flat, &error), -EINVAL);
	assert_non_null(strstr(error.text, "longer than the 56 bytes of a line"));
	dart_application_entry__clear(&entry);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("rows of the module and of dartd are equal", test_rows_are_equal),
		TEST("the module does not gather texts behind pointers",
		     test_texts_behind_pointers),
		TEST("a text that is longer than a line is refused", test_texts_too_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
