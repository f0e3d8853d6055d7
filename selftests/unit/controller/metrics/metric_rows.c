// SPDX-License-Identifier: GPL-2.0-only
/* Metrics of rows: their numbers and texts, and plans that end when these change. */
#include "metric_trial.h"

/* Two rows with elements and a text, of an eBPF map, and a hostile one. */
static void test_rows(void **state)
{
	struct dart_schema *schema;
	struct trial trial;
	uint32_t entry, other;
	char *row;

	trial__init(&trial, NULL);
	schema = host__schema(&trial.host, 40);
	add_field(schema, "counts", "", 0, 4, 2, DART_CONTROL_FIELD_COUNTER);
	add_field(schema, "command", "", 8, 16, 1, DART_CONTROL_FIELD_TEXT);
	add_field(schema, "peer", "", 24, 16, 1, DART_CONTROL_FIELD_ADDRESS);
	entry = host__add(&trial.host, "map-1", schema, DART_CONTROL_COPIES_ROW, 2);
	other = host__add(&trial.host, "map_1", schema, DART_CONTROL_COPIES_ROW, 1);
	host__set(&trial.host, entry, 1, "counts", 1, 9);
	row = host__copy(&trial.host, entry, 1);
	strcpy(row + 8, "a\"b\\c\n\xff\xc3\xa4");
	memcpy(row + 24, "\0\0\0\0\0\0\0\0\0\0\xff\xff\n\0\0\1", 16);
	strcpy((char *)host__copy(&trial.host, other, 0) + 8, "x");
	trial__plan(&trial);
	trial__expect(&trial, "dart_map_1_counts_total{index=\"1\",row=\"1\"}", 9);
	/* A control character, a byte that is not UTF-8, and a character. */
	trial__expect(&trial,
		      "dart_map_1_info{command=\"a\\\"b\\\\c\\\\x0a\\\\xff\xc3\xa4\","
		      "peer=\"10.0.0.1\",row=\"1\"}",
		      1);
	/* The series of the other entry carries the same name, without a number of its only row. */
	trial__expect(&trial, "dart_map_1_counts_total{index=\"0\"}", 0);
	assert_int_equal(trial.plan->dropped_count, 0);

	/* Another text is another series. */
	assert_true(trial__fits(&trial));
	row[8] = 'b';
	assert_false(trial__fits(&trial));
	trial__free(&trial);
}

static void test_changing_rows(void **state)
{
	static const struct wanted_field fields[] = {
		{ "cpu", "", DART_CONTROL_FIELD_GAUGE },
		{ "user", "ns", DART_CONTROL_FIELD_COUNTER },
		{}
	};
	static const char names[] = "- family: user_seconds_total\n"
				    "  help: U.\n"
				    "  type: counter\n"
				    "  series:\n"
				    "    - entry: cpustat\n"
				    "      rows: cpu\n"
				    "      scale: 1e-9\n"
				    "      value: user\n";
	static const char user[] = "user_seconds_total{cpu=\"3\"}";
	struct trial trial;
	uint32_t entry;

	trial__init(&trial, names);
	entry = host__add(&trial.host, "cpustat+1s", host__record(&trial.host, fields),
			  DART_CONTROL_COPIES_ROW, 3);
	host__mark(&trial.host, entry, 0, 2);
	host__mark(&trial.host, entry, 1, 2);
	host__set(&trial.host, entry, 1, "cpu", 0, 3);
	trial__plan(&trial);

	/* Torn: no point, and the same plan. */
	host__set(&trial.host, entry, 1, "begin0", 0, 3);
	host__set(&trial.host, entry, 1, "cpu", 0, 77);
	trial__evaluate(&trial);
	assert_int_equal(trial__point(&trial, user)->time_ns, 0);
	assert_true(trial__point(&trial, "user_seconds_total{cpu=\"0\"}")->time_ns != 0);
	/* Each sample that is lost like this is counted; an empty row does not count. */
	trial__expect(&trial, "dart_scrape_torn_samples_total", 1);
	trial__evaluate(&trial);
	trial__expect(&trial, "dart_scrape_torn_samples_total", 2);
	/* A plan that is made now does not know the row's number; the next does. */
	trial__plan(&trial);
	assert_false(trial__has(&trial, user));
	host__mark(&trial.host, entry, 1, 4);
	host__set(&trial.host, entry, 1, "cpu", 0, 3);
	assert_false(trial__fits(&trial));
	trial__plan(&trial);
	assert_true(trial__has(&trial, user));

	/* Another CPU in the row, an empty row, a row that is no longer empty. */
	host__set(&trial.host, entry, 1, "cpu", 0, 1);
	assert_false(trial__fits(&trial));
	host__set(&trial.host, entry, 1, "cpu", 0, 3);
	assert_true(trial__fits(&trial));
	host__mark(&trial.host, entry, 1, 0);
	assert_false(trial__fits(&trial));
	host__mark(&trial.host, entry, 1, 6);
	assert_true(trial__fits(&trial));
	host__mark(&trial.host, entry, 2, 2);
	assert_false(trial__fits(&trial));
	host__mark(&trial.host, entry, 2, 0);

	/* Another table. */
	trial.host.table.generation++;
	assert_false(trial__fits(&trial));
	trial__free(&trial);
}

/* A record that is empty so far, as for a cgroup whose controller is not enabled. */
static void test_empty_record(void **state)
{
	static const struct wanted_field fields[] = {
		{ "current", "bytes", DART_CONTROL_FIELD_GAUGE }, {}
	};
	struct trial trial;
	uint32_t entry;

	trial__init(&trial, NULL);
	entry = host__add(&trial.host, "cgroup:memory@/a+1s", host__record(&trial.host, fields),
			  DART_CONTROL_COPIES_SUM, 1);
	trial__plan(&trial);
	assert_false(trial__has(&trial, "dart_cgroup_memory_current_bytes{"
					"selector=\"/a\"}"));
	host__mark(&trial.host, entry, 0, 2);
	assert_false(trial__fits(&trial));
	trial__plan(&trial);
	assert_true(trial__has(&trial, "dart_cgroup_memory_current_bytes{"
				       "selector=\"/a\"}"));
	trial__free(&trial);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("rows have numbers, elements an index, and texts are labels that cannot harm",
		     test_rows),
		TEST("torn rows have no point; rows that come, go or change end the plan",
		     test_changing_rows),
		TEST("a record has series as soon as it is not empty", test_empty_record),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
