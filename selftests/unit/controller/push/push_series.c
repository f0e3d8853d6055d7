// SPDX-License-Identifier: GPL-2.0-only
/* Blocks of the points of a target, and marks of series that ended. */
#include "push_series_scene.h"

static const char *const label_names[] = { "job" };

/* Like the second plan, but labels of the target get other names next to it. */
static struct metric_plan colliding = {
	.families = families,
	.family_count = 3,
	.series = fewer,
	.series_count = 2,
	.label_names = label_names,
	.label_name_count = 1,
};

/* Gives all points the value @value and this time. */
static void scrape(struct fixture *fixture, struct metric_plan *plan, double value, int64_t time_ns)
{
	const struct metric_scrape made = {
		.plan = plan,
		.points = fixture->points,
		.time_ns = time_ns,
	};
	uint32_t i;

	for (i = 0; i < plan->series_count; i++)
		fixture->points[i] = (struct metric_point){ value, time_ns };
	fixture->now_ns += SECOND;
	series__add(fixture->series, &fixture->rules, &fixture->target, NULL,
		    &made, fixture->now_ns);
}

static void test_markers(void **state)
{
	struct fixture fixture;

	begin(&fixture);
	scrape(&fixture, &first, 1, SECOND);
	expect(&fixture, "a@1000=1 bx=\"1\"@1000=1 bx=\"2\"@1000=1 c@1000=1 ; ");
	scrape(&fixture, &second, 2, 2 * SECOND);
	expect(&fixture, "a@2000 ends bx=\"1\"@2000 ends c@2000 ends ; "
			 "bx=\"2\"@2000=2 bx=\"3\"@2000=2 ; ");
	series__end(fixture.series, &fixture.rules, 3 * SECOND);
	expect(&fixture, "bx=\"2\"@3000 ends bx=\"3\"@3000 ends ; ");
	/* No series ends twice, and a series that returns goes on. */
	series__end(fixture.series, &fixture.rules, 4 * SECOND);
	expect(&fixture, "");
	scrape(&fixture, &first, 5, 5 * SECOND);
	expect(&fixture, "a@5000=5 bx=\"1\"@5000=5 bx=\"2\"@5000=5 c@5000=5 ; ");
	end(&fixture);
}

/* A mark is later than the last sample, and a sample later than a mark. */
static void test_marker_times(void **state)
{
	struct fixture fixture;

	begin(&fixture);
	scrape(&fixture, &second, 1, SECOND);
	fixture.text[0] = '\0';
	series__end(fixture.series, &fixture.rules, SECOND / 2);
	expect(&fixture, "bx=\"2\"@1001 ends bx=\"3\"@1001 ends ; ");
	scrape(&fixture, &second, 2, SECOND + 1000000);
	assert_int_equal(atomic_load(&fixture.rules.repeated), 2);
	scrape(&fixture, &second, 3, SECOND + 2000000);
	expect(&fixture, "; bx=\"2\"@1002=3 bx=\"3\"@1002=3 ; ");
	end(&fixture);
}

static void test_no_markers(void **state)
{
	struct fixture fixture;

	begin(&fixture);
	fixture.rules.has_markers = false;
	scrape(&fixture, &first, 1, SECOND);
	fixture.text[0] = '\0';
	scrape(&fixture, &second, 2, 2 * SECOND);
	series__end(fixture.series, &fixture.rules, 3 * SECOND);
	expect(&fixture, "bx=\"2\"@2000=2 bx=\"3\"@2000=2 ; ");
	end(&fixture);
}

static void test_repeated(void **state)
{
	struct fixture fixture;

	begin(&fixture);
	scrape(&fixture, &second, 1, SECOND);
	/* In the same ms, at the same time, and before. */
	scrape(&fixture, &second, 2, SECOND + 999999);
	scrape(&fixture, &second, 3, SECOND);
	scrape(&fixture, &second, 4, SECOND / 2);
	scrape(&fixture, &second, 5, SECOND + 1000000);
	/* Torn rows carry no time. */
	scrape(&fixture, &second, 6, 0);
	expect(&fixture, "bx=\"2\"@1000=1 bx=\"3\"@1000=1 ; ; ; ; "
			 "bx=\"2\"@1001=5 bx=\"3\"@1001=5 ; ; ");
	assert_int_equal(atomic_load(&fixture.rules.repeated), 4);
	assert_int_equal(atomic_load(&fixture.rules.older), 2);
	end(&fixture);
}

/* The rows of a lost target that were READ before are repeats, not older rows. */
static void test_lost(void **state)
{
	struct fixture fixture;

	begin(&fixture);
	scrape_rows(&fixture, &second, 1, 2 * SECOND, SECOND);
	series__end(fixture.series, &fixture.rules, 3 * SECOND);
	fixture.text[0] = '\0';
	scrape_rows(&fixture, &second, 1, 4 * SECOND, SECOND);
	expect(&fixture, "; ");
	assert_int_equal(atomic_load(&fixture.rules.repeated), 2);
	assert_int_equal(atomic_load(&fixture.rules.older), 0);
	/* Nothing ends that had no sample since. */
	series__end(fixture.series, &fixture.rules, 5 * SECOND);
	expect(&fixture, "; ");
	end(&fixture);
}

/* Samples that a receiver would refuse together with the rest of their message. */
static void test_old(void **state)
{
	struct fixture fixture;

	begin(&fixture);
	scrape_rows(&fixture, &second, 1, 3600 * SECOND, 2999 * SECOND);
	expect(&fixture, "; ");
	assert_int_equal(atomic_load(&fixture.rules.older), 2);
	/* Once: a row that is not written again is repeated. */
	scrape_rows(&fixture, &second, 1, 3601 * SECOND, 2999 * SECOND);
	expect(&fixture, "; ");
	assert_int_equal(atomic_load(&fixture.rules.older), 2);
	assert_int_equal(atomic_load(&fixture.rules.repeated), 2);
	scrape_rows(&fixture, &second, 2, 3600 * SECOND, 3000 * SECOND);
	expect(&fixture, "bx=\"2\"@3000000=2 bx=\"3\"@3000000=2 ; ");
	end(&fixture);
}

/* The controller's clock: an hour forward, and back. */
static void test_clock_set(void **state)
{
	struct fixture fixture;

	begin(&fixture);
	scrape(&fixture, &second, 1, 1000 * SECOND);
	scrape(&fixture, &second, 2, 4601 * SECOND);
	fixture.text[0] = '\0';
	scrape(&fixture, &second, 3, 1002 * SECOND);
	scrape(&fixture, &second, 4, 4600 * SECOND);
	expect(&fixture, "; ; ");
	assert_int_equal(atomic_load(&fixture.rules.older), 4);
	assert_int_equal(atomic_load(&fixture.rules.repeated), 0);
	scrape(&fixture, &second, 5, 4602 * SECOND);
	expect(&fixture, "bx=\"2\"@4602000=5 bx=\"3\"@4602000=5 ; ");

	/* It is said of a target that is made again, too. */
	series__end(fixture.series, &fixture.rules, 4603 * SECOND);
	series__free(fixture.series, &fixture.rules);
	fixture.series = series__new();
	fixture.text[0] = '\0';
	scrape(&fixture, &second, 6, 1003 * SECOND);
	expect(&fixture, "; ");
	assert_int_equal(atomic_load(&fixture.rules.older), 6);
	scrape(&fixture, &second, 6, 4604 * SECOND);
	fixture.text[0] = '\0';

	/* Without marks there is no order, and nothing is dropped. */
	fixture.rules.has_markers = false;
	scrape(&fixture, &second, 6, 1003 * SECOND);
	expect(&fixture, "bx=\"2\"@1003000=6 bx=\"3\"@1003000=6 ; ");
	assert_int_equal(atomic_load(&fixture.rules.older), 6);
	end(&fixture);
}

/* Five scrapes of 1 s go together; the first alone. */
static void test_delay(void **state)
{
	struct fixture fixture;
	unsigned int i;

	begin(&fixture);
	fixture.rules.delay_ns = 5 * SECOND;
	for (i = 1; i <= 11; i++)
		scrape(&fixture, &second, i, i * SECOND);
	assert_int_equal(fixture.blocks, 2);
	series__end(fixture.series, &fixture.rules, 12 * SECOND);
	assert_int_equal(fixture.blocks, 4);
	/* A request takes two samples: more scrapes would cut a series, more series do not. */
	fixture.rules.batch = 2;
	for (i = 13; i <= 16; i++)
		scrape(&fixture, &second, i, i * SECOND);
	assert_int_equal(fixture.blocks, 6);
	end(&fixture);
}

static void test_labels(void **state)
{
	struct fixture fixture;

	begin(&fixture);
	fixture.target.labels = shared_text__new("{\"rack\":\"1\"}");
	scrape(&fixture, &second, 1, SECOND);
	shared_text__release(fixture.target.labels);
	/* Equal texts are the same labels. */
	fixture.target.labels = shared_text__new("{\"rack\":\"1\"}");
	scrape(&fixture, &second, 2, 2 * SECOND);
	shared_text__release(fixture.target.labels);
	fixture.text[0] = '\0';
	fixture.target.labels = shared_text__new("{\"rack\":\"2\"}");
	scrape(&fixture, &second, 3, 3 * SECOND);
	expect(&fixture, "bx=\"2\"@3000 ends bx=\"3\"@3000 ends ; "
			 "bx=\"2\"@3000=3 bx=\"3\"@3000=3 ; ");
	fixture.text[0] = '\0';
	scrape(&fixture, &colliding, 4, 4 * SECOND);
	expect(&fixture, "bx=\"2\"@4000 ends bx=\"3\"@4000 ends ; "
			 "bx=\"2\"@4000=4 bx=\"3\"@4000=4 ; ");
	end(&fixture);
	shared_text__release(fixture.target.labels);
}

static void test_bound(void **state)
{
	struct fixture fixture;
	unsigned int i;

	begin(&fixture);
	fixture.rules.delay_ns = 1000 * SECOND;
	fixture.rules.bound = sizeof(struct block) - 1;
	scrape(&fixture, &second, 1, SECOND);
	assert_int_equal(atomic_load(&fixture.rules.dropped), 2);
	assert_int_equal(fixture.blocks, 0);
	/* Samples that would not be sent do not count as dropped. */
	scrape(&fixture, &second, 1, 0);
	assert_int_equal(atomic_load(&fixture.rules.dropped), 2);
	/* From half of the bound on nothing waits. */
	fixture.rules.bound = 3 * sizeof(struct block);
	for (i = 2; i <= 60; i++) {
		scrape(&fixture, &second, i, i * SECOND);
		assert_true(atomic_load(&fixture.rules.bytes) <= fixture.rules.bound);
	}
	assert_true(fixture.blocks > 2);
	assert_int_equal(atomic_load(&fixture.rules.dropped), 2);
	fixture.rules.bound = 1;
	series__end(fixture.series, &fixture.rules, 61 * SECOND);
	assert_int_equal(atomic_load(&fixture.rules.dropped), 4);
	end(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("series that a plan no longer has end, and so do all of a target that is lost",
		     test_markers),
		TEST("marks and samples of a series have times that grow", test_marker_times),
		TEST("without marks series only stop", test_no_markers),
		TEST("a point that is not after the one before is left out and counted",
		     test_repeated),
		TEST("rows that were READ before a target was lost are repeated", test_lost),
		TEST("a point ten minutes before its scrape is left out and counted", test_old),
		TEST("after the clock was set back samples are dropped and counted as older",
		     test_clock_set),
		TEST("scrapes wait for others, up to the delay and the batch", test_delay),
		TEST("other labels of a target are other series", test_labels),
		TEST("blocks stay within the bound", test_bound),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
