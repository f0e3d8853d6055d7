// SPDX-License-Identifier: GPL-2.0-only
/*
 * The controller with hosts in memory, as make bench runs it, for a moment: each completed
 * scrape arrives at the output, and values, sums and rates follow the hosts' rule.
 */
#include "tools/bench/scraping.h"

#include "selftests/unit/unit.h"
#include "tools/bench/gathered_hosts.h"

#define TARGETS 40
#define COUNT 20 /* scrapes of each */
/* Counters with a rate above zero in the entry that was written since the scrape before. */
#define RATES_MIN 8
#define RATES_MAX 55

static void scrape(enum settings_io io, uint32_t io_threads)
{
	const struct scraping_settings settings = {
		.targets = TARGETS,
		.interval_ns = 10000000,
		.count = COUNT,
		.io = io,
		.io_threads = io_threads,
		.workers = 2,
		.check_every = 7,
	};
	struct scraping_result result;
	const char *fault;
	uint64_t apart;

	scraping__run(&settings, &result);
	fault = scraping_result__fault(&result);
	if (fault)
		fail_msg("%s", fault);
	assert_int_equal(result.scrapes, TARGETS * COUNT);
	assert_int_equal(result.discarded, 0);
	assert_int_equal(result.failed, 0);
	/* One in seven samples of each target: on a busy machine some targets get fewer samples. */
	apart = result.dropped ? TARGETS : 1;
	assert_in_range(result.output.checked + apart, result.output.samples / 7,
			result.output.samples / 7 + 2 * apart);
	/* Each sample but the first of a target is compared with the previous one. */
	assert_in_range(result.output.rates, (result.output.samples - TARGETS) * RATES_MIN,
			(result.output.samples - TARGETS) * RATES_MAX + result.dropped * RATES_MAX);
	assert_true(result.span.reads <= 3 * TARGETS * COUNT);
	/* On a busy machine the last target may begin when the first ones end. */
	if (result.span.scrapes <= TARGETS)
		return;
	assert_true(result.span.reads >= 3);
	assert_true(result.span.io_ns > 0);
	assert_true(result.span.worker_ns[0] + result.span.worker_ns[1] > 0);
}

static void test_event(void **state)
{
	scrape(SETTINGS_IO_EVENT, 1);
}

static void test_poll(void **state)
{
	scrape(SETTINGS_IO_POLL, 1);
}

static void test_threads(void **state)
{
	scrape(SETTINGS_IO_EVENT, 2);
	scrape(SETTINGS_IO_POLL, 2);
	scrape(SETTINGS_IO_EVENT, 5);
}

/* ---- the check of values, which can fail */

#define CPUS 8
#define WORDS 8
/* The last two entries contain counters of CPUs, and sums. */
#define SUMMED 2

static struct {
	struct gathered_hosts *hosts;
	struct simulated_host *host;
	uint64_t sums[SUMMED][WORDS];
	struct sample_entry entries[GATHERED_ENTRIES];
	struct dart_table table;
	struct sample sample;
} found;

static void add_up(void)
{
	const uint64_t(*cpus)[WORDS];
	uint32_t i, k, word;

	memset(found.sums, 0, sizeof(found.sums));
	for (i = 0; i < SUMMED; i++) {
		cpus = found.entries[GATHERED_ENTRIES - SUMMED + i].copies;
		for (k = 0; k < CPUS; k++)
			for (word = 0; word < WORDS; word++)
				found.sums[i][word] += cpus[k][word];
	}
}

/* Host 1 as scrape @number finds it. */
static void find(uint32_t number)
{
	for (; found.sample.head.sequence < number; found.sample.head.sequence++)
		found.host->write(found.host);
	add_up();
}

static bool is_right_of(uint32_t host)
{
	return gathered_hosts__are_values_of(host, &found.sample);
}

static void open_hosts(void)
{
	uint32_t i;

	memset(&found, 0, sizeof(found));
	found.hosts = gathered_hosts__new(2);
	found.host = gathered_hosts__all(found.hosts)[1];
	strcpy(found.table.node_name, "host1");
	found.table.instance = 2;
	found.sample.table = &found.table;
	found.sample.entries = found.entries;
	found.sample.entry_count = GATHERED_ENTRIES;
	for (i = 0; i < GATHERED_ENTRIES; i++)
		found.entries[i].copies = (char *)found.host->values.bytes +
					  i * GATHERED_ENTRY_LENGTH;
	for (i = 0; i < SUMMED; i++)
		found.entries[GATHERED_ENTRIES - SUMMED + i].sums = found.sums[i];
}

static void test_rule(void **state)
{
	uint8_t *bytes;

	open_hosts();
	find(0);
	assert_true(is_right_of(1));
	assert_false(is_right_of(0));
	find(1);
	assert_true(is_right_of(1));
	/* An old entry, and a sum. */
	found.sample.head.sequence = 2;
	assert_false(is_right_of(1));
	found.sample.head.sequence = 1;
	found.sums[1][WORDS - 1]++;
	assert_false(is_right_of(1));
	find(3 * GATHERED_ENTRIES);
	assert_true(is_right_of(1));
	bytes = (uint8_t *)found.host->values.bytes;
	for (uint32_t i = 0; i < GATHERED_VALUES; i++) {
		bytes[i] ^= 1;
		assert_false(is_right_of(1));
		bytes[i] ^= 1;
	}
	gathered_hosts__free(found.hosts);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("a sample has the values of its host and its scrape, or is wrong", test_rule),
		TEST("all scrapes of 40 hosts arrive, with values, sums and rates by the rule",
		     test_event),
		TEST("so they do with a thread that polls", test_poll),
		TEST("so they do with several threads of either kind", test_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
