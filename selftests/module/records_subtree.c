// SPDX-License-Identifier: GPL-2.0-only
/* The record of a cgroup's CPU time, while the cgroups below it come and go. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "selftests/lib/device.h"
#include "selftests/lib/record.h"

#define TOP	"/sys/fs/cgroup/records-subtree"
#define CHILDREN 150	/* more than two batches of the module */
#define ROUNDS	600
#define SPIN_NS	500000

/* Offset in struct cgroup_base_stat: stime and utime of struct task_cputime precede it. */
static const struct dart_zero_piece runtime = {
	.offset = 16,
	.width = 8,
	.count = 1,
};

/* Each cgroup with an odd number lies below the previous one. */
static const char *path_of(uint32_t child, const char *below)
{
	static char path[128];

	if (child % 2)
		snprintf(path, sizeof(path), TOP "/%u/%u%s", child - 1, child, below);
	else
		snprintf(path, sizeof(path), TOP "/%u%s", child, below);
	return path;
}

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000ULL + time.tv_nsec;
}

/* Moves into cgroups, which it makes and removes, and uses time in each. */
static int come_and_go(void)
{
	uint32_t round, child;
	uint64_t end;
	int procs;

	for (round = 0; round < ROUNDS; round++) {
		child = round * 7 % CHILDREN;
		if (mkdir(path_of(child, "/new"), 0755))
			return 1;
		procs = open(path_of(child, "/new/cgroup.procs"), O_WRONLY);
		if (procs < 0 || write(procs, "0", 1) != 1)
			return 2;
		close(procs);
		for (end = now() + SPIN_NS; now() < end;)
			;
		/* So the upper cgroup contains tasks while cgroups below it do, too. */
		procs = open(path_of(child, "/cgroup.procs"), O_WRONLY);
		if (procs < 0 || write(procs, "0", 1) != 1)
			return 3;
		close(procs);
		if (rmdir(path_of(child, "/new")))
			return 4;
	}
	return 0;
}

/* The time that the kernel added up, in microseconds. */
static uint64_t usage(void)
{
	FILE *file = fopen(TOP "/cpu.stat", "r");
	unsigned long long microseconds;

	assert_non_null(file);
	assert_int_equal(fscanf(file, "usage_usec %llu", &microseconds), 1);
	fclose(file);
	return microseconds;
}

static void test_subtree(void **state)
{
	static uint64_t words[RECORD_ROW_WORDS_MAX];
	int region = device_open(), fd, status;
	const char *address = device_map(region);
	uint32_t pages = record_pages_new(region, 1), child;
	struct dart_zero_record record = record_of(pages, DART_ZERO_SOURCE_CGROUP_CPU, &runtime);
	uint64_t last = 0;
	pid_t process;

	assert_int_equal(mkdir(TOP, 0755), 0);
	for (child = 0; child < CHILDREN; child++)
		assert_int_equal(mkdir(path_of(child, ""), 0755), 0);
	fd = open(TOP, O_PATH | O_CLOEXEC);
	record.fd = fd;
	assert_int_equal(record_add(region, &record), 0);
	close(fd);

	process = fork();
	if (!process)
		_exit(come_and_go());
	while (!waitpid(process, &status, WNOHANG)) {
		record_row_next(address, &record, 0, words);
		assert_true(words[1] >= last);
		last = words[1];
	}
	assert_int_equal(status, 0);
	for (child = CHILDREN; child--;)
		assert_int_equal(rmdir(path_of(child, "")), 0);

	record_row_next(address, &record, 0, words);
	assert_true(words[1] >= last);
	assert_true(words[1] >= (uint64_t)ROUNDS * SPIN_NS / 2);
	assert_int_equal(words[1] / 1000, usage());
	device_no_event(region);
	assert_int_equal(rmdir(TOP), 0);
	assert_int_equal(device_event(region, DART_ZERO_EVENT_RECORD_GONE), record.id);
	close(region);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("the gathered time of a cgroup never falls while cgroups below it come and go, and is that of cpu.stat when all have ended",
		     test_subtree),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
