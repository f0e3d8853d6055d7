// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rows that are fetched while they are being written, by the rules of <dart/control.h>:
 * in the orders in which hosts fetch them, and paused anywhere.  Each row that the
 * library takes for whole is a single, complete update.
 */
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <stdio.h>

#include <libdart/table/value.h>

#include "agent/schema/btf_fields.h"
#include "agent/schema/record_layout.h"
#include "cgroupnet.skel.h"
#include "selftests/unit/libdart/table/sample.h"
#include "tcpconn.skel.h"

enum {
	LINE = 64,
	LINES_MAX = 4,
	ROW_MAX = LINES_MAX * LINE,
	STORES_MAX = 128,	/* of an update */
	UPDATES = 3,
	/* Sequences go from 252 on: a byte of them carries. */
	FIRST = 126,
};

/* @width bytes at @offset, written in one access: a sequence, or bytes of a value. */
struct store {
	uint32_t offset;
	uint32_t width;
	enum { ODD, VALUE, EVEN } what;
};

/* The contents of a row after each store of some updates. */
struct history {
	const struct dart_schema *schema;
	struct store stores[STORES_MAX];
	uint32_t count;		/* of an update */
	uint8_t rows[UPDATES * STORES_MAX + 1][ROW_MAX];
};

/* Bytes that are fetched at one moment. */
struct fetch {
	uint32_t offset;
	uint32_t length;
};

struct order {
	struct fetch fetches[ROW_MAX];
	uint32_t count;
};

static void history__plan(struct history *history, bool is_sequence, int what)
{
	const struct dart_schema *schema = history->schema;
	uint32_t i, at, width, end;

	for (i = 0; i < schema->field_count; i++) {
		const struct dart_field *field = &schema->fields[i];

		if ((field->kind == DART_CONTROL_FIELD_SEQUENCE) != is_sequence)
			continue;
		width = field->width < 8 ? field->width : 8;
		end = field->offset + field->width * field->count;
		for (at = field->offset; at < end; at += width) {
			assert_true(history->count < STORES_MAX);
			history->stores[history->count++] = (struct store){ at, width, what };
		}
	}
}

static void history__store(uint8_t *row, const struct store *store, uint64_t update)
{
	uint64_t number = 2 * update;

	if (store->what == VALUE)
		number = update * 0x0101010101010101;
	else if (store->what == ODD)
		number--;
	memcpy(row + store->offset, &number, store->width);
}

/* The row is whole at first, then there are UPDATES updates. */
static struct history *history__new(const struct dart_schema *schema)
{
	struct history *history = calloc(1, sizeof(*history));
	uint32_t i, step = 0, update;

	assert_non_null(history);
	assert_true(schema->length <= ROW_MAX);
	history->schema = schema;
	history__plan(history, true, ODD);
	history__plan(history, false, VALUE);
	history__plan(history, true, EVEN);

	for (i = 0; i < history->count; i++)
		history__store(history->rows[0], &history->stores[i], FIRST);
	for (update = 1; update <= UPDATES; update++) {
		for (i = 0; i < history->count; i++, step++) {
			memcpy(history->rows[step + 1], history->rows[step], ROW_MAX);
			history__store(history->rows[step + 1], &history->stores[i],
				       FIRST + update);
		}
	}
	return history;
}

/* Fetches the bytes [from, to) in pieces of @length bytes, beginning at one end. */
static void order__add(struct order *order, uint32_t from, uint32_t to,
		       uint32_t length, bool is_descending)
{
	uint32_t i, count = (to - from) / length;

	for (i = 0; i < count; i++)
		order->fetches[order->count++] = (struct fetch){
			from + (is_descending ? count - 1 - i : i) * length, length
		};
}

/* Is the fetched row a single update? */
static bool history__has(const struct history *history, const uint8_t *fetched)
{
	uint32_t update;

	for (update = 0; update <= UPDATES; update++)
		if (!memcmp(history->rows[update * history->count], fetched,
			    history->schema->length))
			return true;
	return false;
}

/* Fetches from the row as it is after @step stores. */
static void history__copy(const struct history *history, const struct fetch *fetch,
			  uint8_t *fetched, uint32_t step)
{
	memcpy(fetched + fetch->offset, history->rows[step] + fetch->offset, fetch->length);
}

/* The fetched row is a single update, or the library does not take it for whole. */
static bool history__check(const struct history *history, const uint8_t *fetched)
{
	if (dart_row__state(history->schema, fetched) != DART_ROW_WHOLE)
		return false;
	if (history__has(history, fetched))
		return true;
	fail_msg("a torn row of '%s' with %u bytes was taken for whole",
		 history->schema->name, history->schema->length);
	return false;
}

/* Fetches in @order: the first @paused fetches see the row after @before stores. */
static bool history__fetch(const struct history *history, const struct order *order,
			   uint32_t paused, uint32_t before, uint32_t after)
{
	uint8_t fetched[ROW_MAX] = {};
	uint32_t i;

	for (i = 0; i < order->count; i++)
		history__copy(history, &order->fetches[i], fetched, i < paused ? before : after);
	return history__check(history, fetched);
}

/* One pause, after any fetch, in which the writer goes on by up to an update. */
static void expect_with_a_pause(const struct history *history, const struct order *order)
{
	const uint32_t whole_update = history->count;
	uint32_t paused, before, stores, whole = 0, torn = 0;

	for (paused = 0; paused < order->count; paused++)
		for (before = 0; before <= whole_update; before++)
			for (stores = 0; stores <= whole_update; stores++)
				*(history__fetch(history, order, paused, before,
						 before + stores) ?
					  &whole : &torn) += 1;
	assert_true(whole && torn);
}

/* The writer goes on between any fetches. */
static void expect_with_pauses(const struct history *history, const struct order *order,
			       uint64_t *random)
{
	const uint32_t steps = UPDATES * history->count;
	uint8_t fetched[ROW_MAX] = {};
	uint32_t round, step, i;

	for (round = 0; round < 2000; round++) {
		step = random__below(random, steps + 1);
		for (i = 0; i < order->count; i++) {
			const struct fetch *fetch = &order->fetches[i];

			if (!random__below(random, 4))
				step += random__below(random, history->count);
			if (step > steps)
				step = steps;
			history__copy(history, fetch, fetched, step);
		}
		history__check(history, fetched);
	}
}

static void expect(const struct history *history, const struct order *order)
{
	uint64_t random = 4792;

	expect_with_a_pause(history, order);
	expect_with_pauses(history, order, &random);
}

/* A processor fetches in pieces of @length bytes, in one direction. */
static void expect_copied(const struct history *history, uint32_t length)
{
	struct order *order = calloc(1, sizeof(*order));
	int descending;

	assert_non_null(order);
	for (descending = 0; descending < 2; descending++) {
		order->count = 0;
		order__add(order, 0, history->schema->length, length, descending);
		expect(history, order);
	}
	free(order);
}

/*
 * By an adapter, in lines; or by a processor for two packets, that end at any line and
 * are copied each in its own direction.
 */
static void expect_in_lines(const struct history *history)
{
	const uint32_t length = history->schema->length;
	struct order *order = calloc(1, sizeof(*order));
	uint32_t end, directions;

	assert_non_null(order);
	for (end = LINE; end <= length; end += LINE) {
		for (directions = 0; directions < 4; directions++) {
			order->count = 0;
			order__add(order, 0, end, 8, directions & 1);
			order__add(order, end, length, 8, directions & 2);
			expect(history, order);
			order->count = 0;
			order__add(order, end, length, LINE, directions & 1);
			order__add(order, 0, end, LINE, directions & 2);
			expect(history, order);
		}
	}
	free(order);
}

/*
 * Counts the rows that mix updates and that the library takes for whole, of all that are fetched in
 * @order with one pause.
 */
static uint32_t count_mixed(const struct history *history, const struct order *order)
{
	const uint32_t whole_update = history->count;
	uint32_t paused, before, stores, i, mixed = 0;

	for (paused = 0; paused < order->count; paused++)
		for (before = 0; before <= whole_update; before++)
			for (stores = 0; stores <= whole_update; stores++) {
				uint8_t fetched[ROW_MAX] = {};

				for (i = 0; i < order->count; i++)
					history__copy(history, &order->fetches[i], fetched,
						      i < paused ? before : before + stores);
				mixed += dart_row__state(history->schema, fetched) ==
						 DART_ROW_WHOLE &&
					 !history__has(history, fetched);
			}
	return mixed;
}

/* @fields fields of 8 bytes, as the agent lays them out in a row of the module. */
static struct history *record__new(uint32_t fields, const char *number_name,
				   struct record_layout *layout)
{
	struct dart_schema *copy = dart_schema__new("record", 8 * fields);
	struct dart_error error;
	char name[16];
	uint32_t i;

	assert_non_null(copy);
	for (i = 0; i < fields; i++) {
		snprintf(name, sizeof(name), "v%u", i);
		sample__add(copy, name, "", 8 * i, 8, 1, DART_CONTROL_FIELD_COUNTER, false);
	}
	assert_int_equal(record_layout__init(layout, copy, number_name, &error), 0);
	dart_schema__free(copy);
	return history__new(layout->schema);
}

static void record__free(struct history *history, struct record_layout *layout)
{
	free(history);
	record_layout__clear(layout);
}

/* The first 8 bytes are copied, then there is an update, then the rest is. */
static void test_one_line(void **state)
{
	struct record_layout layout;
	struct history *history = record__new(4, NULL, &layout);
	struct order order = {};

	assert_int_equal(layout.schema->length, LINE);
	order__add(&order, 0, LINE, 8, false);
	assert_true(history__fetch(history, &order, 1, 0, 0));
	assert_false(history__fetch(history, &order, 1, 0, history->count));
	order.count = 0;
	order__add(&order, 0, LINE, 8, true);
	assert_true(history__fetch(history, &order, 1, 0, 0));
	assert_false(history__fetch(history, &order, 1, 0, history->count));
	record__free(history, &layout);
}

/*
 * memcpy() of the kernel for arm64 loads the last 32 of 128 bytes before those in the middle.  Here
 * the rule of <dart/control.h> does not hold, and its section "Hosts" says so.
 */
static void test_end_before_middle(void **state)
{
	struct record_layout layout;
	struct history *history = record__new(12, NULL, &layout);
	struct order order = {};

	assert_int_equal(layout.schema->length, 2 * LINE);
	order__add(&order, 0, 32, 16, false);
	order__add(&order, 96, 128, 16, false);
	order__add(&order, 32, 96, 16, false);
	assert_true(count_mixed(history, &order) > 0);
	order.count = 0;
	order__add(&order, 0, 128, 16, false);
	assert_int_equal(count_mixed(history, &order), 0);
	record__free(history, &layout);
}

/* Records of three lines down to one. */
static void for_records(void (*expect_one)(const struct history *history))
{
	static const uint32_t fields[] = { 13, 12, 6, 5, 1 };
	struct record_layout layout;
	struct history *history;
	size_t i;

	for (i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		history = record__new(fields[i], i % 2 ? "cpu" : NULL, &layout);
		expect_one(history);
		record__free(history, &layout);
	}
}

static void expect_words(const struct history *history)
{
	expect_copied(history, 8);
}

static void expect_bytes(const struct history *history)
{
	if (history->schema->length == LINE)
		expect_copied(history, 1);
}

static void test_copied(void **state)
{
	for_records(expect_words);
}

static void test_bytes(void **state)
{
	for_records(expect_bytes);
}

static void test_lines(void **state)
{
	for_records(expect_in_lines);
}

/* The rows of a map of an eBPF program, by their type there. */
static void expect_map(const struct bpf_object *object, const struct bpf_map *map)
{
	struct btf_fields *fields = calloc(1, sizeof(*fields));
	struct dart_schema *schema;
	struct history *history;
	uint32_t i;

	assert_non_null(fields);
	schema = dart_schema__new(bpf_map__name(map), bpf_map__value_size(map));
	assert_non_null(schema);
	assert_int_equal(btf_fields__collect(fields, bpf_object__btf(object),
					     bpf_map__btf_value_type_id(map)), 0);
	for (i = 0; i < fields->count; i++)
		assert_int_equal(dart_schema__add(schema, &fields->fields[i]), 0);
	assert_true(dart_schema__has_sequence(schema));

	history = history__new(schema);
	expect_words(history);
	expect_bytes(history);
	expect_in_lines(history);
	free(history);
	dart_schema__free(schema);
	btf_fields__free(fields);
	free(fields);
}

static void test_probes(void **state)
{
	struct cgroupnet_bpf *cgroupnet = cgroupnet_bpf__open();
	struct tcpconn_bpf *tcpconn = tcpconn_bpf__open();

	assert_non_null(cgroupnet);
	assert_non_null(tcpconn);
	expect_map(cgroupnet->obj, cgroupnet->maps.cgroupnet);
	expect_map(tcpconn->obj, tcpconn->maps.tcpconn);
	cgroupnet_bpf__destroy(cgroupnet);
	tcpconn_bpf__destroy(tcpconn);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("a row of one line is torn if it is written behind the first word that is copied, from either end",
		     test_one_line),
		TEST("rows of records that are copied word by word, from either end and paused anywhere, are whole or known as torn",
		     test_copied),
		TEST("rows of records of which even sequences are copied byte by byte are whole or known as torn",
		     test_bytes),
		TEST("rows of records whose lines are fetched in any order, or lie in two packets, are whole or known as torn",
		     test_lines),
		TEST("two lines of which the end is copied before the middle, as by arm64, can be torn and seem whole",
		     test_end_before_middle),
		TEST("rows of the probes cgroupnet and tcpconn are whole or known as torn, too",
		     test_probes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
