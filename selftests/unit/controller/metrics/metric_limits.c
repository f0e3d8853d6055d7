// SPDX-License-Identifier: GPL-2.0-only
/* Limits of the metrics of one target, and of all. */
#include <errno.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "metric_sinks_scene.h"

/*
 * Clocks of a machine on which each plan takes PLAN_NS of CPU time, and as long again for other
 * work, however busy this one is.
 */
#define PLAN_NS 50000000

static int64_t now_ns = 1000000000000, spent_ns;

int clock_gettime(clockid_t clock, struct timespec *time)
{
	int64_t ns;

	if (clock != CLOCK_MONOTONIC && clock != CLOCK_THREAD_CPUTIME_ID)
		return syscall(SYS_clock_gettime, clock, time);
	/* It is read before and after a plan. */
	if (clock == CLOCK_THREAD_CPUTIME_ID) {
		now_ns += PLAN_NS;
		spent_ns += PLAN_NS;
	}
	ns = clock == CLOCK_MONOTONIC ? now_ns : spent_ns;
	*time = (struct timespec){ ns / 1000000000, ns % 1000000000 };
	return 0;
}

static void wait_a_moment(void)
{
	now_ns += 1000000;
}

/* What the sink says of limits. */
static unsigned int said_count;
static char said[DART_ERROR_MAX];

static void note_said(void *data, const char *target, const char *sentence)
{
	said_count++;
	snprintf(said, sizeof(said), "%s: %s", target, sentence);
}

static void limit(struct sighting *sighting, unsigned int series, unsigned int all_series,
		  unsigned int label_bytes)
{
	const struct settings_limits limits = { series, all_series, label_bytes };

	sink_metrics__limit(sighting->sink, &limits, note_said, NULL);
}

static void pass(struct sighting *sighting, unsigned int target)
{
	static const struct latency decoded;

	assert_int_equal(sighting->sink->operations->sample(sighting->sink, &targets[target],
							    &sighting->host.sample, &decoded),
			 0);
}

/* A table with more rows, hence more series, than before. */
static void grow(struct sighting *sighting)
{
	sighting->host.table.generation++;
	host__mark(&sighting->host,
		   host__add(&sighting->host, "f+1s", host__record(&sighting->host, fields),
			     DART_CONTROL_COPIES_SUM, 1),
		   0, 2);
}

/* The table grows beyond the limit of an agent, and the other agent has what it had. */
static void test_limit_of_one(void **state)
{
	struct sighting sighting;
	struct told *told;
	uint64_t series;

	said_count = 0;
	sighting__open(&sighting, 0);
	told = sighting.output->told;
	sighting.sink->operations->added(sighting.sink, &targets[0]);
	sighting.sink->operations->added(sighting.sink, &targets[1]);
	pass(&sighting, 0);
	pass(&sighting, 1);
	series = sink_metrics__series(sighting.sink) / 2;
	assert_true(series > 0);
	limit(&sighting, series, 0, 0);
	grow(&sighting);
	pass(&sighting, 0);
	pass(&sighting, 0);
	assert_int_equal(said_count, 1);
	assert_non_null(strstr(said, "a:4792: no metrics: it has "));
	assert_int_equal(told[0].scrapes, 1);
	assert_int_equal(told[0].lost, 1);
	assert_int_equal(told[0].failed, 1);
	assert_int_equal(told[0].downs, 2);
	assert_int_equal(sink_metrics__over_limit(sighting.sink), 1);
	/* The other one has its series. */
	assert_int_equal(sink_metrics__series(sighting.sink), series);
	assert_int_equal(told[1].lost + told[1].downs, 0);
	limit(&sighting, series + 1, 0, 0);
	pass(&sighting, 0);
	assert_int_equal(told[0].scrapes, 2);
	assert_int_equal(told[0].ups, 2);
	assert_int_equal(said_count, 2);
	assert_string_equal(said, "a:4792: metrics again: it is within the limits");
	assert_int_equal(sink_metrics__over_limit(sighting.sink), 0);
	assert_int_equal(sink_metrics__series(sighting.sink), 2 * series + 1);
	sighting.sink->operations->removed(sighting.sink, &targets[0]);
	assert_int_equal(sink_metrics__series(sighting.sink), series);
	sighting.sink->operations->removed(sighting.sink, &targets[1]);
	assert_int_equal(sink_metrics__series(sighting.sink), 0);
	sighting__close(&sighting);
}

/* Beyond the limit in each second scrape, for an hour's share of messages and beyond. */
static void test_by_turns(void **state)
{
	struct sighting sighting;
	uint64_t series;
	unsigned int i;

	said_count = 0;
	sighting__open(&sighting, 0);
	sighting.sink->operations->added(sighting.sink, &targets[0]);
	pass(&sighting, 0);
	series = sink_metrics__series(sighting.sink);
	for (i = 0; i < 100; i++) {
		/* As if its table had changed. */
		limit(&sighting, series - 1, 0, 0);
		sighting.host.table.generation++;
		pass(&sighting, 0);
		assert_int_equal(sink_metrics__over_limit(sighting.sink), 1);
		limit(&sighting, series, 0, 0);
		pass(&sighting, 0);
		assert_int_equal(sink_metrics__over_limit(sighting.sink), 0);
	}
	assert_int_equal(said_count, 2 * 10);
	sighting.sink->operations->removed(sighting.sink, &targets[0]);
	sighting__close(&sighting);
}

/* The rows of a restless agent have other texts in each scrape, so its series are others. */
#define ROWS 100

static uint32_t add_texts(struct host *host)
{
	struct dart_schema *schema = host__schema(host, 24);

	add_field(schema, "text", "", 0, 16, 1, DART_CONTROL_FIELD_TEXT);
	add_field(schema, "n", "", 16, 8, 1, DART_CONTROL_FIELD_GAUGE);
	return host__add(host, "texts", schema, DART_CONTROL_COPIES_ROW, ROWS);
}

static void change_texts(struct host *host, uint32_t entry)
{
	static unsigned int turn;
	char text[16];
	uint32_t i;

	snprintf(text, sizeof(text), "%x", turn++);
	for (i = 0; i < ROWS; i++)
		memcpy(host__copy(host, entry, i), text, sizeof(text));
}

static int pass_restless(struct sighting *sighting, uint32_t entry)
{
	static const struct latency decoded;

	change_texts(&sighting->host, entry);
	return sighting->sink->operations->sample(sighting->sink, &targets[0],
						  &sighting->host.sample, &decoded);
}

static void test_restless(void **state)
{
	struct sighting sighting;
	unsigned int downs, plans = 0;
	uint64_t unplanned;
	struct told *told;
	uint32_t entry;

	sighting__open(&sighting, 0);
	told = sighting.output->told;
	entry = add_texts(&sighting.host);
	sink_metrics__bound_plans(sighting.sink);
	sighting.sink->operations->added(sighting.sink, &targets[0]);
	/* As many plans as take a second; then a scrape is lost before each. */
	while (!pass_restless(&sighting, entry))
		assert_true(++plans < 1000);
	assert_int_equal(sink_metrics__unplanned(sighting.sink), 1);
	assert_int_equal(told[0].scrapes, plans);
	while (pass_restless(&sighting, entry))
		wait_a_moment();
	assert_int_equal(pass_restless(&sighting, entry), -EBUSY);
	assert_int_equal(told[0].scrapes, plans + 1);
	assert_int_equal(told[0].lost + told[0].downs, 0);
	/* Nor does it cost more because no output gets its metrics. */
	limit(&sighting, 10, 0, 0);
	while (!sink_metrics__over_limit(sighting.sink)) {
		wait_a_moment();
		pass_restless(&sighting, entry);
	}
	downs = told[0].downs;
	unplanned = sink_metrics__unplanned(sighting.sink);
	assert_int_equal(pass_restless(&sighting, entry), 0);
	assert_int_equal(sink_metrics__unplanned(sighting.sink), unplanned + 1);
	assert_int_equal(told[0].downs, downs + 1);
	/* The other agent is not concerned. */
	sighting.sink->operations->added(sighting.sink, &targets[1]);
	limit(&sighting, 0, 0, 0);
	pass(&sighting, 1);
	assert_int_equal(told[1].scrapes, 1);
	sighting.sink->operations->removed(sighting.sink, &targets[0]);
	sighting.sink->operations->removed(sighting.sink, &targets[1]);
	sighting__close(&sighting);
}

/* The agent that comes last finds no room, until another one goes. */
static void test_limit_of_all(void **state)
{
	struct sighting sighting;
	struct told *told;
	uint64_t series;

	said_count = 0;
	sighting__open(&sighting, 0);
	told = sighting.output->told;
	sighting.sink->operations->added(sighting.sink, &targets[0]);
	sighting.sink->operations->added(sighting.sink, &targets[1]);
	pass(&sighting, 0);
	series = sink_metrics__series(sighting.sink);
	limit(&sighting, 0, 2 * series - 1, 0);
	pass(&sighting, 1);
	pass(&sighting, 0);
	assert_int_equal(told[0].scrapes, 2);
	assert_int_equal(told[1].scrapes, 0);
	assert_int_equal(told[1].downs, 1);
	assert_non_null(strstr(said, "b:4792: no metrics: with its "));
	assert_int_equal(sink_metrics__series(sighting.sink), series);
	sighting.sink->operations->removed(sighting.sink, &targets[0]);
	pass(&sighting, 1);
	assert_int_equal(told[1].scrapes, 1);
	assert_int_equal(sink_metrics__over_limit(sighting.sink), 0);
	sighting.sink->operations->removed(sighting.sink, &targets[1]);
	sighting__close(&sighting);
}

/* Function of the sanitizers; some compilers lack a header for it. */
size_t __sanitizer_get_current_allocated_bytes(void);

/*
 * Of a plan that is beyond a limit only as much stays in memory as is needed to refuse further
 * samples, which are refused without another plan.
 */
static void test_memory_of_refused(void **state)
{
	struct sighting sighting;
	int64_t refused_ns;
	size_t none, refused;
	uint32_t entry;

	said_count = 0;
	sighting__open(&sighting, 0);
	entry = add_texts(&sighting.host);
	change_texts(&sighting.host, entry);
	sighting.sink->operations->added(sighting.sink, &targets[0]);
	none = __sanitizer_get_current_allocated_bytes();
	limit(&sighting, ROWS / 2, 0, 0);
	pass(&sighting, 0);
	assert_int_equal(sink_metrics__over_limit(sighting.sink), 1);
	refused = __sanitizer_get_current_allocated_bytes() - none;
	refused_ns = spent_ns;
	pass(&sighting, 0);
	assert_int_equal(spent_ns, refused_ns);
	assert_int_equal(sighting.output->told[0].downs, 2);
	/* Its own reason, without a new plan, and then room for all. */
	limit(&sighting, 0, ROWS / 2, 0);
	pass(&sighting, 0);
	refused_ns = spent_ns;
	pass(&sighting, 0);
	assert_int_equal(spent_ns, refused_ns);
	assert_int_equal(sighting.output->told[0].scrapes, 0);
	limit(&sighting, 0, 10 * ROWS, 0);
	pass(&sighting, 0);
	assert_int_equal(sighting.output->told[0].scrapes, 1);
	assert_in_range(refused, 1, (__sanitizer_get_current_allocated_bytes() - none) / 4);
	sighting.sink->operations->removed(sighting.sink, &targets[0]);
	sighting__close(&sighting);
}

static void test_limit_of_labels(void **state)
{
	struct sighting sighting;

	sighting__open(&sighting, 0);
	sighting.sink->operations->added(sighting.sink, &targets[0]);
	limit(&sighting, 0, 0, 1);
	pass(&sighting, 0);
	assert_int_equal(sighting.output->told[0].scrapes, 0);
	assert_non_null(strstr(said, "a:4792: no metrics: a label '"));
	assert_non_null(strstr(said, " bytes, and the limit is 1"));
	limit(&sighting, 0, 0, 1000);
	pass(&sighting, 0);
	assert_int_equal(sighting.output->told[0].scrapes, 1);
	limit(&sighting, 1, 0, 0);
	grow(&sighting);
	pass(&sighting, 0);
	assert_int_equal(sink_metrics__over_limit(sighting.sink), 1);
	sighting.sink->operations->removed(sighting.sink, &targets[0]);
	assert_int_equal(sink_metrics__over_limit(sighting.sink), 0);
	sighting__close(&sighting);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("a target with more series than the limit has none, is told as down, and costs no other target anything",
		     test_limit_of_one),
		TEST("an agent whose series change in each scrape is planned a part of the time",
		     test_restless),
		TEST("of an agent that is beyond a limit by turns a few times are said",
		     test_by_turns),
		TEST("beyond the limit of all series the target that comes last has none, until there is room",
		     test_limit_of_all),
		TEST("a plan beyond a limit takes little memory, and is not made again",
		     test_memory_of_refused),
		TEST("so has a target with a label that is too long", test_limit_of_labels),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
