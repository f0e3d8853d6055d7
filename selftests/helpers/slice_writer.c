// SPDX-License-Identifier: GPL-2.0-only
/*
 * slice_writer FIRST COUNT [MS]: owns the slices slice-FIRST and so on, through
 * libdart, and counts in each, also while dartd is down: "done" grows by 1 every 50 ms,
 * or every MS.  The constant "number" is 1000 + the number of the slice.
 *
 * Notifies that it is ready when it begins to write, whether dartd runs or not; with
 * MS, when all slices are registered.
 * Prints "registered COUNT, N descriptors, after SECONDS s" whenever all slices are, and "slice-N: REASON" for each
 * refusal.  Stops with an error if an address changes or a value is lost.
 */
#include <dirent.h>
#include <errno.h>
#include <error.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <systemd/sd-daemon.h>
#include <time.h>
#include <unistd.h>

#include <dart/registration.h>
#include <libdart/registration/slice.h>

struct row {
	uint64_t done;
	uint64_t number;
};

static json_t *schema_of_row(void)
{
	json_t *schema = json_pack("{s:s, s:i, s:[{s:s, s:i, s:i, s:s}, {s:s, s:i, s:i, s:s}]}",
				   "name", "work", "length", (int)sizeof(struct row), "fields",
				   "name", "done", "offset", 0, "width", 8, "kind", "counter",
				   "name", "number", "offset", 8, "width", 8, "kind", "gauge");

	if (!schema)
		error(1, 0, "cannot make the schema");
	return schema;
}

static int every(int ms)
{
	const struct itimerspec when = {
		.it_interval = { ms / 1000, ms % 1000 * 1000000 },
		.it_value = { ms / 1000, ms % 1000 * 1000000 },
	};
	int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);

	if (fd < 0 || timerfd_settime(fd, 0, &when, NULL))
		error(1, errno, "timer");
	return fd;
}

static void print_reasons(struct dart_slice *const *slices, int first, int count)
{
	for (int i = 0; i < count; i++)
		if (slices[i]->reason)
			printf("slice-%d: %s\n", first + i, slices[i]->reason);
}

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec + now.tv_nsec / 1e9;
}

static void print_registered(int count, double begin)
{
	DIR *directory = opendir("/proc/self/fd");
	int descriptors = 0;

	while (readdir(directory))
		descriptors++;
	closedir(directory);
	printf("registered %d, %d descriptors, after %.1f s\n", count,
	       descriptors, seconds() - begin);
}

int main(int argc, char *argv[])
{
	int first = atoi(argv[1]), count = atoi(argv[2]), waiting = -1, now;
	struct dart_slice **members = calloc(count, sizeof(*members));
	volatile struct row **rows = calloc(count, sizeof(*rows));
	json_t *schema = schema_of_row();
	struct dart_slices *slices;
	struct dart_error problem;
	struct pollfd events[2];
	uint64_t done = 0, ticks;
	char name[32];
	double begin;

	begin = seconds();
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (dart_slices__new(&slices, DART_REGISTRATION_SOCKET, &problem))
		error(1, 0, "%s", problem.text);
	for (int i = 0; i < count; i++) {
		snprintf(name, sizeof(name), "slice-%d", first + i);
		if (dart_slices__add(slices, name, schema, &members[i], &problem))
			error(1, 0, "%s", problem.text);
		rows[i] = members[i]->memory;
		rows[i]->number = 1000 + first + i;
	}
	if (argc <= 3)
		sd_notify(0, "READY=1");

	events[0] = (struct pollfd){ .fd = dart_slices__fd(slices),
				       .events = POLLIN };
	events[1] = (struct pollfd){ .fd = every(argc > 3 ? atoi(argv[3]) : 50),
				       .events = POLLIN };
	for (;;) {
		if (poll(events, 2, -1) < 0)
			error(1, errno, "poll");
		if (events[0].revents) {
			now = dart_slices__process(slices, &problem);
			if (now < 0)
				error(1, 0, "%s", problem.text);
			if (now != waiting && !now) {
				print_registered(count, begin);
				sd_notify(0, "READY=1");
			} else if (now != waiting) {
				print_reasons(members, first, count);
			}
			waiting = now;
		}
		if (!events[1].revents || read(events[1].fd, &ticks, sizeof(ticks)) < 0)
			continue;
		for (int i = 0; i < count; i++) {
			if (rows[i] != members[i]->memory || rows[i]->done != done)
				error(1, 0, "slice-%d has lost a value", first + i);
			rows[i]->done = done + 1;
		}
		done++;
	}
}
