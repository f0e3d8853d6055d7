// SPDX-License-Identifier: GPL-2.0-only
/*
 * A pass visits only cgroups in which a task ran since the kernel last added their times
 * up, regardless of other live or ended cgroups.
 */
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>

#include "selftests/lib/device.h"
#include "selftests/lib/record.h"

#define TOP	"/sys/fs/cgroup/records-cgroups"
#define LIVE	20
#define ENDED	300
#define DEPTH	40
#define PASSES	5
#define ATTEMPTS 3	/* a pass can sum three times while the kernel adds up */

static const struct dart_zero_piece runtime = { .offset = 16, .width = 8, .count = 1 };
static const struct dart_zero_piece all_costs = {
	.width = 8,
	.count = sizeof(struct dart_zero_gathering) / 8,
};

/* Since Linux 6.16 modules cannot find out which cgroups ran a task. */
static void need_lists(void)
{
	unsigned int major, minor;
	struct utsname system;

	uname(&system);
	assert_int_equal(sscanf(system.release, "%u.%u", &major, &minor), 2);
	if (major > 6 || (major == 6 && minor >= 16))
		skip();
}

static int cgroup_open(const char *path)
{
	int fd = open(path, O_PATH | O_CLOEXEC);

	assert_true(fd >= 0);
	return fd;
}

static struct dart_zero_record record_cgroup(int region, uint32_t pages, const char *path)
{
	struct dart_zero_record record = record_of(pages, DART_ZERO_SOURCE_CGROUP_CPU, &runtime);

	record.fd = cgroup_open(path);
	assert_int_equal(record_add(region, &record), 0);
	close(record.fd);
	return record;
}

/* A process that moves into @cgroup and runs there: for ever, or for a moment. */
static pid_t run_in(const char *cgroup, bool for_ever)
{
	char path[4200];
	pid_t process = fork();
	int fd, i;

	if (process)
		return process;
	snprintf(path, sizeof(path), "%s/cgroup.procs", cgroup);
	fd = open(path, O_WRONLY);
	if (fd < 0 || write(fd, "0", 1) != 1)
		_exit(1);
	for (i = 0; for_ever || i < 1000; i++)
		getppid();
	_exit(0);
}

static void run_once(const char *cgroup)
{
	pid_t process = run_in(cgroup, false);
	int status;

	assert_int_equal(waitpid(process, &status, 0), process);
	assert_int_equal(status, 0);
}

/* A value of a file of @cgroup; reading cpu.stat makes the kernel add times up. */
static uint64_t value_of(const char *cgroup, const char *file, const char *name)
{
	char path[4200], line[128];
	unsigned long long value = 0;
	size_t length = strlen(name);
	FILE *stream;

	snprintf(path, sizeof(path), "%s/%s", cgroup, file);
	stream = fopen(path, "r");
	assert_non_null(stream);
	while (fgets(line, sizeof(line), stream))
		if (!strncmp(line, name, length) && line[length] == ' ')
			value = strtoull(line + length, NULL, 10);
	fclose(stream);
	return value;
}

/* The largest number of cgroups visited in one of PASSES passes. */
static uint64_t visits_in_a_pass(const char *address, const struct dart_zero_record *cost)
{
	static uint64_t words[RECORD_ROW_WORDS_MAX];
	const struct dart_zero_gathering *gathering = (void *)&words[1];
	uint64_t most = 0, visits, passes;
	int i;

	record_row_next(address, cost, 0, words);
	for (i = 0; i < PASSES; i++) {
		visits = gathering->cgroup_visits;
		passes = gathering->passes;
		record_row_next(address, cost, 0, words);
		assert_true(gathering->passes > passes);
		visits = (gathering->cgroup_visits - visits) / (gathering->passes - passes);
		most = visits > most ? visits : most;
	}
	return most;
}

/*
 * Does @record show the time that the kernel reports for @cgroup?  An ended process uses time
 * until its CPU leaves it.
 */
static bool shows_usage(const char *address, const struct dart_zero_record *record,
			const char *cgroup)
{
	static uint64_t words[RECORD_ROW_WORDS_MAX];
	int i;

	for (i = 0; i < 100; i++) {
		record_row_next(address, record, 0, words);
		if (words[1] / 1000 == value_of(cgroup, "cpu.stat", "usage_usec"))
			return true;
	}
	return false;
}

static void test_ended(void **state)
{
	static uint64_t words[RECORD_ROW_WORDS_MAX];
	int region = device_open(), holder = device_open(), i;
	const char *address = device_map(region);
	uint32_t pages = record_pages_new(region, 2);
	uint32_t holding = record_pages_new(holder, ENDED);
	struct dart_zero_record cost, top, held;
	uint64_t quiet, usage, visits;
	char path[128];

	need_lists();
	assert_int_equal(mkdir(TOP, 0755), 0);
	cost = record_of(pages, DART_ZERO_SOURCE_GATHERING, &all_costs);
	assert_int_equal(record_add(region, &cost), 0);
	top = record_cgroup(region, pages, TOP);
	for (i = 0; i < LIVE; i++) {
		snprintf(path, sizeof(path), TOP "/live%d", i);
		assert_int_equal(mkdir(path, 0755), 0);
		record_cgroup(region, pages, path);
		run_once(path);
	}
	usage = value_of(TOP, "cpu.stat", "usage_usec");
	quiet = visits_in_a_pass(address, &cost);
	assert_in_range(quiet, 0, sysconf(_SC_NPROCESSORS_CONF) * ATTEMPTS);

	/* A record of another region keeps each ended cgroup, as a page of memory would. */
	for (i = 0; i < ENDED; i++) {
		snprintf(path, sizeof(path), TOP "/ended%d", i);
		assert_int_equal(mkdir(path, 0755), 0);
		held = record_of(holding, DART_ZERO_SOURCE_CGROUP_CPU, &runtime);
		held.interval_ms = DART_ZERO_RECORD_MS_MAX;
		held.fd = cgroup_open(path);
		assert_int_equal(record_add(holder, &held), 0);
		close(held.fd);
		run_once(path);
		assert_int_equal(rmdir(path), 0);
	}
	assert_int_equal(value_of(TOP, "cgroup.stat", "nr_dying_descendants"), ENDED);
	/* Check before the kernel adds the times up, and afterwards. */
	record_row_next(address, &top, 0, words);
	assert_true(words[1] / 1000 > usage);
	assert_true(shows_usage(address, &top, TOP));
	assert_in_range(visits_in_a_pass(address, &cost), 0,
			sysconf(_SC_NPROCESSORS_CONF) * ATTEMPTS);
	assert_true(shows_usage(address, &top, TOP));

	/*
	 * The counter works: a cgroup with a running task is visited, unless the kernel adds its
	 * times up before the next pass.
	 */
	snprintf(path, sizeof(path), TOP "/live0");
	for (i = 0, visits = 0; i < ATTEMPTS && !visits; i++) {
		run_once(path);
		visits = visits_in_a_pass(address, &cost);
	}
	assert_in_range(visits, 1, 2 * sysconf(_SC_NPROCESSORS_CONF) * ATTEMPTS);
	close(holder);
	close(region);
	for (i = 0; i < LIVE; i++) {
		snprintf(path, sizeof(path), TOP "/live%d", i);
		assert_int_equal(rmdir(path), 0);
	}
	assert_int_equal(rmdir(TOP), 0);
}

static void test_nested(void **state)
{
	int region = device_open(), i;
	const char *address = device_map(region);
	uint32_t pages = record_pages_new(region, 2);
	struct dart_zero_record cost, records[DEPTH];
	char path[4096] = TOP;
	uint64_t visits;
	pid_t process;

	need_lists();
	assert_int_equal(mkdir(TOP, 0755), 0);
	cost = record_of(pages, DART_ZERO_SOURCE_GATHERING, &all_costs);
	assert_int_equal(record_add(region, &cost), 0);
	for (i = 0; i < DEPTH; i++) {
		strcat(path, "/a");
		assert_int_equal(mkdir(path, 0755), 0);
	}
	/* Every second cgroup gets a record; lower cgroups are added first. */
	for (i = DEPTH - 1; i > 0; i -= 2) {
		path[strlen(TOP) + 2 * (i + 1)] = '\0';
		records[i] = record_cgroup(region, pages, path);
	}
	for (i = 0; i < DEPTH; i++)
		memcpy(path + strlen(TOP) + 2 * i, "/a", 3);
	process = run_in(path, true);
	while (!value_of(path, "cpu.stat", "usage_usec"))
		;
	visits = visits_in_a_pass(address, &cost);
	assert_in_range(visits, 1, DEPTH * sysconf(_SC_NPROCESSORS_CONF) * ATTEMPTS);
	kill(process, SIGKILL);
	assert_int_equal(waitpid(process, NULL, 0), process);
	/* Check the cgroups above the last one, too, whose times the kernel added up in part. */
	for (i = DEPTH - 1; i > 0; i -= 2)
		assert_true(shows_usage(address, &records[i], path));
	close(region);
	for (i = DEPTH; i; i--) {
		path[strlen(TOP) + 2 * i] = '\0';
		assert_int_equal(rmdir(path), 0);
	}
	assert_int_equal(rmdir(TOP), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("a pass does not look at cgroups that have ended, once the kernel has added them up, and has their times",
		     test_ended),
		TEST("a pass looks once at each nested cgroup, whichever have records, and all have the time of the last one",
		     test_nested),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
