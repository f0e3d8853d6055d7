// SPDX-License-Identifier: GPL-2.0-only
/* Blocks of the points of a target, and marks of series that ended. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/controller/push/series.h"
#include "unit.h"

#define SECOND 1000000000LL

static const struct metric_family families[] = { { .name = "a" },
						 { .name = "b" },
						 { .name = "c" } };
static const struct metric_series all[] = {
	{ .family = 0, .name = "a", .text = "" },
	{ .family = 1, .name = "b", .text = "x=\"1\"" },
	{ .family = 1, .name = "b", .text = "x=\"2\"" },
	{ .family = 2, .name = "c", .text = "" },
};
static const struct metric_series fewer[] = {
	{ .family = 1, .name = "b", .text = "x=\"2\"" },
	{ .family = 1, .name = "b", .text = "x=\"3\"" },
};

static struct metric_plan first = {
	.families = families,
	.family_count = 3,
	.series = all,
	.series_count = 4,
};
static struct metric_plan second = {
	.families = families,
	.family_count = 3,
	.series = fewer,
	.series_count = 2,
};
static const char *const label_names[] = { "job" };
/* As the second, but labels of the target have other names beside it. */
static struct metric_plan colliding = {
	.families = families,
	.family_count = 3,
	.series = fewer,
	.series_count = 2,
	.label_names = label_names,
	.label_name_count = 1,
};
static int holders;

struct metric_plan *metric_plan__get(struct metric_plan *plan)
{
	holders++;
	return plan;
}

void metric_plan__put(struct metric_plan *plan)
{
	holders--;
}

struct fixture {
	struct series *series;
	struct series_rules rules;
	struct target_settings target;
	struct metric_point points[4];
	char text[4000];	/* of blocks: "a@1=1 ...;" */
	unsigned int blocks;
	uint64_t now_ns;	/* CLOCK_MONOTONIC: a second later at each scrape */
};

static char host[] = "h:1";

/* Prints the points of a block, in ms. */
static void take(void *data, struct block *block)
{
	struct fixture *fixture = data;
	char *to = fixture->text + strlen(fixture->text);
	const struct metric_series *series;
	const struct metric_point *point;
	uint64_t bits, samples = 0;
	uint32_t i, j;

	fixture->blocks++;
	for (i = 0; i < block->scrapes; i++) {
		for (j = 0; j < block->plan->series_count; j++) {
			series = block->plan->series + j;
			point = block->rows[i] + j;
			if (!point->time_ns)
				continue;
			samples++;
			memcpy(&bits, &point->value, sizeof(bits));
			to += sprintf(to, "%s%s@%" PRId64, series->name,
				      series->text, point->time_ns / 1000000);
			to += bits == 0x7ff0000000000002 ?
				      sprintf(to, " ends ") :
				      sprintf(to, "=%g ", point->value);
		}
	}
	sprintf(to, "; ");
	assert_int_equal(samples, block->samples);
	atomic_fetch_sub(&fixture->rules.bytes, block->bytes);
	block__free(block);
}

static void begin(struct fixture *fixture)
{
	*fixture = (struct fixture){
		.series = series__new(),
		.rules = {
			.precision_ns = 1000000,
			.has_markers = true,
			.batch = 1000,
			.bound = 1 << 20,
			.take = take,
		},
		.target.name = host,
	};
	fixture->rules.data = fixture;
	assert_non_null(fixture->series);
}

static void end(struct fixture *fixture)
{
	series__free(fixture->series, &fixture->rules);
	assert_int_equal(holders, 0);
	assert_int_equal(atomic_load(&fixture->rules.bytes), 0);
}

/* All points have the value @value and this time. */
static void scrape(struct fixture *fixture, struct metric_plan *plan,
		   double value, int64_t time_ns)
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

static void expect(struct fixture *fixture, const char *text)
{
	assert_string_equal(fixture->text, text);
	fixture->text[0] = '\0';
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
	/* Nothing ends twice, and what comes again goes on. */
	series__end(fixture.series, &fixture.rules, 4 * SECOND);
	expect(&fixture, "");
	scrape(&fixture, &first, 5, 5 * SECOND);
	expect(&fixture, "a@5000=5 bx=\"1\"@5000=5 bx=\"2\"@5000=5 c@5000=5 ; ");
	end(&fixture);
}

/* A mark is behind the last sample, and a sample behind a mark. */
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
	/* Torn rows have no time. */
	scrape(&fixture, &second, 6, 0);
	expect(&fixture, "bx=\"2\"@1000=1 bx=\"3\"@1000=1 ; ; ; ; "
			 "bx=\"2\"@1001=5 bx=\"3\"@1001=5 ; ; ");
	assert_int_equal(atomic_load(&fixture.rules.repeated), 6);
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
	/* Blocks are full at the batch before. */
	fixture.rules.batch = 4;
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
	/* What would not have been sent is not dropped. */
	scrape(&fixture, &second, 1, 0);
	assert_int_equal(atomic_load(&fixture.rules.dropped), 2);
	/* From half of it on nothing waits. */
	fixture.rules.bound = 3 * sizeof(struct block);
	for (i = 2; i <= 60; i++) {
		scrape(&fixture, &second, i, i * SECOND);
		assert_true(atomic_load(&fixture.rules.bytes) <=
			    fixture.rules.bound);
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
		TEST("marks and samples of a series have times that grow",
		     test_marker_times),
		TEST("without marks series only stop", test_no_markers),
		TEST("a point that is not after the one before is left out and counted",
		     test_repeated),
		TEST("scrapes wait for others, up to the delay and the batch",
		     test_delay),
		TEST("other labels of a target are other series", test_labels),
		TEST("blocks stay within the bound", test_bound),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
