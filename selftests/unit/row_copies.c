// SPDX-License-Identifier: GPL-2.0-only
/* Rows that the agent copies for a caller while they are written. */
#include <signal.h>
#include <sys/mman.h>

#include "agent/table/values.h"
#include "served_host.h"

/*
 * A row across two pages.  Whoever reads the second one for the first time is interrupted,
 * and meanwhile the row is written: so a copy of it begins before and ends after that.
 */
struct row {
	uint64_t sequence, values[7];
};

#define ROW (served_memory.large + 4096 - 32)
#define SECOND_PAGE (served_memory.large + 4096)

static uint64_t next_sequence;

static void fill_row(uint64_t sequence, uint64_t value)
{
	struct row row = { .sequence = sequence };
	int i;

	for (i = 0; i < 7; i++)
		row.values[i] = value;
	memcpy(ROW, &row, sizeof(row));
}

static void write_row(int signal)
{
	mprotect(SECOND_PAGE, 4096, PROT_READ | PROT_WRITE);
	fill_row(next_sequence, 2);
}

/* A table with one such row. */
static void publish_row(struct served_host *host)
{
	struct dart_schema *schema = dart_schema__new("row",
						      sizeof(struct row));
	struct dart_range range = { .address = 0x100000 + 4096 - 32, .copies = 1,
				    .length = sizeof(struct row) };
	struct dart_memory_region region = { .address = 0x100000,
					     .length = 8192, .rkey = 1 };
	struct dart_entry entry = {
		.name = "row", .schema = schema, .kind = DART_CONTROL_ENTRY_MAP,
		.lifetime = DART_CONTROL_LIFETIME_DYNAMIC,
		.copies_are = DART_CONTROL_COPIES_ROW, .copies = 1,
		.ranges = &range, .range_count = 1,
	};
	struct dart_table table = host->sample.table;

	assert_non_null(schema);
	sample__add(schema, "sequence", "", 0, 8, 1,
		    DART_CONTROL_FIELD_SEQUENCE, false);
	sample__add(schema, "values", "", 8, 8, 7, DART_CONTROL_FIELD_COUNTER,
		    false);
	table.entries = &entry;
	table.entry_count = 1;
	table.memory_regions = &region;
	table.memory_region_count = 1;
	table.generation = ++host->sample.table.generation;
	served_host__publish(
		host,
		dart_table_writer__rewrite(host->control_region.writer, &table),
		true);
	dart_schema__free(schema);
}

/* A copy of the row, if @sequence is written meanwhile. */
static struct row copy_row(uint64_t sequence)
{
	static const struct dart_rpc_entries first = { 0, 1 };
	const struct sigaction action = { .sa_handler = write_row };
	struct served_host *host = served_host__new();
	const struct control_region *region = &host->control_region;
	uint8_t request[64], bytes[sizeof(struct row) + 1];
	struct dart_rpc_message message;
	struct dart_error error;
	struct values values;
	struct sigaction before;
	struct row row;
	size_t length;

	publish_row(host);
	length = dart_rpc__put_get_values(request, 1, region->instance,
					  region->generation, &first, 1);
	assert_int_equal(dart_rpc_message__decode(request, length, &message,
						  &error),
			 0);
	assert_int_equal(values__begin(&values, region, &message, &error), 0);
	fill_row(2, 1);
	next_sequence = sequence;
	assert_int_equal(sigaction(SIGSEGV, &action, &before), 0);
	assert_int_equal(mprotect(SECOND_PAGE, 4096, PROT_NONE), 0);
	assert_int_equal(values__copy(&values, bytes, sizeof(bytes), &error),
			 sizeof(row));
	assert_int_equal(sigaction(SIGSEGV, &before, NULL), 0);
	memcpy(&row, bytes, sizeof(row));
	served_host__free(host);
	return row;
}

static void test_written(void **state)
{
	const struct row row = copy_row(4);
	int i;

	assert_int_equal(row.sequence, 4);
	for (i = 0; i < 7; i++)
		assert_int_equal(row.values[i], 2);
}

static void test_torn(void **state)
{
	assert_true(copy_row(3).sequence & 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("a row that was written while it was copied is copied again, and whole",
		     test_written),
		TEST("a row that is being written for longer arrives torn, as its sequence shows",
		     test_torn),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
