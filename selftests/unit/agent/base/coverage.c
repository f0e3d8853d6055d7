// SPDX-License-Identifier: GPL-2.0-only
/* The counts of objects that are served, and of the rest by reason. */
#include <errno.h>
#include <string.h>

#include "agent/base/coverage.h"
#include "selftests/unit/unit.h"

#define OBJECTS 64

static const struct dart_error why = { "the reason" };

static void test_move(void **state)
{
	struct coverage_place place = {};
	struct coverage_tally tally;

	coverage_tally__open(&tally);
	coverage_tally__stage(&tally, &place, "a");
	assert_int_equal(tally.present, 1);
	assert_int_equal(tally.served, 0);
	coverage_tally__publish(&tally);
	assert_int_equal(tally.served, 1);
	assert_false(coverage_place__is_missing(&place));
	coverage_tally__miss(&tally, &place, COVERAGE_TABLE, "a", &why);
	assert_int_equal(tally.present, 1);
	assert_int_equal(tally.served, 0);
	assert_int_equal(coverage_place__reason(&place), COVERAGE_TABLE);
	assert_string_equal(coverage_tally__example(&tally, COVERAGE_TABLE), "a");
	assert_int_equal(coverage_tally__passing(&tally), 1);
	coverage_tally__forget(&tally, &place);
	coverage_tally__forget(&tally, &place);
	assert_int_equal(tally.present, 0);
	assert_int_equal(coverage_tally__missing(&tally), 0);
	assert_null(coverage_tally__example(&tally, COVERAGE_TABLE));
}

/* The batch in which an object was registered could not be published. */
static void test_withdraw(void **state)
{
	struct coverage_place served = {}, staged = {};
	struct coverage_tally tally;

	coverage_tally__open(&tally);
	coverage_tally__stage(&tally, &served, "served");
	coverage_tally__publish(&tally);
	coverage_tally__stage(&tally, &staged, "staged");
	coverage_tally__withdraw(&tally, COVERAGE_MEMORY, &why);
	assert_int_equal(tally.served, 1);
	assert_int_equal(tally.missing[COVERAGE_MEMORY].count, 1);
	assert_true(coverage_place__is_missing(&staged));
	assert_false(coverage_place__is_missing(&served));
}

/* An object that lacks the values is neither present nor missing, and counts by itself. */
static void test_lacking(void **state)
{
	struct coverage_place object = {};
	struct coverage_tally tally;

	coverage_tally__open(&tally);
	coverage_tally__stage(&tally, &object, "object");
	coverage_tally__lack(&tally, &object);
	coverage_tally__lack(&tally, &object);
	assert_int_equal(tally.lacking, 1);
	assert_int_equal(tally.present, 0);
	assert_int_equal(coverage_tally__missing(&tally), 0);
	assert_false(coverage_place__is_missing(&object));
	coverage_tally__stage(&tally, &object, "object");
	assert_int_equal(tally.lacking, 0);
	assert_int_equal(tally.present, 1);
	coverage_tally__lack(&tally, &object);
	coverage_tally__forget(&tally, &object);
	assert_int_equal(tally.lacking, 0);
}

/* For an object without a record only the name is known. */
static void test_unplaced(void **state)
{
	struct coverage_tally tally;
	char name[] = "lost";

	coverage_tally__open(&tally);
	coverage_tally__miss(&tally, NULL, COVERAGE_WATCHES, name, &why);
	coverage_tally__miss(&tally, NULL, COVERAGE_WATCHES, "other", &why);
	name[0] = '\0';
	assert_int_equal(tally.present, 2);
	assert_string_equal(coverage_tally__example(&tally, COVERAGE_WATCHES), "lost");
	coverage_tally__forget_unplaced(&tally);
	assert_int_equal(tally.present, 0);
	assert_int_equal(coverage_tally__missing(&tally), 0);
	assert_null(coverage_tally__example(&tally, COVERAGE_WATCHES));
}

/* After any changes: present = served + missing, and each example is missing for its reason. */
static void test_random(void **state)
{
	struct coverage_place places[OBJECTS] = {};
	struct coverage_tally tally;
	uint64_t seed = 7;
	const char *example;
	uint32_t object;
	int i, reason;

	coverage_tally__open(&tally);
	for (i = 0; i < 20000; i++) {
		object = random__below(&seed, OBJECTS);
		reason = random__below(&seed, COVERAGE_REASONS + 3);
		if (reason < COVERAGE_REASONS)
			coverage_tally__miss(&tally, &places[object], reason,
					     (const char *)&places[object], &why);
		else if (reason == COVERAGE_REASONS)
			coverage_tally__forget(&tally, &places[object]);
		else if (reason == COVERAGE_REASONS + 1)
			coverage_tally__lack(&tally, &places[object]);
		else
			coverage_tally__stage(&tally, &places[object],
					      (const char *)&places[object]);
		if (random__below(&seed, 4))
			coverage_tally__publish(&tally);
		else
			coverage_tally__withdraw(&tally, COVERAGE_OTHER, &why);
		assert_int_equal(tally.present, tally.served + coverage_tally__missing(&tally));
		for (reason = 0; reason < COVERAGE_REASONS; reason++) {
			example = coverage_tally__example(&tally, reason);
			assert_int_equal(!!example, !!tally.missing[reason].count);
			if (example)
				assert_int_equal(coverage_place__reason(
							 (const struct coverage_place *)example),
						 reason);
		}
	}
}

/* Each reason of a temporary error is a reason that is retried. */
static void test_reasons(void **state)
{
	assert_int_equal(coverage__reason_of(ENOMEM), COVERAGE_MEMORY);
	assert_int_equal(coverage__reason_of(ENOSPC), COVERAGE_TABLE);
	assert_int_equal(coverage__reason_of(ENAMETOOLONG), COVERAGE_NAME);
	assert_int_equal(coverage__reason_of(EDQUOT), COVERAGE_QUOTA);
	assert_int_equal(coverage__reason_of(EPERM), COVERAGE_PERMISSION);
	assert_int_equal(coverage__reason_of(EOPNOTSUPP), COVERAGE_UNSUPPORTED);
	assert_int_equal(coverage__reason_of(ENODATA), COVERAGE_UNSUPPORTED);
	assert_int_equal(coverage__reason_of(E2BIG), COVERAGE_UNSUPPORTED);
	assert_int_equal(coverage__reason_of(EIO), COVERAGE_OTHER);
	assert_true(coverage__can_pass(COVERAGE_WATCHES));
	assert_true(coverage__can_pass(COVERAGE_NAME));
	assert_false(coverage__can_pass(COVERAGE_UNSUPPORTED));
	assert_false(coverage__can_pass(COVERAGE_UNREGISTERED));
}

/* The remedy is in parentheses at the end of the sentence, or depends on the reason. */
static void test_remedies(void **state)
{
	char remedy[DART_ERROR_MAX], cut_off[DART_ERROR_MAX];
	const char *why = "the region is full (unregister something first)";

	assert_int_equal(coverage__remedy(remedy, COVERAGE_DISKS, COVERAGE_TABLE, "sda", why),
			 strlen("the region is full"));
	assert_string_equal(remedy, "unregister something first");
	why = "the kernel is locked down (see kernel_lockdown(7))";
	assert_int_equal(coverage__remedy(remedy, COVERAGE_SOURCES,
					  COVERAGE_PERMISSION, "cpustat", why),
			 strlen(why));
	assert_non_null(strstr(remedy, "capabilities"));
	memset(cut_off, ' ', sizeof(cut_off));
	strcpy(cut_off + sizeof(cut_off) - 12, " (rm -rf x)");
	coverage__remedy(remedy, COVERAGE_CGROUPS, COVERAGE_OTHER, "/a", cut_off);
	assert_null(strstr(remedy, "rm"));
	coverage__remedy(remedy, COVERAGE_PROBES, COVERAGE_UNREGISTERED, "biolat", "");
	assert_string_equal(remedy, "dartctl probe load biolat");
	coverage__remedy(remedy, COVERAGE_MAPS, COVERAGE_UNREGISTERED, "7 (counts)", "");
	assert_string_equal(remedy, "dartctl register map id 7");
	coverage__remedy(remedy, COVERAGE_CGROUPS, COVERAGE_UNREGISTERED, "/a", "");
	assert_string_equal(remedy, "dartctl register host");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("an object moves between served and missing", test_move),
		TEST("an unpublished batch leaves its objects out", test_withdraw),
		TEST("an object that lacks the values is not missing", test_lacking),
		TEST("objects without a record count until the next look", test_unplaced),
		TEST("the counts agree after any changes", test_random),
		TEST("each reason has its remedy", test_remedies),
		TEST("errors have their reasons", test_reasons),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
