// SPDX-License-Identifier: GPL-2.0-only
/* Tables there and back; what is refused is in table_rules.c. */
#include <errno.h>
#include <stdio.h>
#include <time.h>

#include <libdart/error.h>

#include "sample.h"

static void a_table_survives_the_round_trip(void **state)
{
	struct dart_table *decoded;
	struct dart_error error;
	struct sample sample;
	size_t length, shift;
	uint8_t *bytes;

	(void)state;
	sample__init(&sample);
	bytes = sample__bytes(&sample.table, &length);

	/* From buffers of every alignment. */
	for (shift = 0; shift < 8; shift++) {
		uint8_t *copy = malloc(length + shift);

		assert_non_null(copy);
		memcpy(copy + shift, bytes, length);
		assert_int_equal(dart_table__decode(copy + shift, length,
						    &decoded, NULL, &error),
				 0);
		assert_string_equal(&error, "");
		free(copy);
		sample__assert_same(&sample.table, decoded);
		dart_table__free(decoded);
	}
	free(bytes);
	sample__release(&sample);
}

static void an_empty_table_survives_the_round_trip(void **state)
{
	struct dart_table *decoded;
	struct dart_error error;
	struct sample sample;
	size_t length;
	uint8_t *bytes;

	(void)state;
	sample__init(&sample);
	sample.table.entry_count = 0;
	sample.table.memory_region_count = 0;
	bytes = sample__bytes(&sample.table, &length);
	assert_int_equal(
		dart_table__decode(bytes, length, &decoded, NULL, &error), 0);
	sample__assert_same(&sample.table, decoded);
	dart_table__free(decoded);
	free(bytes);
	sample__release(&sample);
}

static void a_shared_schema_is_written_once(void **state)
{
	const struct dart_control_header *header;
	struct dart_table *decoded;
	struct dart_error error;
	struct sample sample;
	size_t length;
	uint8_t *bytes;

	(void)state;
	sample__init(&sample);
	bytes = sample__bytes(&sample.table, &length);
	header = (void *)bytes;
	assert_int_equal(header->schemas.count, 2);
	assert_int_equal(header->fields.count, 8);
	assert_int_equal(
		dart_table__decode(bytes, length, &decoded, NULL, &error), 0);
	assert_ptr_equal(decoded->entries[SAMPLE_CPUSTAT].schema,
			 decoded->entries[SAMPLE_ROWS].schema);
	dart_table__free(decoded);
	free(bytes);
	sample__release(&sample);
}

/* And nothing of it is looked at but where its ranges are. */
static void an_entry_that_is_gone_is_no_entry(void **state)
{
	struct dart_control_entry *raw;
	struct dart_table *decoded;
	struct dart_error error;
	struct sample sample;
	size_t length;
	uint8_t *bytes;

	(void)state;
	sample__init(&sample);
	bytes = sample__bytes(&sample.table, &length);
	raw = (void *)(bytes +
		       ((struct dart_control_header *)bytes)->entries.offset);
	raw[1] = (struct dart_control_entry) {
		.name = 0xffffffff,
		.schema = 0xffffffff,
		.kind = DART_CONTROL_ENTRY_GONE,
		.copies = 0xffffffff,
		.first_range = raw[1].first_range,
		.ranges = raw[1].ranges,
	};
	sample__seal(bytes, length);
	assert_int_equal(
		dart_table__decode(bytes, length, &decoded, NULL, &error), 0);
	sample.entries[1] = sample.entries[2];
	sample.table.entry_count--;
	sample__assert_same(&sample.table, decoded);
	dart_table__free(decoded);
	free(bytes);
	sample__release(&sample);
}

static void entries_are_found_by_name(void **state)
{
	struct sample sample;

	(void)state;
	sample__init(&sample);
	assert_ptr_equal(dart_table__find(&sample.table, "pair"),
			 &sample.entries[SAMPLE_PAIR]);
	assert_null(dart_table__find(&sample.table, "pai"));
	sample__release(&sample);
}

static void bytes_behind_the_table_are_ignored(void **state)
{
	uint8_t region[8192] __attribute__((aligned(8)));
	struct dart_table *decoded;
	struct dart_error error;
	struct sample sample;
	int length;

	(void)state;
	sample__init(&sample);
	memset(region, 0xa5, sizeof(region));
	length = dart_table__publish(&sample.table, region, sizeof(region));
	assert_true(length > 0);
	assert_int_equal(region[length], 0xa5);
	assert_int_equal(dart_table__decode(region, sizeof(region), &decoded,
					    NULL, &error),
			 0);
	dart_table__free(decoded);
	sample__release(&sample);
}

static void a_truncated_table_says_what_it_needs(void **state)
{
	struct dart_table *decoded;
	struct dart_error error;
	size_t length, shorter;
	struct sample sample;
	uint8_t *bytes;

	(void)state;
	sample__init(&sample);
	bytes = sample__bytes(&sample.table, &length);
	for (shorter = 0; shorter < length; shorter++) {
		uint8_t *copy = malloc(shorter + !shorter);
		size_t needed = 0;
		int err;

		assert_non_null(copy);
		memcpy(copy, bytes, shorter);
		err = dart_table__decode(copy, shorter, &decoded, &needed,
					 &error);
		free(copy);
		if (shorter < sizeof(struct dart_control_header)) {
			assert_int_equal(err, -EBADMSG);
		} else {
			assert_int_equal(err, -EMSGSIZE);
			assert_int_equal(needed, length);
		}
		assert_string_not_equal(&error, "");
	}
	free(bytes);
	sample__release(&sample);
}

static void a_header_tells_whether_a_table_is_the_same(void **state)
{
	struct dart_control_header header, changed;
	struct sample sample;
	size_t length;
	uint8_t *bytes;

	(void)state;
	sample__init(&sample);
	bytes = sample__bytes(&sample.table, &length);
	memcpy(&header, bytes, sizeof(header));
	assert_int_equal(dart_table__same(&sample.table, &header), 0);

	changed = header;
	changed.generation_begin++;
	assert_int_equal(dart_table__same(&sample.table, &changed), -ESTALE);
	changed.generation_end++;
	assert_int_equal(dart_table__same(&sample.table, &changed), -ESTALE);
	changed.generation_begin--;
	assert_int_equal(dart_table__same(&sample.table, &changed), -ESTALE);

	changed = header;
	changed.instance++;
	assert_int_equal(dart_table__same(&sample.table, &changed),
			 -ECONNRESET);
	changed = header;
	changed.magic = 0;
	assert_int_equal(dart_table__same(&sample.table, &changed),
			 -ECONNRESET);
	changed = header;
	changed.abi_version++;
	assert_int_equal(dart_table__same(&sample.table, &changed),
			 -ECONNRESET);
	free(bytes);
	sample__release(&sample);
}

/*
 * The worst that fits into a table: many fields, all names long and alike, and
 * a schema that many entries refer to, in runs.  Quadratic work on it would
 * take hours.
 */
static void the_largest_tables_are_decoded_fast(void **state)
{
	enum { FIELDS = 250000, ENTRIES = 1000 };
	struct dart_schema schema = {
		.name = "large", .length = FIELDS, .field_count = FIELDS,
	};
	const size_t capacity = DART_CONTROL_LENGTH_MAX;
	struct timespec from, to;
	struct dart_range *ranges;
	struct dart_entry *entries;
	struct dart_table *decoded;
	struct dart_error error;
	struct sample sample;
	uint8_t *region;
	char (*names)[48];
	int i, length;

	(void)state;
	names = calloc(FIELDS, sizeof(*names));
	schema.fields = calloc(FIELDS, sizeof(*schema.fields));
	entries = calloc(ENTRIES, sizeof(*entries));
	ranges = calloc((size_t)ENTRIES * 2, sizeof(*ranges));
	region = calloc(1, capacity);
	assert_true(names && schema.fields && entries && ranges && region);

	for (i = 0; i < FIELDS; i++) {
		snprintf(names[i], sizeof(names[i]),
			 "nnnnnnnnnnnnnnnnnnnnnnnnn%08d", i * 7919 % FIELDS);
		schema.fields[i] = (struct dart_field) {
			.name = names[i], .unit = "", .offset = i, .width = 1,
			.count = 1, .kind = DART_CONTROL_FIELD_COUNTER,
		};
	}
	for (i = 0; i < ENTRIES; i++) {
		struct dart_range *pair = &ranges[2 * i];

		pair[0] = (struct dart_range) {
			.address = 0x100000, .copies = 1, .length = FIELDS / 2,
		};
		pair[1] = pair[0];
		pair[1].offset = FIELDS / 2;
		entries[i] = (struct dart_entry) {
			.name = names[i], .schema = &schema,
			.kind = DART_CONTROL_ENTRY_MAP,
			.lifetime = DART_CONTROL_LIFETIME_DYNAMIC,
			.copies_are = DART_CONTROL_COPIES_ROW, .copies = 1,
			.ranges = pair, .range_count = 2,
		};
	}

	sample__init(&sample);
	sample.memory_regions[0].length = FIELDS;
	sample.table.entries = entries;
	sample.table.entry_count = ENTRIES;
	length = dart_table__publish(&sample.table, region, capacity);
	assert_in_range(length, 14000000, DART_CONTROL_LENGTH_MAX);

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
	assert_int_equal(
		dart_table__decode(region, length, &decoded, NULL, &error), 0);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &to);
	assert_in_range(to.tv_sec - from.tv_sec, 0, 20);
	dart_table__free(decoded);

	free(region);
	free(ranges);
	free(entries);
	free(schema.fields);
	free(names);
	sample__release(&sample);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_table_survives_the_round_trip),
		cmocka_unit_test(an_empty_table_survives_the_round_trip),
		cmocka_unit_test(a_shared_schema_is_written_once),
		cmocka_unit_test(an_entry_that_is_gone_is_no_entry),
		cmocka_unit_test(entries_are_found_by_name),
		cmocka_unit_test(bytes_behind_the_table_are_ignored),
		cmocka_unit_test(a_truncated_table_says_what_it_needs),
		cmocka_unit_test(a_header_tells_whether_a_table_is_the_same),
		cmocka_unit_test(the_largest_tables_are_decoded_fast),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("table", tests, NULL, NULL);
}
