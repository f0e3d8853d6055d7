// SPDX-License-Identifier: GPL-2.0-only
/*
 * zero_program check: a program with metrics in libdartzero that looks at its own memfd, without
 * dartd; exits with 1 at the first difference.
 *
 * zero_program serve NAME COUNT: has COUNT objects NAME/object-N and the variable NAME/site, and
 * counts in all of them.  Prints "registered" when all are.  After SIGUSR1 it stops
 * counting and prints "counted N", the value of each of its counters.
 *
 * Valid as C and as C++.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <libdartzero/zero.h>

#include "zero_checks.h"

#define OBJECTS 10000

struct work {
	uint64_t done;
	uint32_t queued;
	int32_t balance;
};
DART_ZERO_TYPE(work, struct work, DART_ZERO_COUNTER(struct work, done, "jobs"),
	       DART_ZERO_GAUGE(struct work, queued, ""),
	       DART_ZERO_SIGNED_GAUGE(struct work, balance, ""));

struct pair {
	uint32_t sequence;
	uint32_t low, high, unused[12];
	uint32_t last_sequence;
};
DART_ZERO_TYPE(pair, struct pair, DART_ZERO_SEQUENCE(struct pair, sequence),
	       DART_ZERO_GAUGE(struct pair, low, ""), DART_ZERO_GAUGE(struct pair, high, ""),
	       DART_ZERO_SEQUENCE(struct pair, last_sequence));

DART_ZERO struct work site = { 1, 2, -3 };
DART_ZERO_VARIABLE(site, work);
DART_ZERO static struct pair both;
DART_ZERO_VARIABLE(both, pair);
DART_ZERO static struct work is_child;
DART_ZERO_VARIABLE(is_child, work);

static struct work *objects[OBJECTS];

/* ---- check */

/* The bytes of the memfd, as dartd sees them. */
static const char *view(size_t *bytes)
{
	const int fd = open_memfd();
	struct stat status;
	void *mapped;

	CHECK(fd >= 0);
	CHECK(!fstat(fd, &status));
	*bytes = status.st_size;
	CHECK(mmap(NULL, *bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) == MAP_FAILED);
	mapped = mmap(NULL, *bytes, PROT_READ, MAP_SHARED, fd, 0);
	CHECK(mapped != MAP_FAILED);
	CHECK(ftruncate(fd, 0));
	close(fd);
	return (const char *)mapped;
}

static int has_memfd(void)
{
	const int fd = open_memfd();

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static const struct work *in(const char *shown, const void *variable)
{
	return (const struct work *)(shown + ((const char *)variable - __start_dart_zero));
}

static int start(size_t room)
{
	struct dart_zero_sections sections;

	sections.first = __start_dart_zero;
	sections.end = __stop_dart_zero;
	sections.variables = __start_dart_zero_variables;
	sections.variables_end = __stop_dart_zero_variables;
	return dart_zero_start_sections(&sections, "check", room, "/nonexistent/dartd.sock");
}

/* The room that start() keeps. */
static size_t room_bytes(void)
{
	const size_t page = sysconf(_SC_PAGESIZE);

	return (OBJECTS * 64 + page - 1) / page * page;
}

static void check_values(const char *shown, size_t bytes)
{
	const struct work *first;
	struct work copy;
	int i, memory;

	site.done += 41;
	CHECK(in(shown, &site)->done == 42);
	CHECK(in(shown, &site)->queued == 2 && in(shown, &site)->balance == -3);

	for (i = 0; i < OBJECTS; i++) {
		char name[32];

		snprintf(name, sizeof(name), "object-%d", i);
		objects[i] = (struct work *)dart_zero_malloc(&dart_zero_work, name);
		CHECK(objects[i] && !objects[i]->done && !objects[i]->queued);
		objects[i]->done = 1000 + i;
	}
	/* Side by side in the pages at the end of the memfd. */
	first = (const struct work *)(shown + bytes - room_bytes());
	for (i = 0; i < OBJECTS; i++) {
		CHECK((char *)objects[i] == (char *)objects[0] + i * 64);
		CHECK(((const struct work *)((const char *)first + i * 64))->done ==
		      (uint64_t)1000 + i);
	}

	/* Debuggers and core dumps read it. */
	memory = open("/proc/self/mem", O_RDONLY);
	CHECK(pread(memory, &copy, sizeof(copy), (off_t)(uintptr_t)&site) == sizeof(copy));
	CHECK(copy.done == 42);
	close(memory);
}

static void check_free(void)
{
	const size_t left = room_bytes() / 64 - OBJECTS;
	struct work *before = objects[7], *again, *beyond;
	size_t i;

	/* When the room is used up objects are ordinary memory. */
	for (i = 0; i < left; i++)
		CHECK(dart_zero_malloc(&dart_zero_work, "filling") != NULL);
	beyond = (struct work *)dart_zero_malloc(&dart_zero_work, "beyond");
	CHECK(beyond && ((char *)beyond < (char *)objects[0] ||
			 (char *)beyond >= (char *)objects[0] + room_bytes()));
	beyond->done++;
	dart_zero_free(beyond);
	for (i = 0; i < left; i++)
		dart_zero_free((char *)objects[0] + (OBJECTS + i) * 64);
	/* No dartd saw it, so its bytes can be used at once. */
	dart_zero_free(before);
	again = (struct work *)dart_zero_malloc(&dart_zero_work, "again");
	CHECK(again == before && !again->done);
	objects[7] = again;
	dart_zero_free(NULL);
}

static void check_record(const char *shown)
{
	const struct pair *record = (const struct pair *)in(shown, &both);
	int i;

	CHECK(!record->sequence && !record->last_sequence);
	for (i = 1; i < 4; i++) {
		dart_zero_begin(&both, sizeof(both));
		CHECK(record->sequence % 2 && record->last_sequence == record->sequence);
		both.low = i;
		both.high = -i;
		dart_zero_end(&both, sizeof(both));
		CHECK(record->sequence == (uint32_t)2 * i);
		CHECK(record->last_sequence == record->sequence);
	}
	dart_zero_set_sequences(&both, sizeof(both), UINT32_MAX - 1);
	dart_zero_begin(&both, sizeof(both));
	dart_zero_end(&both, sizeof(both));
	CHECK(record->sequence == 2);
}

/* A child writes to its own copy, and holds nothing of its parent. */
static void check_fork(const char *shown)
{
	int status;
	pid_t child = fork();

	if (!child) {
		CHECK(site.done == 42 && objects[9]->done == 1009);
		is_child.done = 1;
		site.done = 0;
		objects[9]->done = 0;
		CHECK(!has_memfd());
		CHECK(in(shown, &site)->done == 42);
		dart_zero_free(objects[8]);
		CHECK(dart_zero_malloc(&dart_zero_work, "child") == objects[8]);
		CHECK(!start(OBJECTS * 64));
		CHECK(has_memfd());
		site.done = 1;
		_exit(0);
	}
	CHECK(waitpid(child, &status, 0) == child && !status);
	CHECK(!is_child.done && site.done == 42 && objects[9]->done == 1009);
	CHECK(in(shown, &is_child)->done == 0 && in(shown, &site)->done == 42);
}

/* A program may close all descriptors, and its own get their numbers: nothing writes to those. */
static void check_closed(void)
{
	char path[] = "/tmp/zero_program-XXXXXX";
	int fd = mkstemp(path), copies[8];
	struct stat status;
	void *object;
	size_t i;

	for (i = 0; i < sizeof(copies) / sizeof(*copies); i++)
		close(3 + (int)i);
	fd = open(path, O_RDWR);
	CHECK(fd >= 0 && !unlink(path));
	for (i = 0; i < sizeof(copies) / sizeof(*copies); i++)
		copies[i] = dup(fd);
	object = dart_zero_malloc(&dart_zero_work, "closed");
	dart_zero_free(object);
	CHECK(!fstat(fd, &status) && !status.st_size);
	dart_zero_stop();
	for (i = 0; i < sizeof(copies) / sizeof(*copies); i++)
		CHECK(!fstat(copies[i], &status) && !close(copies[i]));
	CHECK(!status.st_size);
	close(fd);
}

/*
 * Makes this thread run before the threads of the library, on one processor: when the kernel says
 * that a thread has ended, and may preempt it then, that thread does nothing more.  It needs
 * CAP_SYS_NICE; without it chance decides.
 */
static void run_first(void)
{
	struct sched_param priority;
	cpu_set_t one;

	memset(&priority, 0, sizeof(priority));
	priority.sched_priority = 1;
	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	CHECK(!sched_setaffinity(0, sizeof(one), &one));
	(void)sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &priority);
}

static int check_all(void)
{
	struct dart_zero_status status;
	const char *shown;
	size_t bytes;
	void *early;

	run_first();
	early = dart_zero_malloc(&dart_zero_work, "early");
	CHECK(early && !has_memfd());
	dart_zero_free(early);
	CHECK(start((size_t)1 << 30) == -EINVAL && !has_memfd());
	CHECK(!start(OBJECTS * 64));
	CHECK(start(OBJECTS * 64) == -EALREADY);
	shown = view(&bytes);
	check_values(shown, bytes);
	check_free();
	check_record(shown);
	check_fork(shown);
	check_descriptors();
	check_signals(2);
	dart_zero_get_status(&status);
	CHECK(!status.registered && !status.refused && status.waiting == OBJECTS + 3);

	dart_zero_stop();
	CHECK(!has_memfd());
	CHECK(site.done == 42 && objects[9]->done == 1009);
	site.done++;
	CHECK(in(shown, &site)->done == 42);
	munmap((void *)(uintptr_t)shown, bytes);
	CHECK(!start(OBJECTS * 64));
	shown = view(&bytes);
	CHECK(in(shown, &site)->done == 43);
	check_closed();
	dart_zero_stop();
	return 0;
}

/* ---- serve */

static volatile sig_atomic_t is_ending;

static void on_signal(int number)
{
	(void)number;
	is_ending = 1;
}

static int serve(const char *name, int count)
{
	struct dart_zero_status status;
	uint64_t counted = 0;
	int i, is_ready = 0, ret;

	CHECK(count >= 0 && count <= OBJECTS);
	site.done = 0;
	ret = dart_zero_start(name, (size_t)count * 64);
	if (ret) {
		fprintf(stderr, "cannot start: %s\n", strerror(-ret));
		return 1;
	}
	for (i = 0; i < count; i++) {
		char object[32];

		snprintf(object, sizeof(object), "object-%d", i);
		objects[i] = (struct work *)dart_zero_malloc(&dart_zero_work, object);
		CHECK(objects[i] != NULL);
	}
	signal(SIGUSR1, on_signal);
	while (!is_ending) {
		struct timespec pause = { 0, 1000000 };

		site.done++;
		for (i = 0; i < count; i++)
			objects[i]->done++;
		counted++;
		dart_zero_begin(&both, sizeof(both));
		both.low = (uint32_t)counted;
		both.high = ~(uint32_t)counted;
		dart_zero_end(&both, sizeof(both));
		nanosleep(&pause, NULL);
		if (counted % 100)
			continue;
		dart_zero_get_status(&status);
		if (!is_ready && !status.waiting && !status.refused) {
			puts("registered");
			fflush(stdout);
			is_ready = 1;
		} else if (status.refused) {
			printf("refused: %s\n", status.reason);
			fflush(stdout);
			return 1;
		}
	}
	printf("counted %llu\n", (unsigned long long)counted);
	fflush(stdout);
	for (;;)
		pause();
}

int main(int argc, char *argv[])
{
	if (argc == 2 && !strcmp(argv[1], "check"))
		return check_all();
	if (argc == 4 && !strcmp(argv[1], "serve"))
		return serve(argv[2], atoi(argv[3]));
	fprintf(stderr, "usage: zero_program check | serve NAME COUNT\n");
	return 2;
}
