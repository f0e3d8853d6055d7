// SPDX-License-Identifier: GPL-2.0-only
/* The batches that the XDP appender sends equal those of libdart byte for byte. */
#include <endian.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <arpa/inet.h>
#include <linux/bpf.h>

#include <libdart/clock.h>
#include <libdart/random.h>

#include "selftests/lib/test.h"
#include "selftests/lib/xdp_reporter.h"

#define LISTS_MAX	2048
#define PAYLOAD		sizeof(struct dart_roce_headers)

/* See schemas/path-event.yaml. */
struct entry {
	__be64 time;
	uint8_t key[13];
	__be32 path[5];
	uint8_t zeros[DART_JOURNAL_ENTRY_MAX - 41];
} __attribute__((packed));

/* The entries that a list has and libdart's appender has not, without their times. */
struct waiting {
	struct entry *entries;
	uint32_t count;
	uint32_t in_batch; /* entries that libdart's appender has in the batch */
};

struct appending {
	struct dart_journal_target target;
	struct xdp_reporter *xdp;
	struct dart_journal_appender *appender; /* libdart's; NULL before the first batch */
	struct waiting lists[LISTS_MAX];
	struct dart_random random;
	uint64_t begin; /* ns since 1970 */
	uint32_t capacity, writes;
};

static struct appending appending;

static void begin(const struct dart_journal_geometry *geometry)
{
	uint32_t i;

	appending.target.geometry = *geometry;
	appending.begin = dart_clock__ns(CLOCK_REALTIME);
	appending.capacity = dart_journal_geometry__capacity(geometry);
	appending.writes = 0;
	appending.xdp = xdp_reporter__attach_journal(&appending.target);
	for (i = 0; i >> geometry->lists_log2 == 0; i++) {
		appending.lists[i] = (struct waiting){
			.entries = calloc(appending.capacity, sizeof(struct entry)),
		};
		assert_non_null(appending.lists[i].entries);
	}
}

static int end(void **state)
{
	void *attached = appending.xdp;
	uint32_t i;

	(void)state;
	dart_journal_appender__free(appending.appender);
	for (i = 0; i < LISTS_MAX; i++)
		free(appending.lists[i].entries);
	memset(appending.lists, 0, sizeof(appending.lists));
	appending.appender = NULL;
	appending.xdp = NULL;
	return xdp_reporter__detach(&attached);
}

/* The appender begins when the program is attached. */
static void check_start(const uint8_t *batch)
{
	uint64_t start = 0, seconds = appending.begin / 1000000000;
	uint32_t i;

	for (i = 0; i < 6; i++)
		start = start << 8 | batch[DART_JOURNAL_START + i];
	assert_in_range(start >> 16, seconds, seconds + 60);
	assert_int_equal(dart_journal_appender__new(&appending.target.geometry, start,
						    &appending.appender), 0);
}

static uint32_t list_of(const uint8_t *frame)
{
	const struct dart_journal_geometry *geometry = &appending.target.geometry;
	struct dart_roce_headers headers;

	memcpy(&headers, frame, sizeof(headers));
	return (be64toh(headers.reth.address) - appending.target.collector.base) >>
	       (geometry->batches_log2 + geometry->batch_log2);
}

/* The frame is the WRITE that libdart makes of the entries of its list, with the frame's times. */
static void expect(const uint8_t *frame, size_t length)
{
	const struct dart_journal_geometry *geometry = &appending.target.geometry;
	const uint64_t now = dart_clock__ns(CLOCK_REALTIME);
	const uint8_t *batch = frame + PAYLOAD;
	const uint32_t list = list_of(frame), count = batch[DART_JOURNAL_COUNT];
	struct waiting *waiting = &appending.lists[list];
	uint8_t expected[DART_JOURNAL_FRAME_MAX];
	struct dart_journal_write write;
	bool is_full = false;
	uint32_t i;

	assert_int_equal(length, PAYLOAD + (1u << geometry->batch_log2) + DART_ROCE_ICRC_LENGTH);
	assert_in_range(list, 0, (1u << geometry->lists_log2) - 1);
	if (!appending.appender)
		check_start(batch);
	assert_int_equal(count, waiting->in_batch + waiting->count);
	for (i = 0; i < waiting->count; i++) {
		memcpy(&waiting->entries[i].time,
		       batch + DART_JOURNAL_ENTRIES +
			       (waiting->in_batch + i) * geometry->entry_length,
		       sizeof(waiting->entries[i].time));
		assert_in_range(be64toh(waiting->entries[i].time), appending.begin, now);
		is_full = dart_journal_appender__append(appending.appender, list,
							&waiting->entries[i], &write);
	}
	if (!is_full)
		assert_true(dart_journal_appender__flush(appending.appender, list, &write));
	assert_int_equal(dart_journal_target__frame(
				 &appending.target, xdp_reporter__mac, list, &write,
				 appending.target.collector.first_psn + appending.writes++,
				 expected),
			 length);
	assert_memory_equal(frame, expected, length);
	waiting->in_batch = is_full ? 0 : count;
	waiting->count = 0;
}

static uint32_t list_of_key(const uint8_t key[13])
{
	return dart_store__crc(DART_STORE_SHARE, key, 13) &
	       ((1u << appending.target.geometry.lists_log2) - 1);
}

/* The entry of a frame with this flow and path waits in its list, or a WRITE came of it. */
static uint32_t append(const uint8_t key[13], const __be32 *path, uint32_t hops, uint32_t payload)
{
	const struct int_frame what = {
		.key = key,
		.key_length = 13,
		.path = path,
		.hops = hops,
		.hop_words = 1,
		.payload = payload,
	};
	struct waiting *waiting = &appending.lists[list_of_key(key)];
	uint8_t frame[INT_FRAME_MAX];
	struct entry *entry;
	uint32_t action;
	size_t length;

	assert_in_range(waiting->count, 0, appending.capacity - 1);
	entry = &waiting->entries[waiting->count++];
	*entry = (struct entry){};
	memcpy(entry->key, key, sizeof(entry->key));
	memcpy(entry->path, path, (hops < 5 ? hops : 5) * sizeof(*path));
	length = int_frame__build(&what, frame);
	action = xdp_reporter__run(appending.xdp, frame, &length, true);
	if (action == XDP_TX)
		expect(frame, length);
	else
		assert_int_equal(action, XDP_DROP);
	return action;
}

static void random_key(uint8_t key[13])
{
	uint32_t i;

	for (i = 0; i < 12; i++)
		key[i] = dart_random__next(&appending.random);
	key[12] = IPPROTO_UDP;
}

/* Entries of random flows that fill each list a few times. */
static void append_some(void)
{
	const uint32_t lists = 1u << appending.target.geometry.lists_log2;
	const uint32_t frames = appending.capacity * lists * 5 / 2;
	uint32_t i, hops, written = 0;
	uint8_t key[13];
	__be32 path[7];

	for (i = 0; i < frames; i++) {
		random_key(key);
		for (hops = 0; hops < 7; hops++)
			path[hops] = dart_random__next(&appending.random);
		hops = 1 + dart_random__below(&appending.random, 7);
		written += append(key, path, hops,
				  dart_random__below(&appending.random, 400)) == XDP_TX;
	}
	assert_true(written);
	assert_int_equal(xdp_reporter__count(appending.xdp, REPORTS), written);
	assert_int_equal(xdp_reporter__count(appending.xdp, REPORTS) +
			 xdp_reporter__count(appending.xdp, APPENDED), frames);
}

/* Flushes each list: only a list with waiting entries becomes a WRITE. */
static void flush_all(void)
{
	const struct dart_journal_geometry *geometry = &appending.target.geometry;
	uint8_t frame[INT_FRAME_MAX];
	uint32_t list, action;
	size_t length;

	for (list = 0; list >> geometry->lists_log2 == 0; list++) {
		length = PAYLOAD + (1u << geometry->batch_log2) + DART_ROCE_ICRC_LENGTH;
		action = xdp_reporter__flush(appending.xdp, list, frame, &length);
		assert_int_equal(action, appending.lists[list].count ? XDP_TX : XDP_DROP);
		if (action != XDP_TX)
			continue;
		assert_int_equal(list_of(frame), list);
		expect(frame, length);
	}
}

static void test_batches(void **state)
{
	static const struct dart_journal_geometry geometries[] = {
		{ 1, 0, 1, 6, 41 }, { 1, 0, 4, 7, 21 }, { 1, 3, 2, 8, 41 }, { 1, 2, 20, 10, 21 },
		{ 1, 11, 3, 6, 24 }, { 1, 1, 4, 9, 64 }, { 1, 0, 4, 10, 33 }, { 1, 4, 4, 8, 48 },
	};
	size_t i;

	appending.random = dart_random__of(1);
	for (i = 0; i < sizeof(geometries) / sizeof(geometries[0]); i++) {
		begin(&geometries[i]);
		append_some();
		flush_all();
		end(state);
	}
}

/* A batch that was flushed is sent again with more entries, at the same place. */
static void test_flushed_batches(void **state)
{
	static const struct dart_journal_geometry geometry = { 1, 0, 2, 8, 41 };
	const __be32 path[1] = { htonl(1) };
	uint32_t i;
	uint8_t key[13];

	(void)state;
	begin(&geometry);
	for (i = 0; i < 23; i++) {
		random_key(key);
		append(key, path, 1, 0);
		if (i % 3 == 0)
			flush_all();
	}
	flush_all();
}

/* Frames of another list carry the batch of a list that waits. */
static void test_waiting_lists(void **state)
{
	static const struct dart_journal_geometry geometry = { 1, 2, 2, 10, 21 };
	const __be32 path[1] = { htonl(1) };
	uint64_t begun = dart_clock__ns(CLOCK_MONOTONIC);
	uint8_t silent[13], loud[13];

	(void)state;
	begin(&geometry);
	random_key(silent);
	do
		random_key(loud);
	while (list_of_key(loud) == list_of_key(silent));
	assert_int_equal(append(silent, path, 1, 0), XDP_DROP);
	while (appending.lists[list_of_key(silent)].count) {
		append(loud, path, 1, 0);
		assert_in_range(dart_clock__ns(CLOCK_MONOTONIC), begun, begun + 60000000000ULL);
	}
	assert_true(dart_clock__ns(CLOCK_MONOTONIC) - begun > 900000000);
}

static void test_long_keys(void **state)
{
	static const struct dart_journal_geometry geometry = { 1, 0, 2, 8, 41 };
	const uint8_t key[37] = { 1, 2, 3, [36] = IPPROTO_UDP };
	const __be32 path[1] = { htonl(1) };
	const struct int_frame what = {
		.key = key,
		.key_length = sizeof(key),
		.path = path,
		.hops = 1,
		.hop_words = 1,
	};
	uint8_t frame[INT_FRAME_MAX];

	(void)state;
	begin(&geometry);
	xdp_reporter__expect_passed(appending.xdp, frame, int_frame__build(&what, frame),
				    UNASSIGNED, "a flow of IPv6");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST_FIXTURE("entries of random flows become libdart's batches, in each kind of geometry",
			     test_batches, NULL, end),
		TEST_FIXTURE("a batch that was flushed is sent again with more entries",
			     test_flushed_batches, NULL, end),
		TEST_FIXTURE("frames of another list carry the batch of a list that waits for a second",
			     test_waiting_lists, NULL, end),
		TEST_FIXTURE("flows of IPv6, for which entries have no room, pass unchanged",
			     test_long_keys, NULL, end),
	};

	return cmocka_run_group_tests_name("appender_frames", tests, xdp_reporter__setup,
					   xdp_reporter__teardown);
}
