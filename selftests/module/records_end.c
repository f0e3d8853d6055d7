// SPDX-License-Identifier: GPL-2.0-only
/* Records of objects whose end the kernel announces to no one. */
#include <linux/loop.h>
#include <sys/stat.h>

#include "selftests/lib/device.h"
#include "selftests/lib/record.h"

#define CGROUP	"/sys/fs/cgroup/records-end"
#define NUMBER	77

static const struct dart_zero_piece first_word = { .width = 8, .count = 1 };

/* The record of the object at @path keeps its values after the object ended. */
static void expect_end(uint32_t source, const char *path, void (*end)(void))
{
	static uint64_t words[RECORD_ROW_WORDS_MAX];
	int region = device_open(), fd = open(path, O_PATH | O_CLOEXEC);
	const char *address = device_map(region);
	uint32_t pages = record_pages_new(region, 1);
	struct dart_zero_record record = record_of(pages, source, &first_word), kept = record;
	uint64_t sequence;

	assert_true(fd >= 0);
	record.fd = fd;
	assert_int_equal(record_add(region, &record), 0);
	kept.source = DART_ZERO_SOURCE_CPUSTAT;
	assert_int_equal(record_add(region, &kept), 0);
	close(fd);
	record_row_next(address, &record, 0, words);
	device_no_event(region);

	end();
	assert_int_equal(device_event(region, DART_ZERO_EVENT_RECORD_GONE), record.id);
	sequence = record_row_whole(address, &record, 0, words);
	record_row_next(address, &kept, 0, words);
	assert_int_equal(record_row_whole(address, &record, 0, words), sequence);
	device_no_event(region);
	assert_int_equal(device_remove(region, record.id), 0);
	close(region);
}

static void remove_cgroup(void)
{
	assert_int_equal(rmdir(CGROUP), 0);
}

static void test_cgroup(void **state)
{
	assert_int_equal(mkdir(CGROUP, 0755), 0);
	expect_end(DART_ZERO_SOURCE_CGROUP_CPU, CGROUP, remove_cgroup);
}

static void control_loop(unsigned long command)
{
	int control = open("/dev/loop-control", O_RDWR | O_CLOEXEC);

	assert_true(control >= 0);
	assert_int_equal(ioctl(control, command, NUMBER), command == LOOP_CTL_ADD ? NUMBER : 0);
	close(control);
}

static void remove_disk(void)
{
	control_loop(LOOP_CTL_REMOVE);
}

static void test_disk(void **state)
{
	char path[32];

	control_loop(LOOP_CTL_ADD);
	snprintf(path, sizeof(path), "/dev/loop%d", NUMBER);
	expect_end(DART_ZERO_SOURCE_DISK, path, remove_disk);
}

static int load_driver(void **state)
{
	return system("modprobe loop");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("the record of a cgroup that was removed is reported and no longer gathered",
		     test_cgroup),
		TEST("the record of a disk that was removed is reported and no longer gathered",
		     test_disk),
	};

	return cmocka_run_group_tests(tests, load_driver, NULL);
}
