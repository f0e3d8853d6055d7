// SPDX-License-Identifier: GPL-2.0-only
/* The sink that makes metrics for several outputs, and the sink that passes on to all. */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>

#include "metric_sinks_scene.h"
#include "tools/controller/outputs/sink_all.h"

#define SCRAPES 300
#define DOWNS 3

struct scraping {
	struct sink *sink;
	const struct target_settings *target;
	pthread_t thread;
};

/* As a worker: the table changes with each tenth scrape, and at last the host is lost twice. */
static void *scrape(void *data)
{
	const struct scraping *scraping = data;
	const struct sink_operations *operations = scraping->sink->operations;
	static const struct latency decoded;
	struct host host;
	unsigned int i;

	host__init(&host);
	host.sample.clock.offset_ns = 4 * SECOND;
	host.sample.clock.uncertainty_ns = SECOND / 1000;
	add_value(&host);
	for (i = 0; i < SCRAPES; i++) {
		host.table.generation = 1 + i / 10;
		host__set(&host, 0, 0, "v", 0, i);
		assert_int_equal(operations->sample(scraping->sink, scraping->target, &host.sample,
						    &decoded),
				 0);
	}
	/* A connection that fails ends no series. */
	assert_int_equal(
		operations->lost(scraping->sink, scraping->target, "reset"),
		0);
	for (i = 0; i < DOWNS; i++)
		assert_int_equal(operations->down(scraping->sink,
						  scraping->target,
						  7000 * SECOND + i,
						  i ? "gone again" : "gone"),
				 0);
	assert_int_equal(operations->sample(scraping->sink, scraping->target,
					    &host.sample, &decoded),
			 0);
	host__free(&host);
	return NULL;
}

static void check_told(const struct told *told)
{
	assert_int_equal(told->scrapes, SCRAPES + 1);
	/* The plan after a loss replaces no plan. */
	assert_int_equal(told->plans, SCRAPES / 10 - 1);
	assert_int_equal(told->lost, 1);
	assert_string_equal(told->reason, "gone");
	assert_true(told->last == SCRAPES - 1);
}

/* By the clock of the controller, which the host's is 4 s ahead of. */
static void check_ups(const struct told *told)
{
	assert_int_equal(told->ups, SCRAPES + 1);
	assert_int_equal(told->downs, DOWNS);
	assert_int_equal(told->up_ns, 6000 * SECOND);
}

/* Passes the scrape, or a report that the target is down; returns the time of the sample of up. */
static int64_t sighting__up(struct sighting *sighting)
{
	static const struct latency decoded;

	assert_int_equal(sighting->sink->operations->sample(sighting->sink, &targets[0],
							    &sighting->host.sample, &decoded),
			 0);
	return sighting->output->told[0].up_ns;
}

static int64_t sighting__down(struct sighting *sighting, int64_t time_ns)
{
	sighting->sink->operations->down(sighting->sink, &targets[0], time_ns, "gone");
	return sighting->output->told[0].up_ns;
}

/* A report between the post of a READ, at 6,000 s, and its landing 300 ms later. */
static void test_up_again(void **state)
{
	static const struct {
		int64_t down_ns, up_ns;
	} cases[] = {
		{ 5999 * SECOND, 6000 * SECOND },
		{ 6000 * SECOND - 1000000, 6000 * SECOND },
		/* Receivers would see both in the same ms. */
		{ 6000 * SECOND - 286000, 6000 * SECOND + 714000 },
		{ 6000 * SECOND, 6000 * SECOND + 300000000 },
		{ 6000 * SECOND + 200000000, 6000 * SECOND + 300000000 },
		/* The I/O thread notes the landing a little late. */
		{ 6000 * SECOND + 300000000, 6000 * SECOND + 301000000 },
		/* The clock was set back since the report. */
		{ 9600 * SECOND, 6000 * SECOND },
	};
	struct sighting sighting;
	unsigned int i;

	sighting__open(&sighting, 300000000);
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		sighting.sink->operations->added(sighting.sink, &targets[0]);
		assert_int_equal(sighting__down(&sighting, cases[i].down_ns), cases[i].down_ns);
		assert_int_equal(sighting__up(&sighting), cases[i].up_ns);
		sighting.sink->operations->removed(sighting.sink, &targets[0]);
	}
	sighting__close(&sighting);
}

/* A host is lost right after a scrape, which was posted at 6,000 s. */
static void test_down_after_up(void **state)
{
	static const struct {
		int64_t lost_ns, down_ns;
	} cases[] = {
		{ 6001 * SECOND, 6001 * SECOND },
		{ 6000 * SECOND + 1000000, 6000 * SECOND + 1000000 },
		/* Receivers would see both in the same ms. */
		{ 6000 * SECOND + 286000, 6000 * SECOND + 1000000 },
		{ 6000 * SECOND, 6000 * SECOND + 1000000 },
		/* The clock was set back since the scrape. */
		{ 3000 * SECOND, 3000 * SECOND },
	};
	struct sighting sighting;
	unsigned int i;

	sighting__open(&sighting, 200000);
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		sighting.sink->operations->added(sighting.sink, &targets[0]);
		assert_int_equal(sighting__up(&sighting), 6000 * SECOND);
		assert_int_equal(sighting__down(&sighting, cases[i].lost_ns), cases[i].down_ns);
		sighting.sink->operations->removed(sighting.sink, &targets[0]);
	}
	sighting__close(&sighting);
}

static void test_metrics(void **state)
{
	bool is_freed[2] = {};
	struct noting_output *full = noting_output__new(&full_operations, &is_freed[0]);
	struct noting_output *least = noting_output__new(&least_operations, &is_freed[1]);
	struct metric_output *const outputs[] = { &full->output, &least->output };
	struct sink *sink = sink_metrics__new(NULL, outputs, 2);
	struct scraping scrapings[TARGETS];
	int i;

	assert_non_null(sink);
	assert_false(sink->compares || sink->owns_terminal);
	for (i = 0; i < TARGETS; i++) {
		sink->operations->added(sink, &targets[i]);
		scrapings[i] = (struct scraping){ sink, &targets[i], 0 };
		assert_int_equal(pthread_create(&scrapings[i].thread, NULL, scrape, &scrapings[i]),
				 0);
	}
	for (i = 0; i < TARGETS; i++)
		pthread_join(scrapings[i].thread, NULL);
	for (i = 0; i < TARGETS; i++) {
		check_told(&full->told[i]);
		check_told(&least->told[i]);
		check_ups(&full->told[i]);
	}
	/* A removed target ends as well. */
	assert_true(full->told[0].is_added);
	sink->operations->removed(sink, &targets[0]);
	assert_true(full->told[0].is_removed && !full->told[1].is_removed);
	assert_int_equal(full->told[0].lost, 2);
	assert_int_equal(full->told[0].failed, 1);
	assert_int_equal(least->told[0].failed, 0);
	assert_string_equal(full->told[0].reason, "it is not a target any more");
	assert_int_equal(least->told[0].lost, 2);
	sink->operations->free(sink);
	assert_true(is_freed[0] && is_freed[1]);
}

struct noting_sink {
	struct sink sink;
	unsigned int samples, losses, summaries, added, removed;
	unsigned int downs;
	int ret;
	bool *is_freed;
};

static int pass_sample(struct sink *sink, const struct target_settings *target,
		       const struct sample *sample, const struct latency *decoded)
{
	((struct noting_sink *)sink)->samples++;
	return ((struct noting_sink *)sink)->ret;
}

static int pass_loss(struct sink *sink, const struct target_settings *target, const char *reason)
{
	((struct noting_sink *)sink)->losses++;
	return ((struct noting_sink *)sink)->ret;
}

static int pass_down(struct sink *sink, const struct target_settings *target,
		     int64_t time_ns, const char *reason)
{
	assert_int_equal(time_ns, 7);
	assert_string_equal(reason, "still gone");
	((struct noting_sink *)sink)->downs++;
	return ((struct noting_sink *)sink)->ret;
}

static int pass_summary(struct sink *sink, const struct target_settings *target,
			const struct summary *summary, bool is_last)
{
	((struct noting_sink *)sink)->summaries++;
	return ((struct noting_sink *)sink)->ret;
}

static void pass_added(struct sink *sink, const struct target_settings *target)
{
	((struct noting_sink *)sink)->added++;
}

static void pass_removed(struct sink *sink, const struct target_settings *target)
{
	((struct noting_sink *)sink)->removed++;
}

static void free_sink(struct sink *sink)
{
	*((struct noting_sink *)sink)->is_freed = true;
}

static void test_all(void **state)
{
	static const struct sink_operations full = {
		.sample = pass_sample,
		.lost = pass_loss,
		.down = pass_down,
		.summary = pass_summary,
		.added = pass_added,
		.removed = pass_removed,
		.free = free_sink,
	};
	static const struct sink_operations least = {
		.sample = pass_sample,
		.lost = pass_loss,
		.free = free_sink,
	};
	bool is_freed[3] = {};
	struct noting_sink sinks[] = {
		{ .sink = { &least }, .is_freed = &is_freed[0] },
		{ .sink = { &full, .owns_terminal = true },
		  .ret = -ENOBUFS,
		  .is_freed = &is_freed[1] },
		{ .sink = { &full, .compares = true, .takes_parts = true },
		  .ret = -ENOMEM,
		  .is_freed = &is_freed[2] },
	};
	struct sink *const list[] = { &sinks[0].sink, &sinks[1].sink, &sinks[2].sink };
	static const struct sample whole, part = { .is_partial = true };
	static const struct summary summary;
	static const struct latency decoded;
	struct sink *all = sink_all__new(list, 3);
	struct sink *one;
	unsigned int i;

	assert_non_null(all);
	assert_true(all->owns_terminal && all->compares && all->takes_parts);
	all->operations->added(all, &targets[0]);
	assert_int_equal(all->operations->sample(all, &targets[0], &whole, &decoded), -ENOBUFS);
	assert_int_equal(all->operations->lost(all, &targets[0], "gone"), -ENOBUFS);
	assert_int_equal(all->operations->down(all, &targets[0], 7, "still gone"), -ENOBUFS);
	assert_int_equal(all->operations->summary(all, &targets[0], &summary, true), -ENOBUFS);
	all->operations->removed(all, &targets[0]);
	for (i = 0; i < 3; i++) {
		assert_int_equal(sinks[i].samples, 1);
		assert_int_equal(sinks[i].losses, 1);
		assert_int_equal(sinks[i].downs, i > 0);
		assert_int_equal(sinks[i].summaries, i > 0);
		assert_int_equal(sinks[i].added, i > 0);
		assert_int_equal(sinks[i].removed, i > 0);
	}
	assert_int_equal(all->operations->sample(all, &targets[0], &part, &decoded), -ENOMEM);
	for (i = 0; i < 3; i++)
		assert_int_equal(sinks[i].samples, 1 + (i == 2));
	all->operations->free(all);
	assert_true(is_freed[0] && is_freed[1] && is_freed[2]);
	/* It claims no more of the terminal than its sinks. */
	one = sink_all__new(list, 1);
	assert_non_null(one);
	assert_false(one->owns_terminal || one->compares || one->takes_parts);
	one->operations->free(one);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("outputs get the points of each target, the plan before a new one, and its end once",
		     test_metrics),
		TEST("a target that was reported to be down while READs were under way is up after that",
		     test_up_again),
		TEST("a target that is lost right after a scrape is down after that, as receivers see times",
		     test_down_after_up),
		TEST("all sinks are called, and the first error is returned", test_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
