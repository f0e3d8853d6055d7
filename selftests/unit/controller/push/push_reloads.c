// SPDX-License-Identifier: GPL-2.0-only
/* Series of targets that are made again by reloads, in any order. */
#include "push_series_scene.h"

/*
 * A receiver as strict as Prometheus: each series, identified by its labels, goes forward in time.
 */
static struct {
	int64_t last_ms[3][5];	/* by labels and series: a, three of b, c */
	uint64_t samples, markers;
} strict;

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("a target that is made again sends nothing before its marks", test_made_again),
		TEST("series and labels that come back send nothing before their marks",
		     test_comes_back),
		TEST("whatever is reloaded, and when: no series goes back, and points that are not sent are counted",
		     test_any_reloads),
		TEST("ends of series take bounded memory", test_many_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
