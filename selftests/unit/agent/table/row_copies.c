// SPDX-License-Identifier: GPL-2.0-only
/* Rows that the agent copies for a caller while they are written. */
#include <signal.h>
#include <sys/mman.h>

#include "agent/table/values.h"
#include "selftests/unit/agent/serve/served_host.h"

/*
 * A row of two lines, in two pages.  The first read of the second page faults, and the
 * row is written meanwhile: so a copy of the row begins before the write and ends after
 * it.
 */
struct row {
	struct line {
		uint32_t sequence, values[14], last_sequence;
	} lines[2];
};

#define ROW (served_memory.large + 4096 - sizeof(struct line))
#define SECOND_PAGE (served_memory.large + 4096)

static uint32_t next_sequence;

static void fill_row(uint32_t sequence, uint32_t value)
{
	struct row row;
	int i, j;

	for (i = 0; i < 2; i++) {
		row.lines[i].sequence = row.lines[i].last_sequence = sequence;
		for (j = 0; j < 14; j++)
			row.lines[i].values[j] = value;
	}
	memcpy(ROW, &row, sizeof(row));
}

static void write_row(int signal)
{
	mprotect(SECOND_PAGE, 4096, PROT_READ | PROT_WRITE);
	fill_row(next_sequence, 2);
}

/* Publishes a table whose first entry is @length bytes of @schema at @address. */
static void publish(struct served_host *host, const struct dart_schema *schema,
		    uint64_t address, uint32_t length)
{
	struct dart_range range = { .address = address, .copies = 1,
				    .length = length };
	struct dart_memory_region region = { .address = 0x100000,
					     .length = 8192, .rkey = 1 };
	struct dart_entry entries[2] = {
		{ .name = "row", .schema = schema,
		  .kind = DART_CONTROL_ENTRY_MAP,
		  .lifetime = DART_CONTROL_LIFETIME_DYNAMIC,
		  .copies_are = DART_CONTROL_COPIES_ROW, .copies = 1,
		  .ranges = &range, .range_count = 1 },
	};
	struct dart_table table = host->sample.table;

	entries[1] = entries[0];
	entries[1].name = "other";
	table.entries = entries;
	table.entry_count = 2;
	table.memory_regions = &region;
	table.memory_region_count = 1;
	table.generation = ++host->sample.table.generation;
	served_host__publish(host, dart_table_writer__rewrite(host->control_region.writer, &table),
			     true);
}

static struct dart_schema *make_schema(void)
{
	struct dart_schema *schema = dart_schema__new("row", sizeof(struct row));
	char name[] = "v0";
	uint32_t at;

	assert_non_null(schema);
	for (at = 0; at < sizeof(struct row); at += sizeof(struct line)) {
		sample__add(schema, name, "", at, 4, 1, DART_CONTROL_FIELD_SEQUENCE, false);
		name[1]++;
		sample__add(schema, name, "", at + offsetof(struct line, values), 4, 14,
			    DART_CONTROL_FIELD_COUNTER, false);
		name[1]++;
		sample__add(schema, name, "", at + offsetof(struct line, last_sequence), 4, 1,
			    DART_CONTROL_FIELD_SEQUENCE, false);
		name[1]++;
	}
	assert_null(dart_schema__objection_to_sequences(schema));
	return schema;
}

static void publish_row(struct served_host *host)
{
	struct dart_schema *schema = make_schema();

	publish(host, schema, 0x100000 + 4096 - sizeof(struct line), sizeof(struct row));
	dart_schema__free(schema);
}

/* The controller's judgement of the row. */
static enum dart_row_state state_of(const struct row *row)
{
	struct dart_schema *schema = make_schema();
	enum dart_row_state row_state = dart_row__state(schema, row);

	dart_schema__free(schema);
	return row_state;
}

/* Begins with the first entry of the table. */
static void begin(struct values *values, const struct control_region *region)
{
	static const struct dart_rpc_entries first = { 0, 1 };
	struct dart_rpc_message message;
	struct dart_error error;
	uint8_t request[64];
	size_t length;

	length = dart_rpc__put_get_values(request, 1, region->instance, region->generation, &first,
					  1);
	assert_int_equal(dart_rpc_message__decode(request, length, &message, &error), 0);
	assert_int_equal(values__begin(values, region, &message, &error), 0);
}

/*
 * A copy of the row, perhaps a removed one, if @sequence is written meanwhile, in
 * messages of @size bytes.
 */
static struct row copy_row(uint32_t sequence, bool is_removed, size_t size)
{
	const struct sigaction action = { .sa_handler = write_row };
	struct served_host *host = served_host__new();
	const struct control_region *region = &host->control_region;
	struct dart_error error;
	struct values values;
	struct sigaction before;
	struct row row;
	size_t sum;
	ssize_t copied;

	publish_row(host);
	begin(&values, region);
	if (is_removed)
		served_host__remove(host, "row");
	fill_row(2, 1);
	next_sequence = sequence;
	assert_int_equal(sigaction(SIGSEGV, &action, &before), 0);
	assert_int_equal(mprotect(SECOND_PAGE, 4096, PROT_NONE), 0);
	for (sum = 0; sum < sizeof(row); sum += copied) {
		copied = values__copy(&values, (uint8_t *)&row + sum,
				      size < sizeof(row) - sum ? size : sizeof(row) - sum, &error);
		assert_true(copied > 0);
		assert_int_equal(copied % sizeof(struct line), 0);
	}
	assert_int_equal(sigaction(SIGSEGV, &before, NULL), 0);
	served_host__free(host);
	return row;
}

static void test_written(void **state)
{
	struct row row;
	int i, j, is_removed;

	for (is_removed = 0; is_removed < 2; is_removed++) {
		row = copy_row(4, is_removed, sizeof(row));
		assert_int_equal(state_of(&row), DART_ROW_WHOLE);
		for (i = 0; i < 2; i++) {
			assert_int_equal(row.lines[i].sequence, 4);
			for (j = 0; j < 14; j++)
				assert_int_equal(row.lines[i].values[j], 2);
		}
	}
}

static void test_torn(void **state)
{
	struct row row;
	int is_removed;

	for (is_removed = 0; is_removed < 2; is_removed++) {
		row = copy_row(3, is_removed, sizeof(row));
		assert_int_equal(state_of(&row), DART_ROW_TORN);
	}
}

/* The first line leaves before the row is written. */
static void test_divided(void **state)
{
	struct row row = copy_row(4, false, sizeof(row) - 1);

	assert_int_equal(state_of(&row), DART_ROW_TORN);
	assert_int_equal(row.lines[0].last_sequence, 2);
	assert_int_equal(row.lines[0].values[13], 1);
	assert_int_equal(row.lines[1].sequence, 4);
	assert_int_equal(row.lines[1].values[0], 2);
}

#define COUNTERS 512

static void set_counters(uint64_t value)
{
	int i;

	for (i = 0; i < COUNTERS; i++)
		memcpy(served_memory.large + 8 * i, &value, sizeof(value));
}

/* Counters in messages of odd sizes; all counters after the first carry. */
static void test_carry(void **state)
{
	static const size_t sizes[] = { 488, 489, 491, 495, 499, 1000, 4095 };
	const uint64_t before = 0x00ffffffffffffff, after = before + 1;
	struct served_host *host = served_host__new();
	struct dart_schema *schema = dart_schema__new("counters", 8 * COUNTERS);
	uint64_t counters[COUNTERS];
	struct dart_error error;
	struct values values;
	size_t i, j, sum;
	ssize_t copied;

	assert_non_null(schema);
	sample__add(schema, "counts", "", 0, 8, COUNTERS, DART_CONTROL_FIELD_COUNTER, false);
	publish(host, schema, 0x100000, 8 * COUNTERS);
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		begin(&values, &host->control_region);
		set_counters(before);
		for (sum = 0; sum < sizeof(counters); sum += copied) {
			copied = values__copy(&values, (uint8_t *)counters + sum,
					      sizes[i] < sizeof(counters) - sum ?
						      sizes[i] :
						      sizeof(counters) - sum,
					      &error);
			assert_true(copied > 0);
			set_counters(after);
		}
		for (j = 0; j < COUNTERS; j++)
			assert_true(counters[j] == before || counters[j] == after);
		assert_int_equal(counters[0], before);
		assert_int_equal(counters[COUNTERS - 1], after);
	}
	dart_schema__free(schema);
	served_host__free(host);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("a row that was written while it was copied is copied again, and whole, also one that was removed",
		     test_written),
		TEST("a row that is being written for longer arrives torn, as its sequence shows",
		     test_torn),
		TEST("a row that is longer than a message is divided between lines, and known as torn if it was written in between",
		     test_divided),
		TEST("counters are whole in messages of any size, though they change between two",
		     test_carry),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
