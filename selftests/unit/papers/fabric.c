// SPDX-License-Identifier: GPL-2.0-only
/* The controller's flow control in virtual time, with faults. */
#include "papers/zero/fabric.h"
#include "selftests/unit/unit.h"

#define SCHEDULES 500

static void test_faults(void **state)
{
	struct fabric_settings settings;
	struct fabric_result result;
	uint64_t landed = 0, lost = 0, failed = 0, missed = 0, waits = 0;
	const char *rule;

	for (uint64_t seed = 1; seed <= SCHEDULES; seed++) {
		fabric__random_settings(seed, &settings);
		fabric__run(&settings, &result);
		rule = fabric__broken_rule(&settings, &result);
		if (rule)
			fail_msg("schedule %lu: %s", seed, rule);
		landed += result.scrapes;
		lost += result.lost;
		failed += result.failed;
		missed += result.missed;
		waits += result.wait_max_ns > 0;
	}
	/* The faults took place. */
	assert_in_range(landed, SCHEDULES, UINT64_MAX);
	assert_in_range(lost, SCHEDULES, UINT64_MAX);
	assert_in_range(failed, SCHEDULES, UINT64_MAX);
	assert_in_range(missed, 1, UINT64_MAX);
	assert_in_range(waits, SCHEDULES / 10, UINT64_MAX);
}

static void test_same(void **state)
{
	struct fabric_result results[2];
	struct fabric_settings settings;

	fabric__random_settings(7, &settings);
	for (int i = 0; i < 2; i++)
		fabric__run(&settings, &results[i]);
	assert_memory_equal(&results[0], &results[1], sizeof(results[0]));
}

/* 24 Gbit/s, and one I/O thread that polls. */
static const struct fabric_settings network = {
	.link_bytes_ns = 3,
	.host_bytes_ns = 3,
	.round_trip_ns = 6000,
	.post_ns = 128,
	.poll_ns = 200,
	.credit = 1 << 20,
	.flow_credit = UINT64_MAX,
};

/* All hosts are scraped at once, 128 KiB of each, behind a switch with @buffer bytes. */
static struct fabric_settings burst(uint32_t hosts, uint64_t buffer)
{
	struct fabric_settings settings = network;

	settings.hosts = hosts;
	settings.bytes = 128 * 1024;
	settings.interval_ns = 1000000000;
	settings.scrapes = 1;
	settings.buffer = buffer;
	return settings;
}

/* Without credits, the same hosts overflow the same buffer. */
static void test_incast(void **state)
{
	struct fabric_settings settings = burst(200, 1 << 20);
	struct fabric_result with, without;

	settings.retry_ns = 4000000;
	fabric__run(&settings, &with);
	settings.credit = UINT64_MAX;
	fabric__run(&settings, &without);
	assert_int_equal(with.dropped, 0);
	assert_in_range(without.dropped, 1000, UINT64_MAX);
	assert_in_range(without.elapsed_ns, with.elapsed_ns, UINT64_MAX);
	assert_int_equal(with.bytes, without.bytes);
}

/* A polling thread READs small hosts fast, a blocking thread READs large hosts cheaply. */
static void test_threads(void **state)
{
	struct fabric_settings settings = network;
	struct fabric_result poll, event, hybrid;

	settings.hosts = 210;
	settings.bytes = 512 * 1024;
	settings.small_hosts = 200;
	settings.small_bytes = 8 * 1024;
	settings.interval_ns = 100000000;
	settings.scrapes = 5;
	settings.spread = true;
	settings.wake_ns = 5000;
	settings.wake_cpu_ns = 2000;
	settings.buffer = UINT64_MAX;
	fabric__run(&settings, &poll);
	settings.io = IO_EVENT;
	fabric__run(&settings, &event);
	settings.io = IO_HYBRID;
	fabric__run(&settings, &hybrid);
	assert_int_equal(poll.scrapes, 210 * 5);
	assert_int_equal(event.scrapes, 210 * 5);
	assert_int_equal(hybrid.scrapes, 210 * 5);
	/* At least half of the time to wake up, once for the request and once at the end. */
	assert_in_range(event.small_mean_ns, poll.small_mean_ns + 5000, poll.small_mean_ns + 30000);
	assert_in_range(hybrid.small_mean_ns, 1, event.small_mean_ns - 5000);
	assert_in_range(hybrid.busy_ns, event.busy_ns, poll.busy_ns);
	/* Polling takes at least the time of posting and completing. */
	assert_in_range(poll.busy_ns, poll.fragments * (settings.post_ns + settings.poll_ns),
			settings.interval_ns * settings.scrapes);
}

/* A switch that pauses machines with PFC also holds up their other packets. */
static void test_services(void **state)
{
	struct fabric_settings settings = burst(256, 0);
	struct fabric_result with, without;

	settings.machines = 64;
	settings.pause_above = 1 << 21;
	settings.pause_until = 1 << 20;
	settings.service_ns = 20000;
	fabric__run(&settings, &with);
	settings.credit = UINT64_MAX;
	fabric__run(&settings, &without);
	assert_int_equal(with.paused_ns, 0);
	assert_in_range(without.paused_ns, without.elapsed_ns / 2, without.elapsed_ns);
	assert_in_range(with.service_packets, 64, UINT64_MAX);
	/* A packet waits for the answers of its machine: four hosts with 16 READs each. */
	assert_in_range(with.service_max_ns, 1, 4 * 16 * 1366);
	assert_in_range(without.service_mean_ns, 10 * with.service_max_ns, UINT64_MAX);
}

/* Hosts that take turns in groups need fewer fetches of an adapter with a small cache. */
static void test_groups(void **state)
{
	struct fabric_settings settings = burst(512, UINT64_MAX);
	struct fabric_result large, single, groups;

	settings.credit = 128 * 1024;
	settings.cached_pairs = settings.hosts;
	settings.fetch_ns = 500;
	fabric__run(&settings, &large);
	settings.cached_pairs = 128;
	fabric__run(&settings, &single);
	settings.group = 64;
	fabric__run(&settings, &groups);
	/* Each adapter fetches each queue pair once. */
	assert_int_equal(large.fetches, 2 * settings.hosts);
	assert_in_range(single.fetches, single.fragments, UINT64_MAX);
	assert_in_range(groups.fetches, large.fetches, single.fetches / 4);
	assert_in_range(groups.elapsed_ns, large.elapsed_ns, single.elapsed_ns);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("in 500 schedules of faults no more than the credit is in flight or in a switch, and all flows have their turn",
		     test_faults),
		TEST("the same settings have the same result", test_same),
		TEST("a thread for each kind of host reads small ones as fast as polling and large ones for less CPU time",
		     test_threads),
		TEST("hosts that overflow the buffer of a switch without credits do not with them",
		     test_incast),
		TEST("packets of other services wait where PFC pauses machines, and not with credits",
		     test_services),
		TEST("hosts in groups need fewer fetches of queue pairs", test_groups),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
