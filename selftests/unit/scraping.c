// SPDX-License-Identifier: GPL-2.0-only
/*
 * The controller with hosts in memory, as make bench runs it, for a moment: each scrape that
 * completes arrives at the output, and values, sums and rates are those of the hosts' rule.
 */
#include "tools/bench/scraping.h"

#include "tools/bench/gathered_hosts.h"
#include "unit.h"

#define TARGETS 40
#define COUNT 20 /* scrapes of each */
/* Counters with a rate above zero in a record that was written since the last scrape. */
#define RATES_MIN 40

static void scrape(enum settings_io io)
{
	const struct scraping_settings settings = {
		.targets = TARGETS,
		.interval_ns = 10000000,
		.count = COUNT,
		.io = io,
		.workers = 2,
		.check_every = 7,
	};
	struct scraping_result result;
	const char *fault;

	scraping__run(&settings, &result);
	fault = scraping_result__fault(&result);
	if (fault)
		fail_msg("%s", fault);
	assert_int_equal(result.scrapes, TARGETS * COUNT);
	assert_int_equal(result.discarded, 0);
	assert_int_equal(result.failed, 0);
	assert_in_range(result.output.checked, result.output.samples / 7 - 1,
			result.output.samples / 7 + 1);
	/* Each sample but the first of a target is compared with the one before. */
	assert_in_range(result.output.rates,
			(result.output.samples - TARGETS) * RATES_MIN,
			(result.output.samples - TARGETS) *
				GATHERED_RECORDS * 56);
	assert_in_range(result.span.reads, 3, 3 * TARGETS * COUNT);
	assert_true(result.span.io_ns > 0);
	assert_true(result.span.worker_ns[0] + result.span.worker_ns[1] > 0);
}

static void test_event(void **state)
{
	scrape(SETTINGS_IO_EVENT);
}

static void test_poll(void **state)
{
	scrape(SETTINGS_IO_POLL);
}

/* The check of values can fail. */
static void test_rule(void **state)
{
	struct gathered_hosts *hosts = gathered_hosts__new(2);
	struct simulated_host *host = gathered_hosts__all(hosts)[1];
	struct dart_schema schema = {};
	struct dart_entry entry = { .schema = &schema };
	struct sample_entry entries[GATHERED_RECORDS];
	struct dart_table table = { .node_name = "host1", .instance = 2 };
	struct sample sample = {
		.table = &table,
		.entries = entries,
		.entry_count = GATHERED_RECORDS,
	};
	uint32_t i;

	for (i = 0; i < GATHERED_RECORDS; i++)
		entries[i] = (struct sample_entry){
			.entry = &entry,
			.copies = (char *)host->values.bytes +
				  i * GATHERED_RECORD_LENGTH,
		};
	assert_true(gathered_hosts__are_values_of(1, &sample));
	assert_false(gathered_hosts__are_values_of(0, &sample));
	/* As the first scrape should find them. */
	sample.head.sequence = 1;
	assert_false(gathered_hosts__are_values_of(1, &sample));
	host->write(host);
	assert_true(gathered_hosts__are_values_of(1, &sample));
	/* An entry of another scrape. */
	sample.head.sequence = GATHERED_RECORDS;
	for (i = 1; i < GATHERED_RECORDS; i++)
		host->write(host);
	assert_true(gathered_hosts__are_values_of(1, &sample));
	((char *)host->values.bytes)[GATHERED_VALUES - 1] ^= 1;
	assert_false(gathered_hosts__are_values_of(1, &sample));
	gathered_hosts__free(hosts);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("a sample has the values of its host and its scrape, or is wrong",
		     test_rule),
		TEST("all scrapes of 40 hosts arrive, with values, sums and rates by the rule",
		     test_event),
		TEST("so they do with a thread that polls", test_poll),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
