// SPDX-License-Identifier: GPL-2.0-only
/* When scrapes are due. */
#include <string.h>

#include "selftests/unit/unit.h"
#include "tools/controller/base/schedule.h"

#define SECOND 1000000000ULL

/* Each target keeps its slot of the interval, whenever its schedule starts. */
static void test_phase(void **state)
{
	static const uint64_t intervals[] = { 1, 2, 1000000, 100000000, SECOND, 3600 * SECOND };
	uint64_t random = 11, now, interval;
	struct schedule schedule;

	for (int i = 0; i < 10000; i++) {
		interval = intervals[i % 6];
		now = random__below(&random, UINT32_MAX) * SECOND + random__below(&random, SECOND);
		schedule = (struct schedule){
			.interval_ns = interval,
			.phase = (uint64_t)random__below(&random, UINT32_MAX)
				 << random__below(&random, 33),
		};
		schedule__start(&schedule, now);
		assert_int_equal(schedule.next_ns % interval,
				 schedule__phase_ns(&schedule, interval));
		assert_in_range(schedule.next_ns, now + interval / 2,
				now + interval / 2 + interval - 1);
	}
}

/*
 * Ten thousand targets share slots of a millisecond; in a short interval no slot has more than about
 * its share of a 64th.
 */
static void test_slots(void **state)
{
	enum { TARGETS = 10000 };
	static const struct {
		uint64_t interval;
		uint32_t slots, most; /* of targets in a slot */
	} cases[] = {
		{ SECOND, 1000, 30 },
		{ SECOND / 10, 100, 150 },
		{ 5000000, 64, 220 },
		{ 10, 10, 1150 },
	};
	uint32_t counts[1000], used, i, c;
	uint64_t random = 3, phase;

	for (c = 0; c < sizeof(cases) / sizeof(*cases); c++) {
		const uint64_t slot = cases[c].interval / cases[c].slots;

		memset(counts, 0, sizeof(counts));
		for (i = 0; i < TARGETS; i++) {
			const struct schedule schedule = {
				.phase = (uint64_t)random__below(&random, UINT32_MAX) << 31 ^
					 random__below(&random, UINT32_MAX),
			};

			phase = schedule__phase_ns(&schedule, cases[c].interval);
			assert_true(phase < cases[c].interval);
			assert_int_equal(phase % slot, 0);
			counts[phase / slot]++;
		}
		for (i = 0, used = 0; i < 1000; i++) {
			used += counts[i] != 0;
			assert_true(counts[i] <= cases[c].most);
		}
		assert_int_equal(used, cases[c].slots);
	}
}

/* A late scrape does not delay the following ones. */
static void test_drift(void **state)
{
	struct schedule schedule = { .interval_ns = SECOND };
	uint64_t first;

	schedule__start(&schedule, 100 * SECOND);
	first = schedule.next_ns;
	assert_int_equal(schedule__take(&schedule, first - 1), 0);
	assert_int_equal(schedule__take(&schedule, first + 400000000), 1);
	assert_int_equal(schedule.next_ns, first + SECOND);
	assert_int_equal(schedule__take(&schedule, first + 5 * SECOND), 5);
	assert_int_equal(schedule.next_ns, first + 6 * SECOND);
}

/* From standby to scraping, at once; and back, within the new interval; at the phase of the target. */
static void test_change(void **state)
{
	static const uint64_t intervals[] = { 1, 3, 1000000, 100000000, SECOND, 60 * SECOND };
	struct schedule schedule = { .interval_ns = SECOND, .phase = 12345 };
	uint64_t random = 5, now = 1000 * SECOND, interval, before;

	schedule__change(&schedule, 60 * SECOND, now);
	assert_int_equal(schedule.interval_ns, 60 * SECOND);
	assert_int_equal(schedule.next_ns, 0); /* it starts after the first scrape */
	schedule__start(&schedule, now);
	for (int i = 0; i < 10000; i++) {
		interval = intervals[random__below(&random, 6)];
		now += random__below(&random, SECOND);
		before = schedule.interval_ns;
		schedule__change(&schedule, interval, now);
		assert_int_equal(schedule.interval_ns, interval);
		assert_int_equal(schedule.next_ns % interval,
				 schedule__phase_ns(&schedule, interval));
		if (interval < before) {
			assert_in_range(schedule.next_ns, now - interval + 1, now);
			assert_int_equal(schedule__take(&schedule, now), 1);
			assert_in_range(schedule.next_ns, now + 1, now + interval);
		} else {
			assert_in_range(schedule.next_ns, now, now + interval - 1);
		}
	}
}

static void test_extra(void **state)
{
	struct schedule schedule = { .interval_ns = SECOND };
	unsigned int extra = 0;
	uint64_t now;

	while (schedule__take_extra(&schedule, 100 * SECOND))
		extra++;
	assert_int_equal(extra, SCHEDULE_EXTRA_MOST);
	/* Wanted each 10 ms. */
	for (now = 100 * SECOND; now <= 200 * SECOND; now += SECOND / 100)
		extra += schedule__take_extra(&schedule, now);
	assert_int_equal(extra, SCHEDULE_EXTRA_MOST + 100);
	assert_int_equal(schedule.next_ns, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("the second scrape is at the time of the target, between half an interval and one and a half behind the first",
		     test_phase),
		TEST("targets share slots of a millisecond, or of a 64th of a short interval",
		     test_slots),
		TEST("there are no more extra scrapes than due ones on average, and eight at once",
		     test_extra),
		TEST("when the interval becomes shorter, a scrape is due at once, otherwise within the new one, then at the time of the target",
		     test_change),
		TEST("a late scrape does not delay the next, and missed ones are counted",
		     test_drift),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
