// SPDX-License-Identifier: GPL-2.0-only
/* Gathered records: the kernel copies counters into pages of the region. */
#include <linux/snmp.h>

#include "selftests/lib/device.h"
#include "selftests/lib/namespace.h"
#include "selftests/lib/record.h"

static const struct dart_zero_piece first_word = { .width = 8, .count = 1 };

static uint64_t boot_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

static void test_sum(void **state)
{
	static uint64_t words[RECORD_ROW_WORDS_MAX], before[4096];
	int region = device_open();
	const char *address = device_map(region);
	uint32_t pages = record_pages_new(region, 4);
	struct dart_zero_piece whole = { .width = 8 };
	struct dart_zero_record record = record_of(pages, DART_ZERO_SOURCE_VMSTAT, &whole);
	struct dart_zero_extent window;
	uint64_t start;
	uint32_t i;

	assert_int_equal(device_add_window(region, DART_ZERO_SOURCE_VMSTAT, &window), 0);
	whole.count = window.length / 8;
	assert_int_equal(record_add(region, &record), 0);
	assert_int_equal(record.rows, 1);
	assert_int_equal(record.length % DART_ZERO_RECORD_LINE, 0);
	assert_true(record.length > window.length);

	for (i = 0; i < whole.count; i++)
		before[i] = device_sum(address, &window, i);
	start = boot_ns();
	assert_true(record_row_next(address, &record, 0, words));
	assert_in_range(words[0], start, boot_ns());
	for (i = 0; i < whole.count; i++)
		assert_in_range(words[1 + i], before[i], device_sum(address, &window, i));
	close(region);
}

static void test_copies(void **state)
{
	static uint64_t words[RECORD_ROW_WORDS_MAX];
	int region = device_open();
	const char *address = device_map(region);
	const struct dart_zero_piece user = { .width = 8, .count = 3 };
	struct dart_zero_record record =
		record_of(record_pages_new(region, 16), DART_ZERO_SOURCE_CPUSTAT, &user);
	const long online = sysconf(_SC_NPROCESSORS_ONLN);
	const volatile uint64_t *copy;
	struct dart_zero_extent window;
	uint32_t row, i;

	record.form = DART_ZERO_RECORD_COPIES;
	assert_int_equal(device_add_window(region, DART_ZERO_SOURCE_CPUSTAT, &window), 0);
	assert_int_equal(record_add(region, &record), 0);
	assert_true(record.rows >= online);
	assert_int_equal(record.length, DART_ZERO_RECORD_LINE);
	for (row = 0; row < record.rows; row++) {
		if (row >= online) {
			assert_int_equal(record_row(address, &record, row, words), 0);
			continue;
		}
		record_row_next(address, &record, row, words);
		assert_in_range(words[0], 1, boot_ns());
		assert_int_equal(words[1], row);
		copy = (const void *)(address + window.data + row * window.stride);
		for (i = 0; i < 3; i++)
			assert_in_range(words[2 + i], 0, copy[i]);
		assert_int_equal(words[5], 0);
	}
	close(region);
}

/* Pieces of each width, from the only copy that contains values from the start. */
static void test_widths(void **state)
{
	static uint64_t words[RECORD_ROW_WORDS_MAX];
	int region = device_open();
	const char *address = device_map(region);
	uint32_t pages = record_pages_new(region, 4);
	const struct dart_zero_piece pieces[] = {
		{ .offset = 24, .width = 8, .count = 1 },
		{ .offset = 24, .width = 1, .count = 3 },
		{ .offset = 24, .width = 2, .count = 1 },
		{ .offset = 24, .width = 4, .count = 2 },
		{ .offset = 0, .width = 8, .count = 1 },
	};
	struct dart_zero_record record = record_of(pages, DART_ZERO_SOURCE_GATHERING, pieces);

	record.piece_count = 5;
	assert_int_equal(record_add(region, &record), 0);
	assert_int_equal(record.length, DART_ZERO_RECORD_LINE);
	do
		record_row_next(address, &record, 0, words);
	while (!words[1]); /* wait for the end of the first pass */
	assert_int_equal(words[2], (words[1] & 0xffffff) | (words[1] & 0xffff) << 32);
	assert_int_equal(words[3], words[1]);
	assert_true(words[4] > 0);
	assert_int_equal(words[5], 0);
	close(region);
}

/* The sum over all copies of the element of 4 bytes at @index. */
static uint32_t narrow_sum(const char *address, const struct dart_zero_extent *extent, size_t index)
{
	uint32_t sum = 0;

	for (uint32_t cpu = 0; cpu < extent->copies; cpu++)
		sum += ((const volatile uint32_t *)
			(address + extent->data + cpu * extent->stride))[index];
	return sum;
}

/* kstat: a sum of 8 bytes, and a sum of 4 bytes for each softirq. */
static void test_narrow_sums(void **state)
{
	static uint64_t words[RECORD_ROW_WORDS_MAX];
	const uint32_t *sums = (const uint32_t *)&words[2];
	int region = device_open();
	const char *address = device_map(region);
	uint32_t pages = record_pages_new(region, 4);
	const struct dart_zero_piece pieces[] = {
		{ .offset = 0, .width = 8, .count = 1 },
		{ .offset = 8, .width = 4, .count = 10 },
	};
	struct dart_zero_record record = record_of(pages, DART_ZERO_SOURCE_KSTAT, pieces);
	struct dart_zero_extent window;
	uint32_t before[10], i;

	assert_int_equal(device_add_window(region, DART_ZERO_SOURCE_KSTAT, &window), 0);
	record.piece_count = 2;
	assert_int_equal(record_add(region, &record), 0);
	assert_int_equal(record.length, DART_ZERO_RECORD_LINE);
	for (i = 0; i < 10; i++)
		before[i] = narrow_sum(address, &window, 2 + i);
	record_row_next(address, &record, 0, words);
	for (i = 0; i < 10; i++)
		assert_in_range(sums[i], before[i], narrow_sum(address, &window, 2 + i));
	close(region);
}

static void test_cost(void **state)
{
	enum { RECORDS = 100 };
	static uint64_t words[RECORD_ROW_WORDS_MAX];
	int region = device_open();
	const char *address = device_map(region);
	uint32_t pages = record_pages_new(region, 4);
	const struct dart_zero_piece all = {
		.width = 8,
		.count = sizeof(struct dart_zero_gathering) / 8,
	};
	struct dart_zero_record cost = record_of(pages, DART_ZERO_SOURCE_GATHERING, &all), record;
	const struct dart_zero_gathering *gathering = (void *)&words[1];
	struct dart_zero_gathering first;
	int i;

	assert_int_equal(record_add(region, &cost), 0);
	for (i = 0; i < RECORDS; i++) {
		record = record_of(pages, DART_ZERO_SOURCE_CPUSTAT, &first_word);
		assert_int_equal(record_add(region, &record), 0);
	}
	record_row_next(address, &cost, 0, words);
	first = *gathering;
	for (i = 0; i < 5; i++)
		record_row_next(address, &cost, 0, words);
	assert_true(gathering->passes >= first.passes + 5);
	assert_int_equal(gathering->records - first.records,
			 (gathering->passes - first.passes) * (RECORDS + 1));
	assert_true(gathering->time_ns > first.time_ns);
	assert_in_range(gathering->longest_ns, gathering->time_ns / gathering->passes,
			gathering->time_ns);
	close(region);
}

static void test_interval(void **state)
{
	static uint64_t words[RECORD_ROW_WORDS_MAX];
	int region = device_open();
	const char *address = device_map(region);
	uint32_t pages = record_pages_new(region, 1);
	struct dart_zero_record slow = record_of(pages, DART_ZERO_SOURCE_CPUSTAT, &first_word);
	struct dart_zero_record fast = slow, idle = slow;
	uint64_t slow_sequence, idle_sequence, first;
	int i;

	slow.interval_ms = 3600000;
	idle.flags = DART_ZERO_RECORD_DEFERRABLE;
	assert_int_equal(record_add(region, &slow), 0);
	assert_int_equal(record_add(region, &fast), 0);
	assert_int_equal(record_add(region, &idle), 0);
	slow_sequence = record_row_whole(address, &slow, 0, words);
	assert_true(slow_sequence);
	idle_sequence = record_row_whole(address, &idle, 0, words);
	record_row_next(address, &fast, 0, words);
	first = words[0];
	for (i = 0; i < 20; i++)
		record_row_next(address, &fast, 0, words);
	/* Two passes at least for each, and never in advance. */
	assert_true(words[0] - first > 20 * 2 * 10000000ULL - 10000000);
	assert_int_equal(record_row_whole(address, &slow, 0, words), slow_sequence);
	/* This CPU was not idle all the time. */
	assert_true(record_row_whole(address, &idle, 0, words) > idle_sequence);
	close(region);
}

static void test_gone(void **state)
{
	static uint64_t words[RECORD_ROW_WORDS_MAX];
	int region = device_open(), namespace = namespace_new();
	const char *address = device_map(region);
	uint32_t pages = record_pages_new(region, 1);
	const struct dart_zero_piece sent = {
		.offset = 8 * UDP_MIB_OUTDATAGRAMS,
		.width = 8,
		.count = 1,
	};
	struct dart_zero_record record =
		record_of(pages, DART_ZERO_SOURCE_UDP, &sent), kept = record;
	uint64_t sequence;

	record.fd = namespace;
	assert_int_equal(record_add(region, &record), 0);
	kept.source = DART_ZERO_SOURCE_CPUSTAT;
	assert_int_equal(record_add(region, &kept), 0);
	namespace_send(namespace, 10);
	record_row_next(address, &record, 0, words);
	assert_int_equal(words[1], 10);
	device_no_event(region);

	close(namespace);
	assert_int_equal(device_event(region, DART_ZERO_EVENT_RECORD_GONE), record.id);
	sequence = record_row_whole(address, &record, 0, words);
	assert_int_equal(words[1], 10);
	record_row_next(address, &kept, 0, words);
	assert_int_equal(record_row_whole(address, &record, 0, words), sequence);
	device_no_event(region);
	assert_int_equal(device_remove(region, record.id), 0);
	assert_int_equal(record_row(address, &record, 0, words), 0);
	close(region);
}

static void test_removed(void **state)
{
	static uint64_t words[RECORD_ROW_WORDS_MAX];
	int region = device_open();
	const char *address = device_map(region);
	uint32_t pages = record_pages_new(region, 1), i, place;
	const uint32_t count = PAGE / DART_ZERO_RECORD_LINE;
	struct dart_zero_record *records = calloc(count, sizeof(*records)), record;
	uint64_t sequence;

	assert_non_null(records);
	for (i = 0; i < count; i++) {
		records[i] = record_of(pages, DART_ZERO_SOURCE_CPUSTAT, &first_word);
		assert_int_equal(record_add(region, &records[i]), 0);
		assert_int_equal(records[i].data, records[0].data + i * DART_ZERO_RECORD_LINE);
	}
	record = record_of(pages, DART_ZERO_SOURCE_CPUSTAT, &first_word);
	assert_int_equal(record_add(region, &record), -ENOSPC);
	assert_int_equal(device_remove(region, pages), -EBUSY);

	place = 17;
	sequence = record_row_whole(address, &records[place], 0, words);
	assert_int_equal(device_remove(region, records[place].id), 0);
	assert_int_equal(record_row(address, &records[place], 0, words), 0);
	for (i = 0; i < 7; i++)
		assert_int_equal(words[i], 0);
	assert_int_equal(device_remove(region, records[place].id), -ENOENT);
	assert_int_equal(record_add(region, &record), 0);
	assert_int_equal(record.data, records[place].data);
	assert_true(record_row_whole(address, &record, 0, words) > sequence);
	assert_int_equal(device_remove(region, record.id), 0);

	for (i = 0; i < count; i++)
		if (i != place)
			assert_int_equal(device_remove(region, records[i].id), 0);
	assert_int_equal(device_remove(region, pages), 0);
	free(records);
	close(region);
}

static void test_described(void **state)
{
	int region = device_open();
	uint32_t pages = record_pages_new(region, 1);
	struct dart_zero_record record = record_of(pages, DART_ZERO_SOURCE_CPUSTAT, &first_word);
	struct dart_zero_extent window;

	assert_int_equal(device_add_window(region, DART_ZERO_SOURCE_CPUSTAT, &window), 0);
	record.piece_count = 0;
	assert_int_equal(record_add(region, &record), 0);
	assert_int_equal(record.id, 0);
	assert_int_equal(record.length, window.length);
	assert_string_equal(record.name, window.name);

	record = record_of(pages, DART_ZERO_SOURCE_GATHERING, &first_word);
	record.piece_count = 0;
	assert_int_equal(record_add(region, &record), 0);
	assert_int_equal(record.length, sizeof(struct dart_zero_gathering));
	assert_string_equal(record.name, "dart_zero_gathering");
	assert_int_equal(device_remove(region, pages), 0);
	close(region);
}

static void refuse(int region, struct dart_zero_record record, int expected)
{
	const struct dart_zero_record asked = record;

	assert_int_equal(record_add(region, &record), expected);
	assert_memory_equal(&record, &asked, sizeof(record));
}

static void refuse_piece(int region, uint32_t pages, struct dart_zero_piece piece)
{
	refuse(region, record_of(pages, DART_ZERO_SOURCE_GATHERING, &piece), -EINVAL);
}

static void test_refusals(void **state)
{
	const uint32_t length = sizeof(struct dart_zero_gathering);
	int region = device_open();
	uint32_t pages = record_pages_new(region, 1);
	struct dart_zero_slab slab = { .size = sizeof(slab), .pages = 1 };
	const struct dart_zero_record good =
		record_of(pages, DART_ZERO_SOURCE_CPUSTAT, &first_word);
	struct dart_zero_record bad;
	struct dart_zero_slice slice = { .size = sizeof(slice), .pages = 1 };

#define REFUSE(member, value, expected) \
	do { bad = good; bad.member = value; refuse(region, bad, expected); } \
	while (0)
	REFUSE(size, sizeof(bad) - 8, -EINVAL);
	REFUSE(flags, 2, -EINVAL);
	REFUSE(form, 0, -EINVAL);
	REFUSE(form, 3, -EINVAL);
	REFUSE(interval_ms, DART_ZERO_RECORD_MS_MIN - 1, -EINVAL);
	REFUSE(interval_ms, DART_ZERO_RECORD_MS_MAX + 1, -EINVAL);
	REFUSE(piece_count, DART_ZERO_RECORD_WORDS_MAX + 1, -EINVAL);
	REFUSE(id, 1, -EINVAL);
	REFUSE(rows, 1, -EINVAL);
	REFUSE(data, 1, -EINVAL);
	REFUSE(length, 1, -EINVAL);
	REFUSE(name[0], 'x', -EINVAL);
	REFUSE(pieces, 8, -EFAULT);
	REFUSE(source, 0, -EINVAL);
	REFUSE(source, 1000, -EINVAL);
	REFUSE(fd, 0, -EINVAL);
	REFUSE(ifindex, 1, -EINVAL);
	REFUSE(path, (uintptr_t)"/", -EINVAL);
	REFUSE(device_major, 1, -EINVAL);
	REFUSE(device_minor, 1, -EINVAL);
	REFUSE(slab, 1000, -ENOENT);
	assert_int_equal(device_call(region, DART_ZERO_IOC_ADD_SLAB, &slab), 0);
	REFUSE(slab, slab.extent.id, -ENOENT);
	slice.slab = pages;
	assert_int_equal(device_call(region, DART_ZERO_IOC_ADD_SLICE, &slice), -ENOENT);

	bad = record_of(pages, DART_ZERO_SOURCE_GATHERING, &first_word);
	bad.form = DART_ZERO_RECORD_COPIES;
	refuse(region, bad, -EINVAL);
	refuse_piece(region, pages, (struct dart_zero_piece){ 0, 3, 1 });
	refuse_piece(region, pages, (struct dart_zero_piece){ 0, 16, 1 });
	refuse_piece(region, pages, (struct dart_zero_piece){ 0, 0, 1 });
	refuse_piece(region, pages, (struct dart_zero_piece){ 0, 8, 0 });
	refuse_piece(region, pages, (struct dart_zero_piece){ 4, 8, 1 });
	refuse_piece(region, pages, (struct dart_zero_piece){ length, 8, 1 });
	refuse_piece(region, pages, (struct dart_zero_piece){ 0, 8, length / 8 + 1 });
	refuse_piece(region, pages, (struct dart_zero_piece){ length - 8, 1, 9 });
	refuse_piece(region, pages, (struct dart_zero_piece){ -8, 8, 1 });

	bad = good;
	assert_int_equal(record_add(region, &bad), 0);
	close(region);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("a sum has the values of a window added up over all CPUs, and the time of gathering",
		     test_sum),
		TEST("copies have a row for each online CPU, with its number, and empty rows for the others",
		     test_copies),
		TEST("each element of 1, 2, 4 or 8 bytes lies at the next multiple of its width",
		     test_widths),
		TEST("values of 4 bytes share words, and each is the sum of its own elements",
		     test_narrow_sums),
		TEST("the record of the gathering counts passes, records and time", test_cost),
		TEST("a record is gathered again at its interval and not before", test_interval),
		TEST("a record whose namespace ends is reported and keeps its values until it is removed",
		     test_gone),
		TEST("records lie side by side, and a removed one is empty and has its place taken by the next",
		     test_removed),
		TEST("ADD_RECORD without pieces describes the counters and adds nothing",
		     test_described),
		TEST("ADD_RECORD refuses each invalid argument and changes nothing", test_refusals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
