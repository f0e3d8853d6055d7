// SPDX-License-Identifier: GPL-2.0-only
/* Blocks of the points of a target, and marks of series that ended. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "selftests/unit/unit.h"
#include "tools/controller/push/queue/series.h"

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
/* Like the second plan, but labels of the target get other names next to it. */
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
			to += sprintf(to, "%s%s@%" PRId64, series->name, series->text,
				      point->time_ns / 1000000);
			to += bits == 0x7ff0000000000002 ? sprintf(to, " ends ") :
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
	ended__open(&fixture->rules.ended);
	assert_non_null(fixture->series);
}

static void end(struct fixture *fixture)
{
	series__free(fixture->series, &fixture->rules);
	ended__close(&fixture->rules.ended);
	assert_int_equal(holders, 0);
	assert_int_equal(atomic_load(&fixture->rules.bytes), 0);
}

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

/* Rows that may be older than the scrape: both series carry @row_ns. */
static void scrape_rows(struct fixture *fixture, struct metric_plan *plan,
			double value, int64_t time_ns, int64_t row_ns)
{
	const struct metric_scrape made = {
		.plan = plan,
		.points = fixture->points,
		.time_ns = time_ns,
	};
	uint32_t i;

	for (i = 0; i < plan->series_count; i++)
		fixture->points[i] = (struct metric_point){ value, row_ns };
	fixture->now_ns += SECOND;
	series__add(fixture->series, &fixture->rules, &fixture->target, NULL,
		    &made, fixture->now_ns);
}

/* A reload with another interval: the first rows are older than the mark. */
static void make_again(struct metric_plan *plan)
{
	struct fixture fixture;
	int i;

	begin(&fixture);
	for (i = 0; i < 6; i++) {
		scrape_rows(&fixture, plan, 1, (10 * i + 2) * SECOND, (10 * i + 1) * SECOND);
		fixture.text[0] = '\0';
		series__end(fixture.series, &fixture.rules, (10 * i + 3) * SECOND);
		series__free(fixture.series, &fixture.rules);
		fixture.series = series__new();
		fixture.text[0] = '\0';
		scrape_rows(&fixture, plan, 2, (10 * i + 3) * SECOND, (10 * i + 1) * SECOND);
		scrape_rows(&fixture, plan, 3, (10 * i + 4) * SECOND, (10 * i + 3) * SECOND);
		expect(&fixture, "; ; ");
		scrape_rows(&fixture, plan, 4, (10 * i + 5) * SECOND, (10 * i + 4) * SECOND);
		assert_non_null(strstr(fixture.text, "=4 "));
		series__end(fixture.series, &fixture.rules, (10 * i + 6) * SECOND);
		series__free(fixture.series, &fixture.rules);
		fixture.series = series__new();
	}
	assert_int_equal(atomic_load(&fixture.rules.repeated), 12 * plan->series_count);
	assert_int_equal(atomic_load(&fixture.rules.older), 0);
	end(&fixture);
}

static void test_made_again(void **state)
{
	make_again(&first);
	make_again(&second);
}

/* An entry that goes and comes, and labels that do. */
static void test_comes_back(void **state)
{
	struct fixture fixture;

	begin(&fixture);
	scrape_rows(&fixture, &first, 1, 2 * SECOND, SECOND);
	scrape_rows(&fixture, &second, 2, 4 * SECOND, 3 * SECOND);
	fixture.text[0] = '\0';
	/* b with x="2" goes on; the rest gets a mark at 4 s. */
	scrape_rows(&fixture, &first, 3, 5 * SECOND, 4 * SECOND);
	expect(&fixture, "bx=\"3\"@5000 ends ; bx=\"2\"@4000=3 ; ");
	scrape_rows(&fixture, &first, 4, 6 * SECOND, 5 * SECOND);
	expect(&fixture, "a@5000=4 bx=\"1\"@5000=4 bx=\"2\"@5000=4 c@5000=4 ; ");

	fixture.target.labels = shared_text__new("{\"rack\":\"1\"}");
	scrape_rows(&fixture, &first, 5, 8 * SECOND, 7 * SECOND);
	shared_text__release(fixture.target.labels);
	fixture.target.labels = NULL;
	fixture.text[0] = '\0';
	scrape_rows(&fixture, &first, 6, 9 * SECOND, 8 * SECOND);
	expect(&fixture, "a@9000 ends bx=\"1\"@9000 ends bx=\"2\"@9000 ends c@9000 ends ; ; ");
	scrape_rows(&fixture, &first, 7, 10 * SECOND, 9 * SECOND);
	expect(&fixture, "a@9000=7 bx=\"1\"@9000=7 bx=\"2\"@9000=7 c@9000=7 ; ");
	assert_int_equal(atomic_load(&fixture.rules.older), 0);
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

/*
 * A receiver as strict as Prometheus: each series, identified by its labels, goes forward in time.
 */
static struct {
	int64_t last_ms[3][5];	/* by labels and series: a, three of b, c */
	uint64_t samples, markers;
} strict;

static int64_t *last_of(const struct block *block, uint32_t series)
{
	const struct metric_series *of = block->plan->series + series;
	const int number = *of->name == 'b' ? of->text[3] - '0' : *of->name == 'c' ? 4 : 0;

	/* Beside __name__, instance and job. */
	assert_in_range(block->labels->count, 3, 5);
	return &strict.last_ms[block->labels->count - 3][number];
}

static void take_strictly(void *data, struct block *block)
{
	struct fixture *fixture = data;
	const struct metric_point *point;
	uint64_t bits;
	uint32_t i, j;
	int64_t *last;

	for (i = 0; i < block->scrapes; i++) {
		for (j = 0; j < block->plan->series_count; j++) {
			point = block->rows[i] + j;
			if (!point->time_ns)
				continue;
			last = last_of(block, j);
			if (point->time_ns / 1000000 <= *last)
				fail_msg("%s at %" PRId64 " is not after %" PRId64,
					 block->plan->series[j].name,
					 point->time_ns / 1000000, *last);
			*last = point->time_ns / 1000000;
			memcpy(&bits, &point->value, sizeof(bits));
			if (bits == 0x7ff0000000000002)
				strict.markers++;
			else
				strict.samples++;
		}
	}
	atomic_fetch_sub(&fixture->rules.bytes, block->bytes);
	block__free(block);
}

/* A host whose rows are gathered now and then, and the life of its target. */
struct reloaded {
	struct fixture fixture;
	struct metric_plan *plan;
	uint64_t random;
	int64_t now_ns, scrape_ns;
	int64_t wall_ns;	/* of the controller: it may be set */
	int64_t error_ns;	/* of the handshake */
	uint64_t points;	/* that were scraped */
};

static void reloaded__scrape(struct reloaded *reloaded)
{
	static const int64_t intervals[] = { 1, SECOND / 10, SECOND, 60 * SECOND };
	struct metric_plan *plan = reloaded->plan;
	struct fixture *fixture = &reloaded->fixture;
	const struct metric_scrape made = {
		.plan = plan,
		.points = fixture->points,
		.time_ns = reloaded->now_ns + reloaded->wall_ns,
	};
	int64_t row_ns;
	uint32_t i;

	for (i = 0; i < plan->series_count; i++) {
		row_ns = reloaded->now_ns - reloaded->now_ns % intervals[i] +
			 (i ? reloaded->error_ns : 0);
		if (row_ns > reloaded->now_ns)
			row_ns = reloaded->now_ns;
		fixture->points[i] = (struct metric_point){ 1, row_ns + reloaded->wall_ns };
	}
	reloaded->points += plan->series_count;
	reloaded->scrape_ns = made.time_ns;
	series__add(fixture->series, &fixture->rules, &fixture->target, NULL,
		    &made, reloaded->now_ns);
}

/* A reload: as the output of metrics ends a target, and adds it again. */
static void reloaded__make_again(struct reloaded *reloaded)
{
	struct fixture *fixture = &reloaded->fixture;

	series__end(fixture->series, &fixture->rules, reloaded->scrape_ns + 1);
	series__end(fixture->series, &fixture->rules, reloaded->now_ns + reloaded->wall_ns);
	series__free(fixture->series, &fixture->rules);
	fixture->series = series__new();
	reloaded->error_ns = random__below(&reloaded->random, 6000000) - 3000000LL;
}

static void reloaded__relabel(struct reloaded *reloaded)
{
	static const char *const labels[] = { NULL, "{\"rack\":\"1\"}",
					      "{\"rack\":\"1\",\"site\":\"n\"}" };
	struct target_settings *target = &reloaded->fixture.target;
	const char *text = labels[random__below(&reloaded->random, 3)];

	shared_text__release(target->labels);
	target->labels = text ? shared_text__new(text) : NULL;
}

static void reloaded__step(struct reloaded *reloaded)
{
	struct fixture *fixture = &reloaded->fixture;

	reloaded->now_ns += random__below(&reloaded->random, SECOND);
	switch (random__below(&reloaded->random, 30)) {
	case 0:
		reloaded->plan = reloaded->plan == &first ? &second : &first;
		break;
	case 1:
		series__end(fixture->series, &fixture->rules, reloaded->scrape_ns + 1);
		break;
	case 2:
		reloaded__relabel(reloaded);
		/* fall through */
	case 3:
		/* Several samples within one second. */
		while (random__below(&reloaded->random, 3))
			reloaded__make_again(reloaded);
		break;
	case 4:
		/* As a source changes them. */
		reloaded__relabel(reloaded);
		break;
	case 5:
		if (!random__below(&reloaded->random, 500))
			reloaded->wall_ns = random__below(&reloaded->random, 7200) * SECOND;
		break;
	default:
		reloaded__scrape(reloaded);
	}
}

static void test_any_reloads(void **state)
{
	struct reloaded reloaded = { .plan = &first, .random = 7 };
	struct series_rules *rules = &reloaded.fixture.rules;
	int i;

	begin(&reloaded.fixture);
	rules->take = take_strictly;
	rules->data = &reloaded.fixture;
	reloaded.now_ns = 1700000000 * SECOND;
	for (i = 0; i < 200000; i++)
		reloaded__step(&reloaded);
	shared_text__release(reloaded.fixture.target.labels);
	reloaded.fixture.target.labels = NULL;
	end(&reloaded.fixture);
	/* Points that were not sent were counted. */
	assert_int_equal(strict.samples + atomic_load(&rules->repeated) +
				 atomic_load(&rules->older),
			 reloaded.points);
	assert_true(strict.samples > reloaded.points / 4);
	assert_true(strict.markers > 1000);
}

/* More series end than there is room for: the latest end counts for all. */
static void test_many_ends(void **state)
{
	struct ended ended = {};
	uint64_t i;

	ended__open(&ended);
	assert_int_equal(ended__find(&ended, 0), 0);
	ended__add(&ended, 0, 5, 0);
	assert_int_equal(ended__find(&ended, 0), 5);
	/* Past ends are forgotten when no room is left. */
	for (i = 1; i < 100000; i++) {
		ended__add(&ended, i * 0x9e3779b97f4a7c15, i, i - 100);
		assert_int_equal(ended__find(&ended, i * 0x9e3779b97f4a7c15), i);
	}
	assert_true(ended.capacity <= 1024);
	assert_int_equal(ended__find(&ended, 7), 0);
	for (i = 1; !ended.all_ns && i <= ENDED_MAX; i++)
		ended__add(&ended, i * 0x9e3779b97f4a7c15, 1000000 + i, 0);
	assert_true(ended.all_ns > 1000000);
	assert_int_equal(ended__find(&ended, 7), ended.all_ns);
	ended__close(&ended);
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
		TEST("a target that is made again sends nothing before its marks", test_made_again),
		TEST("series and labels that come back send nothing before their marks",
		     test_comes_back),
		TEST("rows that were READ before a target was lost are repeated", test_lost),
		TEST("a point ten minutes before its scrape is left out and counted", test_old),
		TEST("after the clock was set back samples are dropped and counted as older",
		     test_clock_set),
		TEST("whatever is reloaded, and when: no series goes back, and points that are not sent are counted",
		     test_any_reloads),
		TEST("ends of series take bounded memory", test_many_ends),
		TEST("scrapes wait for others, up to the delay and the batch", test_delay),
		TEST("other labels of a target are other series", test_labels),
		TEST("blocks stay within the bound", test_bound),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
