// SPDX-License-Identifier: GPL-2.0-only
/* Times of samples, whatever the clocks of a host and of the controller do. */
#include "selftests/unit/controller/metrics/metric_samples.h"
#include "tools/controller/decode/host_clock.h"

#define DAY	(86400 * SECOND)
#define HOUR	(3600 * SECOND)
#define MS	(SECOND / 1000)
#define BOUND	(2 * SECOND)

static const struct wanted_field load_fields[] = {
	{ "load1", "", DART_CONTROL_FIELD_GAUGE },
	{ "boot_time", "ns", DART_CONTROL_FIELD_GAUGE },
	{}
};

/* A host that gathers, and a controller that scrapes it, with all of their clocks. */
struct world {
	struct host host;
	struct host_clock clock;
	struct clock_source source;
	uint32_t entry;
	int64_t now_ns;		/* CLOCK_MONOTONIC of the controller */
	int64_t wall_ns;	/* CLOCK_REALTIME - CLOCK_MONOTONIC of the controller */
	int64_t start_ns;	/* when the host started, by the controller's CLOCK_MONOTONIC */
	int64_t drift_ppm;	/* by how much the host's clocks are faster */
	int64_t since_boot_ns;	/* CLOCK_REALTIME - CLOCK_BOOTTIME of the host */
	int64_t told_ns;	/* CLOCK_REALTIME of the host - CLOCK_MONOTONIC of the controller */
	uint64_t uncertainty_ns;	/* of the handshake */
	int64_t gathered_ns;	/* the last row, by CLOCK_MONOTONIC of the controller */
	int64_t interval_ns;	/* of gathering */
	bool is_stalled;
	unsigned int news;	/* of the last sample */
	uint64_t seed;		/* of an invented host; 0 otherwise */
};

static int64_t boot_at(const struct world *world, int64_t at_ns)
{
	const int64_t age_ns = at_ns - world->start_ns;

	return age_ns + age_ns / 1000000 * world->drift_ppm;
}

/* The clock of the host, less the clock of the controller. */
static int64_t offset_of(const struct world *world)
{
	return boot_at(world, world->now_ns) + world->since_boot_ns -
	       world->now_ns - world->wall_ns;
}

static void connect_it(struct world *world)
{
	/* As wrong as it can be. */
	world->told_ns = boot_at(world, world->now_ns) + world->since_boot_ns -
			 world->now_ns + (int64_t)world->uncertainty_ns;
}

static void init(struct world *world, bool is_load)
{
	*world = (struct world){
		.now_ns = 20 * DAY,
		.wall_ns = 1700000000 * SECOND,
		.start_ns = 3 * DAY,
		.uncertainty_ns = 3 * MS,
		.interval_ns = SECOND,
	};
	host__init(&world->host);
	world->entry = host__add(&world->host, is_load ? "load+1s" : "my+1s",
				 host__record(&world->host, load_fields),
				 DART_CONTROL_COPIES_SUM, 1);
	world->source = (struct clock_source){
		.is_there = true,
		.interval_ns = SECOND,
		.boot_time = is_load ?
				     dart_schema__find(world->host.entries[0].schema, "boot_time") :
				     NULL,
	};
	/* Both clocks are right. */
	world->since_boot_ns = world->start_ns + world->wall_ns;
	world->host.table.clock_offset_ns = world->since_boot_ns;
	connect_it(world);
}

static void set_row(struct world *world, uint64_t time_ns, uint64_t since_boot)
{
	host__mark(&world->host, world->entry, 0, 2);
	host__set(&world->host, world->entry, 0, "time", 0, time_ns);
	host__set(&world->host, world->entry, 0, "boot_time", 0, since_boot);
}

static void take(struct world *world)
{
	struct sample_head *head = &world->host.sample.head;

	head->start_ns = world->now_ns;
	head->landed_ns = world->now_ns + MS;
	head->time_ns = world->now_ns + world->wall_ns;
	head->clock_uncertainty_ns = world->uncertainty_ns;
	if (world->uncertainty_ns)
		head->clock_offset_ns = (uint64_t)world->told_ns - (uint64_t)world->wall_ns;
	world->news = host_clock__take(&world->clock, BOUND, &world->source, &world->host.sample);
	assert_int_equal(head->time_ns, world->now_ns + world->wall_ns);
}

/* The next scrape, @after_ns later, of rows that are gathered 300 ms after whole seconds. */
static void scrape(struct world *world, int64_t after_ns)
{
	world->now_ns += after_ns;
	if (!world->is_stalled)
		world->gathered_ns =
			world->now_ns - (world->now_ns - 300 * MS) % world->interval_ns;
	set_row(world, boot_at(world, world->gathered_ns), world->since_boot_ns);
	take(world);
}

/* The real time of gathering, less the told one. */
static int64_t error_of(const struct world *world)
{
	const struct sample *sample = &world->host.sample;
	const int64_t date_ns =
		sample->head.time_ns + boot_at(world, world->gathered_ns) - sample->clock.boot_ns;

	return date_ns - world->gathered_ns - world->wall_ns;
}

static void assert_dated(const struct world *world, int64_t error_ns)
{
	const int64_t found_ns = error_of(world);

	if (llabs(found_ns) > error_ns)
		fail_msg("world %llu: the row is dated wrong by %lld ns",
			 (unsigned long long)world->seed, (long long)found_ns);
}

static void assert_offset(const struct world *world)
{
	const struct sample_clock *found = &world->host.sample.clock;
	const int64_t wrong_ns = found->offset_ns - offset_of(world);

	assert_true(found->uncertainty_ns != 0);
	if (llabs(wrong_ns) > (int64_t)found->uncertainty_ns + MS)
		fail_msg("world %llu: the offset is wrong by %lld ns, not %llu at most",
			 (unsigned long long)world->seed, (long long)wrong_ns,
			 (unsigned long long)found->uncertainty_ns);
}

static void test_right(void **state)
{
	struct world world;
	int64_t date_ns;
	int i;

	init(&world, true);
	scrape(&world, 0);
	for (i = 0; i < 1000; i++) {
		scrape(&world, 700 * MS);
		assert_dated(&world, 5 * MS);
		assert_offset(&world);
		assert_int_equal(world.news, 0);
	}
	/* A row that was not written again keeps its time to the ns. */
	date_ns = error_of(&world);
	world.is_stalled = true;
	for (i = 0; i < 600; i++) {
		scrape(&world, SECOND);
		assert_int_equal(error_of(&world), date_ns);
	}
	world.is_stalled = false;
	scrape(&world, SECOND);
	assert_dated(&world, 5 * MS);
	host__free(&world.host);
}

/* A host days ahead, months late, or in 1970: the times of its samples are right. */
static void test_wrong_host(void **state)
{
	static const int64_t wrong[] = { 2 * DAY, -90 * DAY, 3 * SECOND, -1700000000 * SECOND,
					 200 * 365 * DAY };
	struct world world;
	unsigned int i;
	int k;

	for (i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		init(&world, i % 2);
		world.since_boot_ns += wrong[i];
		world.host.table.clock_offset_ns = world.since_boot_ns;
		connect_it(&world);
		scrape(&world, 0);
		assert_dated(&world, 5 * MS);
		assert_int_equal(world.news, 0);
		scrape(&world, SECOND);
		assert_int_equal(world.news, HOST_CLOCK_IS_OFF);
		assert_true(world.host.sample.clock.is_off);
		for (k = 0; k < 100; k++) {
			scrape(&world, SECOND);
			assert_int_equal(world.news, 0);
			assert_dated(&world, 5 * MS);
			assert_offset(&world);
		}
		host__free(&world.host);
	}
}

/*
 * A host is two hours slow when the controller connects, and NTP sets it a minute later; and the
 * reverse.
 */
static void test_set_host(void **state)
{
	struct world world;
	int is_load, i;

	for (is_load = 0; is_load < 2; is_load++) {
		init(&world, is_load);
		world.since_boot_ns -= 2 * HOUR;
		world.host.table.clock_offset_ns = world.since_boot_ns;
		connect_it(&world);
		for (i = 0; i < 60; i++)
			scrape(&world, SECOND);
		assert_true(world.host.sample.clock.is_off);
		world.since_boot_ns += 2 * HOUR;
		/* A row tells, or the table, which the agent writes again. */
		if (!is_load)
			world.host.table.clock_offset_ns = world.since_boot_ns;
		scrape(&world, SECOND);
		assert_int_equal(world.news, HOST_CLOCK_IS_RIGHT);
		assert_dated(&world, 5 * MS);
		assert_offset(&world);
		world.since_boot_ns += DAY;
		world.host.table.clock_offset_ns = world.since_boot_ns;
		scrape(&world, SECOND);
		scrape(&world, SECOND);
		assert_int_equal(world.news, HOST_CLOCK_IS_OFF);
		assert_dated(&world, 5 * MS);
		assert_offset(&world);
		host__free(&world.host);
	}
}

/* An agent whose table is older than the step reports two clocks that never coexisted. */
static void test_set_before_handshake(void **state)
{
	static const int64_t steps[] = { 2 * DAY, -2 * DAY, HOUR, -HOUR };
	struct world world;
	unsigned int i;
	int k;

	for (i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
		init(&world, false);
		world.since_boot_ns += steps[i];
		connect_it(&world);
		for (k = 0; k < 70; k++) {
			scrape(&world, 900 * MS);
			assert_dated(&world, SECOND + 200 * MS);
		}
		host__free(&world.host);
	}
	/* The same host connects again after the step: nothing of its rows changes. */
	init(&world, false);
	for (k = 0; k < 10; k++)
		scrape(&world, 900 * MS);
	world.since_boot_ns += 2 * DAY;
	connect_it(&world);
	scrape(&world, 900 * MS);
	assert_dated(&world, 5 * MS);
	host__free(&world.host);
}

static void test_set_controller(void **state)
{
	static const int64_t steps[] = { HOUR, -2 * HOUR, 30 * DAY, -29 * DAY };
	struct world world;
	unsigned int i;
	int k;

	init(&world, true);
	for (i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
		for (k = 0; k < 50; k++)
			scrape(&world, SECOND);
		world.wall_ns += steps[i];
		scrape(&world, SECOND);
		assert_int_equal(world.news & HOST_CLOCK_WALL_WAS_SET, HOST_CLOCK_WALL_WAS_SET);
		scrape(&world, SECOND);
		assert_int_equal(world.news & HOST_CLOCK_WALL_WAS_SET, 0);
		assert_dated(&world, 5 * MS);
		assert_offset(&world);
		assert_true(world.host.sample.clock.is_off);
	}
	host__free(&world.host);
}

/* For two days, read every 15 s: within the interval of gathering. */
static void test_drift(void **state)
{
	static const int64_t drifts[] = { 300, -300, 20, -20 };
	struct world world;
	unsigned int i;
	int k;

	for (i = 0; i < sizeof(drifts) / sizeof(*drifts); i++) {
		init(&world, false);
		world.drift_ppm = drifts[i];
		/* It was right at the beginning. */
		world.since_boot_ns -= boot_at(&world, world.now_ns) -
				       (world.now_ns - world.start_ns);
		world.host.table.clock_offset_ns = world.since_boot_ns;
		connect_it(&world);
		scrape(&world, 0);
		for (k = 0; k < 2 * 86400 / 15; k++) {
			scrape(&world, 15 * SECOND + k % 7 * 100 * MS);
			assert_dated(&world, 1400 * MS);
			assert_offset(&world);
		}
		host__free(&world.host);
	}
}

/* Scrapes keep their times, and so do rows of other samples. */
static void test_lies(void **state)
{
	static const uint64_t times[] = { 0, 1, 1ULL << 62, INT64_MAX, 1ULL << 63, UINT64_MAX };
	struct world world;
	unsigned int i, j, k;

	for (i = 0; i < 6; i++) {
		for (j = 0; j < 6; j++) {
			init(&world, true);
			world.host.table.clock_offset_ns = times[j];
			world.told_ns = times[i];
			for (k = 0; k < 100; k++) {
				world.now_ns += SECOND;
				set_row(&world, times[(i + k) % 6], times[j]);
				take(&world);
			}
			/* Honest rows repair the clock. */
			for (k = 0; k < 70; k++)
				scrape(&world, SECOND);
			assert_dated(&world, 1400 * MS);
			host__free(&world.host);
		}
	}
}

static int64_t choose(uint64_t *random, const int64_t *of, uint32_t count)
{
	return of[random__below(random, count)];
}

/* The clock of the host is set, and its agent writes the table again. */
static void set_host(struct world *world, int64_t since_boot_ns)
{
	world->since_boot_ns = since_boot_ns;
	world->host.table.clock_offset_ns = since_boot_ns;
}

static void init_any(struct world *world, uint64_t *random)
{
	static const int64_t wrong[] = { 0, DAY, -DAY, 3650 * DAY, -3650 * DAY,
					 -1700000000 * SECOND, 1900 * MS };
	static const int64_t gathered[] = { 100 * MS, SECOND, 60 * SECOND };

	init(world, random__below(random, 2));
	world->interval_ns = choose(random, gathered, 3);
	world->source.interval_ns = world->interval_ns;
	world->drift_ppm = (int64_t)random__below(random, 1001) - 500;
	world->uncertainty_ns = 1 + random__below(random, 20 * MS);
	set_host(world, world->since_boot_ns -
				(boot_at(world, world->now_ns) -
				 (world->now_ns - world->start_ns)) +
				choose(random, wrong, 7));
	connect_it(world);
}

/* Sets a clock, lets NTP correct it, or connects the host again; then scrapes the host. */
static void disturb(struct world *world, uint64_t *random)
{
	static const int64_t steps[] = { HOUR, -HOUR, 3650 * DAY, -3650 * DAY, 20 * MS, -20 * MS };

	switch (random__below(random, 40)) {
	case 0:
		set_host(world, world->since_boot_ns + choose(random, steps, 6));
		break;
	case 1:
		world->wall_ns += choose(random, steps, 6);
		break;
	case 2:
		world->now_ns += random__below(random, SECOND);
		connect_it(world);
		scrape(world, 0);
		break;
	}
}

/*
 * Each row is dated right, to the interval of gathering, and after the previous row, except at
 * steps of the controller's own clock.
 */
static void run_any(uint64_t seed)
{
	static const int64_t scraped[] = { 100 * MS, SECOND, 15 * SECOND, 60 * SECOND };
	uint64_t random = seed;
	int64_t date_ns, last_date_ns = 0, last_row_ns = 0, every_ns, wall_ns;
	struct world world;
	int i;

	init_any(&world, &random);
	world.seed = seed;
	every_ns = choose(&random, scraped, 4);
	scrape(&world, 0);
	for (i = 0; i < 2000; i++) {
		wall_ns = world.wall_ns;
		disturb(&world, &random);
		scrape(&world, every_ns + random__below(&random, 30 * MS));
		assert_dated(&world, world.interval_ns * 5 / 4 + 200 * MS +
					     (world.interval_ns + every_ns) / 2000);
		assert_offset(&world);
		date_ns = world.gathered_ns + error_of(&world);
		if (world.gathered_ns != last_row_ns && wall_ns == world.wall_ns &&
		    date_ns / MS <= last_date_ns / MS)
			fail_msg("world %llu: row %d is not after the one before",
				 (unsigned long long)seed, i);
		last_row_ns = world.gathered_ns;
		last_date_ns = date_ns;
	}
	host__free(&world.host);
}

static void test_any(void **state)
{
	uint64_t seed;

	for (seed = 1; seed <= 200; seed++)
		run_any(seed);
}

/* An older agent, without gathered rows: the clocks are taken to agree, and no offset is told. */
static void test_not_told(void **state)
{
	struct world world;

	init(&world, false);
	world.uncertainty_ns = 0;
	world.source.is_there = false;
	scrape(&world, SECOND);
	assert_int_equal(world.host.sample.clock.uncertainty_ns, 0);
	assert_dated(&world, 5 * MS);
	/* It cannot be told from a host that was set, and makes no message. */
	world.wall_ns += DAY;
	scrape(&world, SECOND);
	scrape(&world, SECOND);
	assert_int_equal(world.news, 0);
	assert_dated(&world, 5 * MS);
	host__free(&world.host);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("rows of a host with a right clock have their times, to the uncertainty of the handshake",
		     test_right),
		TEST("a wrong clock of a host is told once, and dates nothing", test_wrong_host),
		TEST("a clock of a host that is set meanwhile is measured again, and dates nothing",
		     test_set_host),
		TEST("a clock that was set between table and handshake dates nothing",
		     test_set_before_handshake),
		TEST("times follow the controller's clock when it is set, and ages of rows stay",
		     test_set_controller),
		TEST("clocks that drift are wrong by the interval of gathering at most",
		     test_drift),
		TEST("a host that lies has times of samples, and is believed when it is honest",
		     test_lies),
		TEST("of any host, with clocks that drift and are set, rows have their times, one after the other",
		     test_any),
		TEST("an agent that does not tell its time is scraped as if clocks agreed",
		     test_not_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
