// SPDX-License-Identifier: GPL-2.0-only
/* Which entries a controller scrapes, and the limits of its spending on them. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "controller_table.h"
#include "tools/controller/decode/budget.h"
#include "tools/controller/decode/scraper.h"

/* @patterns choose the entries @expected of @wishes; "absent NAME" stands after them. */
static void assert_chosen_of(const struct wish *wishes, uint32_t count,
			     const char *const *patterns, const char *expected)
{
	const struct scraper_use use = { .value_bytes = BUDGET_TEXT_BYTES };
	struct settings settings = { };
	struct scraper *scraper;
	struct dart_error error;
	char chosen[512] = "";
	uint32_t i;

	for (i = 0; patterns[i]; i++)
		assert_int_equal(settings__add_entry(&settings, patterns[i]), 0);
	assert_int_equal(scraper__new(table_of(wishes, count), &settings, &use, &accept_of_agent,
				      &scraper, &error),
			 0);
	for (i = 0; i < scraper->catalog->wanted_count; i++)
		snprintf(chosen + strlen(chosen), sizeof(chosen) - strlen(chosen), "%s ",
			 scraper->samples[0].entries[i].entry->name);
	if (scraper->absent)
		snprintf(chosen + strlen(chosen), sizeof(chosen) - strlen(chosen), "absent %s",
			 scraper->absent);
	assert_string_equal(chosen, expected);
	scraper__free(scraper);
	settings__clear(&settings);
}

static void assert_chosen(const char *const *patterns, const char *expected)
{
	struct dart_schema *schema = schema_of(8, DART_CONTROL_FIELD_COUNTER);
	const struct wish wishes[] = {
		{ "cpustat", schema, 1, 1 },
		{ "cgroup:cpu/a", schema, 1, 1 },
		{ "cgroup:cpu/a/b", schema, 1, 1 },
		{ "map[0]", schema, 1, 1 },
		{ "map0", schema, 1, 1 },
		{ "map[0-9]", schema, 1, 1 },
		{ "vmstat", schema, 1, 1 },
	};

	assert_chosen_of(wishes, 7, patterns, expected);
	dart_schema__free(schema);
}

#define PATTERNS(...) ((const char *const[]){ __VA_ARGS__, NULL })

static void test_patterns(void **state)
{
	assert_chosen(PATTERNS("cgroup:*"), "cgroup:cpu/a cgroup:cpu/a/b ");
	assert_chosen(PATTERNS("*stat"), "cpustat vmstat ");
	assert_chosen(PATTERNS("cpusta?"), "cpustat ");
	assert_chosen(PATTERNS("[cv]*stat", "vmstat"), "cpustat vmstat ");
	assert_chosen(PATTERNS("vmstat", "[cv]*stat"), "vmstat cpustat ");
}

static void test_names(void **state)
{
	assert_chosen(PATTERNS("map[0]"), "map[0] ");
	assert_chosen(PATTERNS("map[0-9]"), "map[0-9] ");
	assert_chosen(PATTERNS("map[0-8]"), "map0 ");
}

/* Patterns select gathered entries, with the names that "register host" gives them. */
static void assert_gathered(const char *const *patterns, const char *expected)
{
	struct dart_schema *schema = schema_of(8, DART_CONTROL_FIELD_COUNTER);
	const struct wish wishes[] = {
		{ "cpustat+1s", schema, 1, 1 },
		{ "cpustat+100ms", schema, 1, 1 },
		{ "cgroup:cpu@/a+1s", schema, 1, 1 },
		{ "cgroup:cpu@/a+b+1s", schema, 1, 1 },
		{ "softnet", schema, 1, 1 },
		{ "softnet+1s", schema, 1, 1 },
		{ "mine+1x", schema, 1, 1 },
	};

	assert_chosen_of(wishes, 7, patterns, expected);
	dart_schema__free(schema);
}

static void test_gathered(void **state)
{
	assert_gathered(PATTERNS("cpustat"), "cpustat+100ms ");
	assert_gathered(PATTERNS("cpustat+1s"), "cpustat+1s ");
	assert_gathered(PATTERNS("softnet"), "softnet ");
	assert_gathered(PATTERNS("cgroup:cpu@/a"), "cgroup:cpu@/a+1s ");
	assert_gathered(PATTERNS("cgroup:cpu@/a+b"), "cgroup:cpu@/a+b+1s ");
	assert_gathered(PATTERNS("cgroup:cpu@*"), "cgroup:cpu@/a+1s cgroup:cpu@/a+b+1s ");
	assert_gathered(PATTERNS("*@/?"), "cgroup:cpu@/a+1s ");
	assert_gathered(PATTERNS("soft???"), "softnet ");
	assert_gathered(PATTERNS("mine"), "absent mine");
	assert_gathered(PATTERNS("cpusta"), "absent cpusta");
	assert_gathered(PATTERNS("cpustat+"), "absent cpustat+");
}

static void test_absent(void **state)
{
	assert_chosen(PATTERNS("vmsta"), "absent vmsta");
	assert_chosen(PATTERNS("cpustat", "x*", "y"), "cpustat absent x*");
}

/* The result of a scrape of these entries; the sentence is in @error. */
static int scrape(const struct wish *wishes, uint32_t count,
		  uint32_t value_bytes, struct dart_error *error)
{
	const struct scraper_use use = { .value_bytes = value_bytes };
	const struct settings all = { };
	struct scraper *scraper;
	int ret;

	ret = scraper__new(table_of(wishes, count), &all, &use, &accept_of_agent, &scraper, error);
	if (!ret)
		scraper__free(scraper);
	return ret;
}

static void test_many_reads(void **state)
{
	struct dart_schema *schema = schema_of(8, DART_CONTROL_FIELD_COUNTER);
	const struct wish wish = { "map", schema, 100000, 100000 };
	struct dart_error error;

	assert_int_equal(scrape(&wish, 1, BUDGET_TEXT_BYTES, &error), 0);
	dart_schema__free(schema);
}

static void test_large_text(void **state)
{
	struct dart_schema *text = schema_of(1 << 20, DART_CONTROL_FIELD_TEXT);
	const struct wish wishes[] = {
		{ "few", text, 1, 1 },
		{ "texts", text, 100, 10 },
	};
	struct dart_error error;

	assert_int_equal(scrape(wishes, 1, BUDGET_TEXT_BYTES, &error), 0);
	assert_int_equal(scrape(wishes, 2, BUDGET_TEXT_BYTES, &error), -EFBIG);
	assert_string_equal(
		error.text,
		"a scrape of 2 entries takes more than the 256 MiB for each agent, most for 'texts' (10 READs, 104857600 bytes), 'few' (1 READs, 1048576 bytes): choose others with --entries");
	dart_schema__free(text);
}

static void test_largest(void **state)
{
	struct dart_schema *schema = schema_of(1, DART_CONTROL_FIELD_COUNTER);
	const struct wish wishes[] = {
		{ "d", schema, 1 << 18, 1 }, { "b", schema, 1 << 20, 1 },
		{ "e", schema, 1 << 17, 1 }, { "a", schema, 1 << 20, 4 },
		{ "c", schema, 1 << 19, 2 },
	};
	struct dart_error error;

	assert_int_equal(scrape(wishes, 5, BUDGET_TEXT_BYTES, &error), 0);
	assert_int_equal(scrape(wishes, 5, BUDGET_CELL_BYTES, &error), -EFBIG);
	assert_non_null(strstr(
		error.text,
		"most for 'a' (4 READs, 1048576 bytes), 'b' (1 READs, 1048576 bytes), 'c' (2 READs, 524288 bytes): "));
	dart_schema__free(schema);
}

/* Copies far apart in one region: one READ also fetches the bytes between them. */
static void test_sparse(void **state)
{
	struct dart_schema *schema = schema_of(8, DART_CONTROL_FIELD_COUNTER);
	const struct wish wish = { "sparse", schema, 2, 1 };
	const struct scraper_use use = { .value_bytes = BUDGET_TEXT_BYTES };
	const struct settings all = { };
	struct dart_table *table = table_of(&wish, 1);
	struct scraper *scraper;
	struct dart_error error;

	table->memory_regions[0].length = 1ULL << 40;
	table->entries[0].ranges[0].stride = 1ULL << 39;
	assert_int_equal(scraper__new(table, &all, &use, &accept_of_agent, &scraper, &error),
			 -EFBIG);
	assert_non_null(strstr(error.text, "'sparse' (1 READs, 16 bytes)"));
	dart_schema__free(schema);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("a pattern chooses all entries that match it, each once", test_patterns),
		TEST("a name that looks like a pattern chooses the entry of this name", test_names),
		TEST("a name without an interval finds the entry that is gathered most often, unless there is one of this name",
		     test_gathered),
		TEST("a name or pattern that chooses no entry is absent", test_absent),
		TEST("a scrape may have 100,000 READs", test_many_reads),
		TEST("a table with more text than the budget is refused by name", test_large_text),
		TEST("a scrape that is too large is refused with its three largest entries, the largest first",
		     test_largest),
		TEST("a READ of more bytes than a table may describe is refused", test_sparse),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
