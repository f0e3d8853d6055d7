// SPDX-License-Identifier: GPL-2.0-only
/* The main loop of dartd adds and removes records while a pass over many others runs. */
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include <libdart/clock.h>

#include "agent/base/host.h"
#include "agent/gather/gathering.h"
#include "agent/gather/own_sample.h"
#include "selftests/unit/unit.h"

#define RECORDS 200
#define INTERVAL_MS 10
#define SAMPLE_NS 200000 /* all records of a pass take longer than the interval */
#define CALLS 40

static pthread_t main_thread;
static atomic_uint samples; /* of the thread that gathers */

static int take_time(struct own_sample *sample, uint32_t index, void *values, uint64_t *number,
		     uint64_t *time)
{
	const uint64_t start = dart_clock__ns(CLOCK_MONOTONIC);

	if (pthread_equal(pthread_self(), main_thread))
		return 0;
	while (dart_clock__ns(CLOCK_MONOTONIC) - start < SAMPLE_NS)
		;
	samples++;
	return 0;
}

static void close_nothing(struct own_sample *sample)
{
}

static const struct own_sample_kind slow_kind = { .sample = take_time, .close = close_nothing };
static struct own_sample slow = { .kind = &slow_kind, .rows = 1 };

static void on_gone(void *owner, uint32_t id)
{
	fail_msg("record %u is gone", id);
}

static void on_namespaces(void *owner)
{
}

static const struct gathering_handlers handlers = {
	.on_gone = on_gone,
	.on_namespaces = on_namespaces,
};

static struct record *new_record(struct record_pages *pages)
{
	const struct dart_zero_piece piece = { .width = 8, .count = 1 };
	const struct dart_zero_record wanted = {
		.form = DART_ZERO_RECORD_SUM,
		.piece_count = 1,
		.pieces = (uintptr_t)&piece,
	};
	struct record *record;

	assert_int_equal(record__new(&wanted, sizeof(struct dart_zero_netdev_link), &record), 0);
	record->question.source = DART_ZERO_SOURCE_NETDEV_LINK;
	record->own = &slow;
	assert_int_equal(record__place(record, pages), 0);
	return record;
}

/* Returns when the thread is in a pass. */
static unsigned int wait_for_pass(void)
{
	const unsigned int before = samples;

	while (samples == before)
		;
	return samples;
}

/* The thread has no rest: its passes take longer than their interval. */
static void test_turns(void **state)
{
	static struct dart_zero_record_line lines[RECORDS];
	static struct record *records[RECORDS];
	struct gathering gathering;
	struct record_pages pages;
	struct dart_error error;
	unsigned int before, waited = 0, i;

	main_thread = pthread_self();
	assert_int_equal(subjects__open(&error), 0);
	assert_int_equal(record_pages__open(&pages, lines, sizeof(lines)), 0);
	assert_int_equal(gathering__open(&gathering, host__cpus(), &handlers, NULL, &error), 0);
	for (i = 0; i < RECORDS; i++) {
		records[i] = new_record(&pages);
		assert_int_equal(gathering__add(&gathering, records[i], INTERVAL_MS, false), 0);
	}
	for (i = 0; i < CALLS; i += 2) {
		before = wait_for_pass();
		gathering__remove(&gathering, records[0]);
		assert_int_equal(record__place(records[0], &pages), 0);
		assert_int_equal(gathering__add(&gathering, records[0], INTERVAL_MS, false), 0);
		waited += samples - before;
	}
	/* Each call waits for the record in progress, and perhaps for one more. */
	assert_in_range(waited, 0, 4 * CALLS);

	for (i = 0; i < RECORDS; i++) {
		gathering__remove(&gathering, records[i]);
		record__free(records[i]);
	}
	gathering__close(&gathering);
	record_pages__close(&pages);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("a call waits for a record, not for a pass over all", test_turns),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
