// SPDX-License-Identifier: GPL-2.0-only
/*
 * cgroup_passes LIVE LEVELS ENDED: measures a pass over the CPU time of LIVE cgroups in chains of
 * LEVELS, first alone, then with ENDED cgroups that are removed but still referenced.  Processes
 * run in one live cgroup after the other meanwhile.  Prints JSON.  Run it as root, on a machine
 * without other load.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <linux/dart_zero.h>
#include <linux/sched.h>

#define TOP		"/sys/fs/cgroup/passes"
#define INTERVAL_MS	200
#define PASSES		41
#define PAGE_RECORDS	64

static const struct dart_zero_piece times = { .width = 8, .count = 4 };
/* No more than fit into the first line of the row, after the time: see read_cost(). */
static const struct dart_zero_piece costs = {
	.width = 8,
	.count = offsetof(struct dart_zero_gathering, stale) / 8,
};

static void need(bool is_good, const char *call)
{
	if (is_good)
		return;
	fprintf(stderr, "cgroup_passes: %s: %s\n", call, strerror(errno));
	exit(1);
}

static int region_open(void)
{
	int region = open(DART_ZERO_DEVICE, O_RDWR | O_CLOEXEC);

	need(region >= 0, DART_ZERO_DEVICE);
	return region;
}

static uint32_t add_pages(int region, uint32_t records)
{
	struct dart_zero_slab slab = {
		.size = sizeof(slab),
		.flags = DART_ZERO_SLAB_RECORDS,
		.pages = records / PAGE_RECORDS + 1,
	};

	need(!ioctl(region, DART_ZERO_IOC_ADD_SLAB, &slab), "pages of records");
	return slab.extent.id;
}

static struct dart_zero_record add_record(int region, uint32_t pages, uint32_t source, int fd,
					  const struct dart_zero_piece *piece, uint32_t interval_ms)
{
	struct dart_zero_record record = {
		.size = sizeof(record),
		.slab = pages,
		.form = DART_ZERO_RECORD_SUM,
		.interval_ms = interval_ms,
		.piece_count = 1,
		.pieces = (uintptr_t)piece,
		.source = source,
		.fd = fd,
	};

	need(!ioctl(region, DART_ZERO_IOC_ADD_RECORD, &record), "a record");
	return record;
}

/* The path of a live cgroup: /passes/0/0/..., /passes/1/0/..., LEVELS deep each. */
static const char *live_path(uint32_t index, uint32_t levels)
{
	static char path[1024];
	uint32_t length, level;

	length = snprintf(path, sizeof(path), TOP "/%u", index / levels);
	for (level = 0; level < index % levels; level++)
		length += snprintf(path + length, sizeof(path) - length, "/a");
	return path;
}

static int cgroup_open(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	need(fd >= 0, path);
	return fd;
}

/* Starts a process in the cgroup @fd, which ends at once, and waits for it. */
static void run_in(int fd)
{
	struct clone_args args = {
		.flags = CLONE_INTO_CGROUP,
		.exit_signal = SIGCHLD,
		.cgroup = fd,
	};
	pid_t process;

	process = syscall(SYS_clone3, &args, sizeof(args));
	if (!process)
		_exit(0);
	need(process > 0 && waitpid(process, NULL, 0) == process, "a process");
}

/* Runs in one live cgroup after the other until its parent ends it. */
static pid_t runner_start(const int *live, uint32_t count)
{
	pid_t process = fork();
	uint32_t i;

	if (process)
		return process;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (i = 0;; i = (i + 1) % count)
		run_in(live[i]);
}

static struct dart_zero_gathering read_cost(const char *map, const struct dart_zero_record *record)
{
	const volatile struct dart_zero_record_line *line = (const void *)(map + record->data);
	struct dart_zero_gathering cost = { 0 };
	uint64_t *words = (uint64_t *)&cost;
	uint32_t sequence, i;

	do {
		sequence = line->sequence;
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		for (i = 0; i < costs.count; i++)
			words[i] = line->words[1 + i];
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
	} while (sequence % 2 || sequence != line->last_sequence);
	return cost;
}

static int compare(const void *one, const void *other)
{
	const uint64_t *a = one, *b = other;

	return *a < *b ? -1 : *a > *b;
}

/* Prints the median time of PASSES passes, and how many cgroups they visited. */
static void measure(const char *name, const char *map, const struct dart_zero_record *record,
		    const int *live, uint32_t count)
{
	const struct timespec pause = { .tv_nsec = INTERVAL_MS * 1000000 / 20 };
	struct dart_zero_gathering before, now, first;
	uint64_t ns[PASSES];
	uint32_t passes = 0;
	pid_t runner = runner_start(live, count);

	first = before = read_cost(map, record);
	while (passes < PASSES) {
		nanosleep(&pause, NULL);
		now = read_cost(map, record);
		if (now.passes == before.passes)
			continue;
		ns[passes++] = (now.time_ns - before.time_ns) / (now.passes - before.passes);
		before = now;
	}
	kill(runner, SIGKILL);
	waitpid(runner, NULL, 0);
	qsort(ns, PASSES, sizeof(*ns), compare);
	printf("{\"name\": \"%s\", \"pass_ns\": %llu, \"lowest_ns\": %llu, \"visits\": %llu, \"missed\": %llu}\n",
	       name, (unsigned long long)ns[PASSES / 2], (unsigned long long)ns[0],
	       (unsigned long long)((now.cgroup_visits - first.cgroup_visits) /
				    (now.passes - first.passes)),
	       (unsigned long long)(now.missed - first.missed));
	fflush(stdout);
}

/* Makes a cgroup, runs in it, and removes it; a record of @holder keeps it. */
static void add_ended(int holder, uint32_t pages, uint32_t index, const int *parents,
		      uint32_t parent_count)
{
	int parent = parents[index % parent_count], fd;
	char name[16];

	snprintf(name, sizeof(name), "e%u", index);
	need(!mkdirat(parent, name, 0755), "a cgroup");
	fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	need(fd >= 0, "a cgroup");
	add_record(holder, pages, DART_ZERO_SOURCE_CGROUP_CPU, fd, &times, DART_ZERO_RECORD_MS_MAX);
	run_in(fd);
	close(fd);
	need(!unlinkat(parent, name, AT_REMOVEDIR), "removing a cgroup");
}

int main(int argc, char *argv[])
{
	uint32_t live_count, levels, ended, pages, holding, i;
	int region, holder, *live;
	struct dart_zero_info info = { .size = sizeof(info) };
	struct dart_zero_record cost;
	const char *map;

	if (argc != 4) {
		fputs("usage: cgroup_passes LIVE LEVELS ENDED\n", stderr);
		return 2;
	}
	live_count = strtoul(argv[1], NULL, 10);
	levels = strtoul(argv[2], NULL, 10);
	ended = strtoul(argv[3], NULL, 10);
	live = calloc(live_count, sizeof(*live));
	need(live && levels && levels < 400, "LIVE, LEVELS");

	region = region_open();
	pages = add_pages(region, live_count + 1);
	need(!ioctl(region, DART_ZERO_IOC_INFO, &info), "the region");
	map = mmap(NULL, info.capacity, PROT_READ, MAP_SHARED, region, 0);
	need(map != MAP_FAILED, "mmap");
	cost = add_record(region, pages, DART_ZERO_SOURCE_GATHERING, -1, &costs, INTERVAL_MS);
	need(!mkdir(TOP, 0755), TOP);
	for (i = 0; i < live_count; i++) {
		need(!mkdir(live_path(i, levels), 0755), "a cgroup");
		live[i] = cgroup_open(live_path(i, levels));
		add_record(region, pages, DART_ZERO_SOURCE_CGROUP_CPU, live[i], &times,
			   INTERVAL_MS);
	}
	measure("alone", map, &cost, live, live_count);

	holder = region_open();
	holding = add_pages(holder, ended);
	for (i = 0; i < ended; i++) {
		add_ended(holder, holding, i, live, live_count);
		if (i % 1000 == 999)
			fprintf(stderr, "[bench] %u cgroups have ended\n", i + 1);
	}
	measure("beside ended ones", map, &cost, live, live_count);
	close(holder);
	close(region);
	for (i = live_count; i--;)
		rmdir(live_path(i, levels));
	rmdir(TOP);
	return 0;
}
