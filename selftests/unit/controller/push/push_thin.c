// SPDX-License-Identifier: GPL-2.0-only
/* Outputs that send fewer samples than there are scrapes. */
#include "push_series_scene.h"

static const struct metric_family kinds[] = {
	{ .name = "count", .type = METRIC_COUNTER, .series_count = 1 },
	{ .name = "level", .type = METRIC_GAUGE, .first_series = 1, .series_count = 1 },
};

static const struct metric_series two[] = {
	{ .family = 0, .name = "count", .text = "" },
	{ .family = 1, .name = "level", .text = "" },
};

static struct metric_plan plan = {
	.families = kinds,
	.family_count = 2,
	.series = two,
	.series_count = 2,
};

static void begin_thin(struct fixture *fixture, uint64_t every_ns, enum receiver_gauges gauges)
{
	begin(fixture);
	fixture->rules.every_ns = every_ns;
	fixture->rules.gauges = gauges;
}

/* A scrape in ms of both series; a value of NAN is none. */
static void scrape(struct fixture *fixture, int64_t ms, double count, double level)
{
	const int64_t time_ns = ms * 1000000;
	const struct metric_point points[] = {
		{ count, count == count ? time_ns : 0 },
		{ level, level == level ? time_ns : 0 },
	};
	const struct metric_scrape made = {
		.plan = &plan,
		.points = points,
		.time_ns = time_ns,
	};

	series__add(fixture->series, &fixture->rules, &fixture->target, NULL, &made, time_ns);
}

#define NONE (0.0 / 0.0)

static void test_periods(void **state)
{
	struct fixture fixture;
	int i;

	begin_thin(&fixture, 10 * SECOND, RECEIVER_GAUGES_LAST);
	/* The first scrape is sent at once, then one for each multiple of 10 s. */
	for (i = 12; i <= 45; i++)
		scrape(&fixture, i * 1000, i, 100 + i);
	expect(&fixture, "count@12000=12 level@12000=112 ; count@20000=20 level@20000=120 ; "
			 "count@30000=30 level@30000=130 ; count@40000=40 level@40000=140 ; ");
	/* The end of the series sends what is left, before the markers. */
	series__end(fixture.series, &fixture.rules, 46 * SECOND);
	expect(&fixture, "count@45000=45 level@45000=145 ; count@46000 ends level@46000 ends ; ");
	assert_int_equal(atomic_load(&fixture.rules.dropped), 0);
	end(&fixture);
}

static void test_gauges(void **state)
{
	static const struct {
		enum receiver_gauges gauges;
		const char *level;
	} kinds_of[] = {
		{ RECEIVER_GAUGES_LAST, "6" },
		{ RECEIVER_GAUGES_MEAN, "4" },
		{ RECEIVER_GAUGES_MIN, "1" },
		{ RECEIVER_GAUGES_MAX, "6" },
	};
	struct fixture fixture;
	char text[200];
	size_t i;

	for (i = 0; i < sizeof(kinds_of) / sizeof(*kinds_of); i++) {
		begin_thin(&fixture, SECOND, kinds_of[i].gauges);
		scrape(&fixture, 2000, 1, 9);
		expect(&fixture, "count@2000=1 level@2000=9 ; ");
		/* Without the scrape that ended the period before. */
		scrape(&fixture, 2200, 2, 1);
		/* A row that was torn, and one that comes for it alone. */
		scrape(&fixture, 2500, NONE, NONE);
		scrape(&fixture, 2700, NONE, 5);
		scrape(&fixture, 3000, 5, 6);
		snprintf(text, sizeof(text), "count@3000=5 level@3000=%s ; ", kinds_of[i].level);
		expect(&fixture, text);
		scrape(&fixture, 3500, 7, 8);
		/* A value that is torn when the period ends is the last one before. */
		scrape(&fixture, 4100, NONE, 8);
		expect(&fixture, "count@3500=7 level@4100=8 ; ");
		end(&fixture);
	}
}

/* Another plan: series that go on keep their period, and what is left of the others is sent. */
static void test_plans(void **state)
{
	struct fixture fixture;

	begin_thin(&fixture, 10 * SECOND, RECEIVER_GAUGES_LAST);
	scrape_rows(&fixture, &first, 1, 20 * SECOND, 20 * SECOND);
	fixture.text[0] = '\0';
	scrape_rows(&fixture, &first, 2, 21 * SECOND, 21 * SECOND);
	scrape_rows(&fixture, &second, 3, 22 * SECOND, 22 * SECOND);
	expect(&fixture, "a@21000=2 bx=\"1\"@21000=2 bx=\"2\"@21000=2 c@21000=2 ; "
			 "a@22000 ends bx=\"1\"@22000 ends c@22000 ends ; ");
	scrape_rows(&fixture, &second, 4, 29 * SECOND, 29 * SECOND);
	expect(&fixture, "");
	scrape_rows(&fixture, &second, 5, 30 * SECOND, 30 * SECOND);
	expect(&fixture, "bx=\"2\"@30000=5 bx=\"3\"@30000=5 ; ");
	end(&fixture);
}

/* Whether a target is up is told at once when it changes. */
static void test_changes(void **state)
{
	struct fixture fixture;

	begin_thin(&fixture, 10 * SECOND, RECEIVER_GAUGES_MEAN);
	series__keep_changes(fixture.series);
	scrape(&fixture, 20000, NONE, 1);
	scrape(&fixture, 21000, NONE, 1);
	scrape(&fixture, 22000, NONE, 0);
	scrape(&fixture, 23000, NONE, 0);
	scrape(&fixture, 24000, NONE, 1);
	scrape(&fixture, 29000, NONE, 1);
	scrape(&fixture, 30000, NONE, 1);
	expect(&fixture, "level@20000=1 ; level@22000=0 ; level@24000=1 ; level@30000=1 ; ");
	/* And it has no mean. */
	scrape(&fixture, 31000, NONE, 1);
	scrape(&fixture, 32000, NONE, 1);
	series__end(fixture.series, &fixture.rules, 0);
	expect(&fixture, "level@32000=1 ; level@32001 ends ; ");
	end(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("a sample of each series is sent for each period, and at the end the last one",
		     test_periods),
		TEST("a gauge is its last value, mean, minimum or maximum; a counter the last value",
		     test_gauges),
		TEST("a period goes on with another plan", test_plans),
		TEST("changes of up are sent at once", test_changes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
