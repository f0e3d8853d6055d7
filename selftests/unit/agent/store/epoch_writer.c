// SPDX-License-Identifier: GPL-2.0-only
/* Threads that write files of epochs: which files they remove, how fast they are, and how they end. */
#include <endian.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <libdart/clock.h>
#include <libdart/random.h>

#include "agent/store/epoch_writer.h"
#include "selftests/unit/unit.h"

#define HOUR_NS (UINT64_C(3600) * 1000000000)

static const struct dart_store_geometry geometry = { 64, 20, 32, 2 };

struct fixture {
	char state[64];
	struct epoch_folder folder;
	struct epoch_memory memory;
	int memory_fd;
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

/* ---- a disk that does not answer while threads are held */

static struct {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool holds;
	uint32_t held; /* threads */
} disk = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false, 0 };

int fsync(int fd)
{
	pthread_mutex_lock(&disk.lock);
	disk.held++;
	pthread_cond_broadcast(&disk.changed);
	while (disk.holds)
		pthread_cond_wait(&disk.changed, &disk.lock);
	disk.held--;
	pthread_cond_broadcast(&disk.changed);
	pthread_mutex_unlock(&disk.lock);
	return syscall(SYS_fsync, fd);
}

static void hold_disk(bool holds)
{
	pthread_mutex_lock(&disk.lock);
	disk.holds = holds;
	pthread_cond_broadcast(&disk.changed);
	pthread_mutex_unlock(&disk.lock);
}

static void wait_until_held(uint32_t threads)
{
	pthread_mutex_lock(&disk.lock);
	while (disk.held != threads)
		pthread_cond_wait(&disk.changed, &disk.lock);
	pthread_mutex_unlock(&disk.lock);
}

/* ---- a clock that steps */

static int64_t step_ns;

int clock_gettime(clockid_t clock, struct timespec *time)
{
	const int64_t second = 1000000000;
	int64_t ns;

	if (syscall(SYS_clock_gettime, clock, time))
		return -1;
	if (clock == CLOCK_REALTIME) {
		ns = time->tv_sec * second + time->tv_nsec + step_ns;
		*time = (struct timespec){ ns / second, ns % second };
	}
	return 0;
}

/* ---- a store with a full bank */

static void on_end(void *subject, int ret, const struct dart_error *error)
{
	struct fixture *fixture = subject;

	fixture->ret = ret;
	fixture->has_ended = true;
}

/* Memory of @length bytes for slots, with a descriptor as that of remote memory. */
static void open_memory(struct fixture *fixture, uint64_t length)
{
	const __be32 address = htobe32(0x0a000001);
	const uint64_t mapped = DART_EPOCH_MEMORY_LENGTH(length);
	void *memory;

	fixture->memory_fd = memfd_create("epochs", MFD_CLOEXEC);
	assert_int_equal(ftruncate(fixture->memory_fd, mapped), 0);
	memory = mmap(NULL, mapped, PROT_READ | PROT_WRITE, MAP_SHARED, fixture->memory_fd, 0);
	assert_ptr_not_equal(memory, MAP_FAILED);
	epoch_memory__open(&fixture->memory, memory, length, true, fixture->now_ns - 1000);
	epoch_memory__turn(&fixture->memory, fixture->now_ns, &address, 1);
}

static struct fixture *fixture__new(const struct dart_store_geometry *geometry)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));
	struct dart_error error;

	assert_non_null(fixture);
	snprintf(fixture->state, sizeof(fixture->state), "/tmp/epochs.XXXXXX");
	assert_non_null(mkdtemp(fixture->state));
	assert_int_equal(epoch_folder__open(&fixture->folder, fixture->state, "paths", &error), 0);
	fixture->now_ns = dart_clock__ns(CLOCK_REALTIME);
	open_memory(fixture, dart_store_geometry__length(geometry));
	assert_int_equal(sd_event_new(&fixture->loop), 0);
	fixture->writer = (struct epoch_writer){
		.folder = &fixture->folder,
		.memory = &fixture->memory,
		.memory_fd = fixture->memory_fd,
		.epoch = { .store = "paths", .geometry = *geometry },
		.ended = on_end,
		.subject = fixture,
	};
	assert_int_equal(epoch_writer__open(&fixture->writer, fixture->loop, &error), 0);
	return fixture;
}

/* The store is removed with its memory; its files stay. */
static void fixture__close(struct fixture *fixture)
{
	epoch_writer__close(&fixture->writer);
	sd_event_unref(fixture->loop);
	munmap(fixture->memory.address, DART_EPOCH_MEMORY_LENGTH(fixture->memory.length));
	close(fixture->memory_fd);
}

static void fixture__free(struct fixture *fixture)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -r %s", fixture->state);
	assert_int_equal(system(command), 0);
	free(fixture);
}

static int open_fixture(void **state)
{
	*filler = '\0';
	is_read_only = false;
	step_ns = 0;
	*state = fixture__new(&geometry);
	return 0;
}

static int close_fixture(void **state)
{
	struct fixture *fixture = *state;

	is_read_only = false;
	fixture__close(fixture);
	fixture__free(fixture);
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

static void start(struct fixture *fixture)
{
	struct dart_error error;

	fixture->has_ended = false;
	assert_int_equal(epoch_writer__start(&fixture->writer, false, &error), 0);
}

/* Returns the writer's result. */
static int wait_for_end(struct fixture *fixture)
{
	while (!fixture->has_ended)
		assert_true(sd_event_run(fixture->loop, UINT64_MAX) >= 0);
	return fixture->ret;
}

/* Writes the full bank; returns the writer's result. */
static int write_bank(struct fixture *fixture)
{
	start(fixture);
	return wait_for_end(fixture);
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

/* Ends the present epoch as well, and writes it. */
static void write_next(struct fixture *fixture)
{
	const __be32 address = htobe32(0x0a000001);

	epoch_memory__turn(&fixture->memory, dart_clock__ns(CLOCK_REALTIME), &address, 1);
	assert_int_equal(write_bank(fixture), 0);
}

/* By a clock that was wrong for one rotation all files but the last were too old. */
static void test_step(void **state)
{
	struct fixture *fixture = *state;
	char old[PATH_MAX + 64], young[PATH_MAX + 64];

	fixture->folder.keep_ns = HOUR_NS;
	add(fixture, 3 * HOUR_NS, old);
	add(fixture, HOUR_NS / 2, young);
	step_ns = 30 * 24 * HOUR_NS;
	assert_int_equal(write_bank(fixture), 0);
	assert_int_equal(access(old, F_OK), -1);
	assert_int_equal(access(young, F_OK), 0);
	write_next(fixture);
	assert_int_equal(count_files(fixture), 3);
	step_ns = 0;
	write_next(fixture);
	assert_int_equal(count_files(fixture), 4);
	assert_int_equal(access(young, F_OK), 0);
}

/* ---- many stores */

static const struct dart_store_geometry large = { 1 << 18, 20, 32, 2 };

#define STORES 8

/* Bytes of all files of a store; the bytes of its memory do not compress. */
static uint64_t bytes_of(const struct fixture *fixture)
{
	struct dart_error error;
	struct epoch_list list;
	uint64_t bytes;

	assert_int_equal(epoch_folder__list(&fixture->folder, &list, &error), 0);
	assert_int_equal(list.count, 1);
	bytes = list.items[0].bytes;
	free(list.items);
	return bytes;
}

static void test_rate(void **state)
{
	struct fixture *fixtures[STORES];
	struct dart_random random = dart_random__of(1);
	uint64_t bytes = 0;
	int64_t begin_ns, took_ns;
	size_t i, j;

	for (i = 0; i < STORES; i++) {
		uint64_t *slots;

		fixtures[i] = fixture__new(&large);
		slots = (uint64_t *)epoch_memory__slots(&fixtures[i]->memory,
							epoch_memory__other(&fixtures[i]->memory));
		for (j = 0; j < fixtures[i]->memory.length / sizeof(*slots); j++)
			slots[j] = dart_random__next(&random);
	}
	begin_ns = dart_clock__ns(CLOCK_MONOTONIC);
	for (i = 0; i < STORES; i++)
		start(fixtures[i]);
	for (i = 0; i < STORES; i++)
		assert_int_equal(wait_for_end(fixtures[i]), 0);
	took_ns = dart_clock__ns(CLOCK_MONOTONIC) - begin_ns;
	for (i = 0; i < STORES; i++) {
		bytes += bytes_of(fixtures[i]);
		fixture__close(fixtures[i]);
		fixture__free(fixtures[i]);
	}
	assert_true(bytes > STORES * dart_store_geometry__length(&large) / 2);
	/* Each thread may be a frame ahead. */
	bytes -= 2 * STORES * DART_EPOCH_FRAME_MAX;
	assert_true(took_ns >= (int64_t)(bytes * 1000000000 / EPOCH_WRITER_RATE));
}

/* The last of them waits for its turn, the others for the disk. */
static void test_removal(void **state)
{
	struct fixture *fixtures[EPOCH_WRITERS_MAX + 1];
	char file[PATH_MAX + 64];
	size_t i;

	hold_disk(true);
	for (i = 0; i <= EPOCH_WRITERS_MAX; i++) {
		fixtures[i] = fixture__new(&geometry);
		/* Otherwise the name of the folder would be made permanent first. */
		add(fixtures[i], HOUR_NS, file);
		start(fixtures[i]);
		if (i < EPOCH_WRITERS_MAX)
			wait_until_held(i + 1);
	}
	for (i = 0; i <= EPOCH_WRITERS_MAX; i++)
		fixture__close(fixtures[i]);
	hold_disk(false);
	/* All places are free again, or this would wait for ever. */
	wait_until_held(0);
	for (i = 0; i <= EPOCH_WRITERS_MAX; i++) {
		struct fixture *next = fixture__new(&geometry);

		assert_int_equal(write_bank(next), 0);
		fixture__close(next);
		fixture__free(next);
	}
	/* Threads that went on complete their files, and the last one none. */
	assert_int_equal(count_files(fixtures[EPOCH_WRITERS_MAX]), 1);
	for (i = 0; i <= EPOCH_WRITERS_MAX; i++) {
		while (i < EPOCH_WRITERS_MAX && count_files(fixtures[i]) == 1)
			sched_yield();
		fixture__free(fixtures[i]);
	}
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
		TEST_FIXTURE(
			"a clock that steps forward for a while costs no file that is to be kept",
			test_step, open_fixture, close_fixture),
		TEST("all writers together keep to the rate", test_rate),
		TEST("a store is removed while its file waits for a disk, or for its turn",
		     test_removal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
