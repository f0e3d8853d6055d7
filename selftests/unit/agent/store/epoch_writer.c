// SPDX-License-Identifier: GPL-2.0-only
/* The thread that writes files of epochs: which files it removes, and when. */
#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <libdart/clock.h>
#include <libdart/store/store_hash.h>

#include "agent/store/epoch_writer.h"
#include "selftests/unit/unit.h"

#define HOUR_NS (UINT64_C(3600) * 1000000000)

static const struct dart_store_geometry geometry = { 64, 20, 32, 2 };

struct fixture {
	char state[64];
	struct epoch_folder folder;
	struct epoch_memory memory;
	struct epoch_writer writer;
	sd_event *loop;
	uint64_t now_ns;
	int ret;
	bool has_ended;
};

/* ---- a disk that is full as long as this file is there */

static char filler[PATH_MAX + 64];
static bool is_read_only;

ssize_t pwrite(int fd, const void *bytes, size_t length, off_t offset)
{
	if (*filler && !access(filler, F_OK)) {
		errno = ENOSPC;
		return -1;
	}
	return syscall(SYS_pwrite64, fd, bytes, length, offset);
}

int unlink(const char *path)
{
	if (is_read_only) {
		errno = EROFS;
		return -1;
	}
	return syscall(SYS_unlinkat, -100, path, 0);
}

/* ---- a store with a full bank */

static void on_end(void *subject, int ret, const struct dart_error *error)
{
	struct fixture *fixture = subject;

	fixture->ret = ret;
	fixture->has_ended = true;
}

static int open_fixture(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));
	const uint64_t length = dart_store_geometry__length(&geometry);
	const __be32 address = htobe32(0x0a000001);
	struct dart_error error;
	void *memory;

	assert_non_null(fixture);
	snprintf(fixture->state, sizeof(fixture->state), "/tmp/epochs.XXXXXX");
	assert_non_null(mkdtemp(fixture->state));
	assert_int_equal(epoch_folder__open(&fixture->folder, fixture->state, "paths", &error), 0);
	fixture->now_ns = dart_clock__ns(CLOCK_REALTIME);
	memory = calloc(1, DART_EPOCH_MEMORY_LENGTH(length));
	assert_non_null(memory);
	epoch_memory__open(&fixture->memory, memory, length, true, fixture->now_ns - 1000);
	epoch_memory__turn(&fixture->memory, fixture->now_ns, &address, 1);
	assert_int_equal(sd_event_new(&fixture->loop), 0);
	fixture->writer = (struct epoch_writer){
		.folder = &fixture->folder,
		.memory = &fixture->memory,
		.epoch = { .store = "paths", .geometry = geometry },
		.ended = on_end,
		.subject = fixture,
	};
	assert_int_equal(epoch_writer__open(&fixture->writer, fixture->loop, &error), 0);
	*filler = '\0';
	is_read_only = false;
	*state = fixture;
	return 0;
}

static int close_fixture(void **state)
{
	struct fixture *fixture = *state;
	char command[128];

	is_read_only = false;
	epoch_writer__close(&fixture->writer);
	sd_event_unref(fixture->loop);
	free(fixture->memory.address);
	snprintf(command, sizeof(command), "rm -r %s", fixture->state);
	assert_int_equal(system(command), 0);
	free(fixture);
	return 0;
}

/* A file of an epoch that ended @age_ns before now; its path is in @path. */
static void add(const struct fixture *fixture, uint64_t age_ns, char path[PATH_MAX + 64])
{
	const uint64_t until_ns = fixture->now_ns - age_ns;
	char command[2 * PATH_MAX];

	snprintf(path, PATH_MAX + 64, "%s/%llu-%llu.dart", fixture->folder.path,
		 (unsigned long long)until_ns - 1000, (unsigned long long)until_ns);
	snprintf(command, sizeof(command), "mkdir -p %s && echo epoch >%s", fixture->folder.path,
		 path);
	assert_int_equal(system(command), 0);
}

static size_t count_files(const struct fixture *fixture)
{
	struct dart_error error;
	struct epoch_list list;

	assert_int_equal(epoch_folder__list(&fixture->folder, &list, &error), 0);
	free(list.items);
	return list.count;
}

/* Writes the full bank; returns the writer's result. */
static int write_bank(struct fixture *fixture)
{
	struct dart_error error;

	fixture->has_ended = false;
	assert_int_equal(epoch_writer__start(&fixture->writer, false, &error), 0);
	while (!fixture->has_ended)
		assert_true(sd_event_run(fixture->loop, UINT64_MAX) >= 0);
	return fixture->ret;
}

/* Otherwise files beyond the age to keep would stop all later epochs. */
static void test_full_disk(void **state)
{
	struct fixture *fixture = *state;
	char young[PATH_MAX + 64];

	fixture->folder.keep_ns = HOUR_NS;
	add(fixture, 3 * HOUR_NS, filler);
	add(fixture, HOUR_NS / 2, young);
	assert_int_equal(write_bank(fixture), 0);
	assert_int_equal(access(filler, F_OK), -1);
	assert_int_equal(access(young, F_OK), 0);
	assert_int_equal(count_files(fixture), 2);
	assert_true(epoch_memory__is_clear(&fixture->memory));
}

static void test_kept_files(void **state)
{
	struct fixture *fixture = *state;
	char young[PATH_MAX + 64];

	fixture->folder.keep_ns = HOUR_NS;
	add(fixture, HOUR_NS / 2, filler);
	add(fixture, HOUR_NS / 4, young);
	assert_int_equal(write_bank(fixture), -ENOSPC);
	assert_int_equal(count_files(fixture), 2);
	assert_true(epoch_memory__is_full(&fixture->memory));
}

/* The epoch is in its file all the same. */
static void test_read_only(void **state)
{
	struct fixture *fixture = *state;
	char old[PATH_MAX + 64];

	fixture->folder.keep_ns = HOUR_NS;
	add(fixture, 3 * HOUR_NS, old);
	is_read_only = true;
	assert_int_equal(write_bank(fixture), 0);
	assert_int_equal(count_files(fixture), 2);
	assert_int_equal(fixture->writer.retained, -EROFS);
	assert_non_null(strstr(fixture->writer.retain_error.text, "cannot remove"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST_FIXTURE("files that are too old make room for the next one", test_full_disk,
			     open_fixture, close_fixture),
		TEST_FIXTURE("a full disk does not cost files that are to be kept", test_kept_files,
			     open_fixture, close_fixture),
		TEST_FIXTURE("a file that cannot be removed is told of", test_read_only,
			     open_fixture, close_fixture),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
