// SPDX-License-Identifier: GPL-2.0-only
/* libdart places entries and finds them in rows like the golden vectors. */
#include <dart/tea_access.h>
#include <stdlib.h>
#include <string.h>

#include <libdart/store/store_hash.h>
#include <libdart/tea/tea_lookup.h>
#include <libdart/tea/tea_table.h>

#include "selftests/unit/libdart/vector.h"

#define VECTORS		"selftests/vectors/tables.json"
#define BUILT_ROWS_LOG2	10	/* larger tables are not built here */
#define ETHERNET	0x04c11db7
/* Offsets in a frame: of the BTH, and of the header after it. */
#define BTH		42
#define BEHIND_BTH	54

static struct dart_tea_geometry geometry_of(const json_t *vector)
{
	const json_t *numbers = json_object_get(vector, "geometry");
	const struct dart_tea_geometry geometry = {
		.rows_log2 = number(numbers, "rows_log2"),
		.cells = number(numbers, "cells"),
		.key_length = number(numbers, "key_length"),
		.value_length = number(numbers, "value_length"),
		.packet_length = number(numbers, "packet_length"),
	};

	assert_int_equal(dart_tea_geometry__check(&geometry), 0);
	return geometry;
}

static void check_sizes(const json_t *vector, const struct dart_tea_geometry *geometry)
{
	assert_int_equal(dart_tea_geometry__cell_length(geometry), number(vector, "cell_length"));
	assert_int_equal(dart_tea_geometry__row_length(geometry), number(vector, "row_length"));
	assert_int_equal(dart_tea_geometry__row_log2(geometry), number(vector, "row_log2"));
	assert_int_equal(dart_tea_geometry__stride(geometry), number(vector, "stride"));
	assert_true(dart_tea_geometry__stash(geometry) == number(vector, "stash"));
	assert_int_equal(dart_tea_geometry__stash_places(geometry), number(vector, "stash_places"));
	assert_int_equal(dart_tea_geometry__stash_cells(geometry), number(vector, "stash_cells"));
	assert_true(dart_tea_geometry__length(geometry) == number(vector, "length"));
	assert_true(dart_tea_geometry__view_length(geometry) == number(vector, "view_length"));
}

static void check_place(const json_t *vector, const struct dart_tea_hash *hash)
{
	struct bytes entry = bytes(vector, "key");
	const struct bytes value = bytes(vector, "value");
	struct dart_tea_place place;

	dart_tea_hash__place(hash, entry.data, &place);
	assert_int_equal(place.home, number(vector, "home"));
	assert_int_equal(place.share, number(vector, "share"));
	assert_int_equal(place.stash, number(vector, "stash_place"));
	memcpy(entry.data + entry.length, value.data, value.length);
	assert_int_equal(dart_tea_hash__check(hash, entry.data),
			 strtoul(text(vector, "check"), NULL, 16));
}

/* A reader finds each entry in the row, or is told of the stash and finds it there. */
static void check_lookup(const json_t *vector, const struct dart_tea_hash *hash)
{
	const struct bytes row = bytes(vector, "row");
	const size_t stashed = json_array_size(json_object_get(vector, "stash_entries"));
	uint8_t found[DART_TEA_VALUE_MAX];
	enum dart_tea_outcome outcome;
	size_t i, in_stash = 0;
	json_t *entry;

	json_array_foreach(json_object_get(vector, "entries"), i, entry) {
		const struct bytes key = bytes(entry, "key");
		const struct bytes value = bytes(entry, "value");

		outcome = dart_tea_lookup__row(hash, number(vector, "epoch"),
					       row.data, key.data, found);
		in_stash += outcome == DART_TEA_IN_STASH;
		if (outcome == DART_TEA_FOUND)
			assert_memory_equal(found, value.data, value.length);
		else
			assert_int_equal(outcome, DART_TEA_IN_STASH);
		assert_int_equal(dart_tea_lookup__row(hash, number(vector, "epoch") + 1, row.data,
						      key.data, found),
				 DART_TEA_CHANGING);
	}
	assert_int_equal(in_stash, stashed);
}

/* The row of a switch, and of the server, after all entries were inserted. */
static void check_table(const json_t *vector, const struct dart_tea_geometry *geometry)
{
	const struct bytes row = bytes(vector, "row");
	const uint64_t home = number(vector, "home");
	uint8_t *memory = calloc(1, dart_tea_geometry__length(geometry));
	uint8_t *view = calloc(1, dart_tea_geometry__view_length(geometry));
	const uint8_t *stash = memory + dart_tea_geometry__stash(geometry);
	struct dart_tea_table *table;
	json_t *entry;
	size_t i;

	assert_int_equal(dart_tea_table__new(geometry, number(vector, "epoch"), memory, &table), 0);
	assert_int_equal(dart_tea_table__attach(table, view, NULL), 0);
	json_array_foreach(json_object_get(vector, "entries"), i, entry) {
		const struct bytes key = bytes(entry, "key");
		const struct bytes value = bytes(entry, "value");

		assert_true(dart_tea_table__insert(table, key.data, value.data) >= 0);
	}
	assert_memory_equal(memory + home * dart_tea_geometry__stride(geometry), row.data,
			    row.length);
	assert_memory_equal(view + (home << dart_tea_geometry__row_log2(geometry)), row.data,
			    row.length);
	json_array_foreach(json_object_get(vector, "stash_entries"), i, entry) {
		const struct bytes cell = bytes(entry, "cell");

		assert_memory_equal(stash + number(entry, "number") * cell.length,
				    cell.data, cell.length);
	}
	dart_tea_table__free(table);
	free(memory);
	free(view);
}

static uint32_t word_at(const uint8_t *data)
{
	return (uint32_t)data[0] << 24 | data[1] << 16 | data[2] << 8 | data[3];
}

/* The check of a tag covers the tag's other bytes, then the epoch and the key. */
static void check_tag(const json_t *vector, const struct bytes *tag)
{
	const uint32_t epoch = number(vector, "epoch");
	const struct bytes key = bytes(vector, "key");
	uint8_t checked[11 + DART_TEA_KEY_MAX];

	assert_int_equal(tag->length, DART_TEA_TAG_LENGTH);
	memcpy(checked, tag->data, 8);
	checked[8] = epoch >> 16;
	checked[9] = epoch >> 8;
	checked[10] = epoch;
	memcpy(checked + 11, key.data, key.length);
	assert_int_equal(word_at(tag->data + 8),
			 dart_store__crc(DART_TEA_CHECK, checked, 11 + key.length));
}

/* The ICRC of IBTA volume 1, annex A17, over a frame without IPv4 options. */
static void check_icrc(const struct bytes *frame)
{
	static const uint8_t variant[] = { 1, 8, 10, 11, 26, 27, 32 };
	const size_t length = frame->length - 14 - 4;
	uint8_t covered[8 + sizeof(frame->data)];
	uint32_t crc;
	size_t i;

	memset(covered, 0xff, 8);
	memcpy(covered + 8, frame->data + 14, length);
	for (i = 0; i < sizeof(variant); i++)
		covered[8 + variant[i]] = 0xff;
	crc = dart_store__crc(ETHERNET, covered, 8 + length);
	for (i = 0; i < 4; i++)
		assert_int_equal(frame->data[frame->length - 4 + i], crc >> 8 * i & 0xff);
}

static void check_frame(const struct bytes *frame, uint8_t opcode, uint32_t psn)
{
	check_icrc(frame);
	assert_int_equal(frame->data[BTH], opcode);
	assert_int_equal(word_at(frame->data + BTH + 8), psn);
}

/* The response to the READ contains the bytes that the WRITE left in the row. */
static void check_exchange(const json_t *vector, const struct dart_tea_geometry *geometry)
{
	const json_t *exchange = json_object_get(vector, "exchange");
	const struct bytes row = bytes(vector, "row");
	const struct bytes tag = bytes(exchange, "tag");
	const struct bytes packet = bytes(exchange, "packet");
	const struct bytes write = bytes(exchange, "write");
	const struct bytes read = bytes(exchange, "read");
	const struct bytes response = bytes(exchange, "response");
	const uint64_t address =
		strtoull(text(json_object_get(exchange, "server"), "base"), NULL, 16) +
		(number(vector, "home") << dart_tea_geometry__row_log2(geometry));
	const uint32_t psn = number(exchange, "psn");
	const uint8_t *payload = response.data + BEHIND_BTH + 4;

	check_tag(vector, &tag);
	check_frame(&write, 0x0a, psn);
	check_frame(&read, 0x0c, (psn + 1) & 0xffffff);
	check_frame(&response, 0x10, (psn + 1) & 0xffffff);

	assert_int_equal(word_at(write.data + BEHIND_BTH + 4), (uint32_t)(address + row.length));
	assert_int_equal(word_at(write.data + BEHIND_BTH + 12), tag.length + packet.length);
	assert_memory_equal(write.data + BEHIND_BTH + 16, tag.data, tag.length);
	assert_memory_equal(write.data + BEHIND_BTH + 16 + tag.length, packet.data, packet.length);
	assert_int_equal(word_at(read.data + BEHIND_BTH + 4), (uint32_t)address);
	assert_int_equal(word_at(read.data + BEHIND_BTH + 12),
			 row.length + tag.length + packet.length);
	assert_memory_equal(payload, row.data, row.length);
	assert_memory_equal(payload + row.length, tag.data, tag.length);
	assert_memory_equal(payload + row.length + tag.length, packet.data, packet.length);
	assert_true(row.length + tag.length + packet.length <=
		    (size_t)1 << dart_tea_geometry__row_log2(geometry));
}

static void for_all(void (*check)(const json_t *vector, const struct dart_tea_geometry *geometry))
{
	json_t *vectors = json_load_file(VECTORS, 0, NULL), *vector;
	struct dart_tea_geometry geometry;
	size_t i;

	assert_non_null(vectors);
	assert_true(json_array_size(vectors) > 100);
	json_array_foreach(vectors, i, vector) {
		print_message("# vector %zu\n", i);
		geometry = geometry_of(vector);
		check(vector, &geometry);
	}
	json_decref(vectors);
}

static void check_found(const json_t *vector, const struct dart_tea_geometry *geometry)
{
	struct dart_tea_hash *hash;

	assert_int_equal(dart_tea_hash__new(geometry, &hash), 0);
	check_place(vector, hash);
	check_lookup(vector, hash);
	dart_tea_hash__free(hash);
}

static void check_built(const json_t *vector, const struct dart_tea_geometry *geometry)
{
	if (geometry->rows_log2 <= BUILT_ROWS_LOG2)
		check_table(vector, geometry);
}

static void check_exchanged(const json_t *vector, const struct dart_tea_geometry *geometry)
{
	if (!json_is_null(json_object_get(vector, "exchange")))
		check_exchange(vector, geometry);
}

static void test_sizes(void **state)
{
	for_all(check_sizes);
}

static void test_lookups(void **state)
{
	for_all(check_found);
}

static void test_tables(void **state)
{
	for_all(check_built);
}

static void test_exchanges(void **state)
{
	for_all(check_exchanged);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("sizes of cells, rows, stashes and copies are those of the golden vectors",
		     test_sizes),
		TEST("keys have the home, share and check of the golden vectors, and are found in their rows",
		     test_lookups),
		TEST("tables with the entries of the golden vectors have their rows and their stash, byte by byte",
		     test_tables),
		TEST("the frames of the golden vectors carry tag, packet and row, with the right ICRC",
		     test_exchanges),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
