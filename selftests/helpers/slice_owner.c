// SPDX-License-Identifier: GPL-2.0-only
/*
 * slice_owner COUNT PID [shared]: asks the agent, process PID, for COUNT slices called
 * slice-0 and so on, sets the counter of slice i to 1000 + i, notifies that it is
 * ready and holds them until it is killed.  Each has its own memory, or all of them
 * share 1 MiB.
 *
 * Prints as JSON how many system calls the agent makes for the first and for the last 1000
 * slices; and for tools/bench its CPU time for each slice, for the first and the last 1000
 * separately, beside the bare ioctl()s for 1000 slices of a separate region.
 */
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <systemd/sd-daemon.h>
#include <time.h>
#include <unistd.h>

#include <dart/registration.h>
#include <libdart/registration/client.h>

#include "selftests/lib/device.h"
#include "selftests/lib/registration.h"

#define SLICE_LENGTH 64
#define SHARED_LENGTH (1 << 20)

/* CPU time of a process, ns. */
static double cpu_time(int pid)
{
	struct timespec time;
	clockid_t clock;

	assert_int_equal(clock_getcpuclockid(pid, &clock), 0);
	assert_int_equal(clock_gettime(clock, &time), 0);
	return time.tv_sec * 1e9 + time.tv_nsec;
}

/* A descriptor from which the number of system calls of a thread since now is read. */
static int count_calls(int thread)
{
	struct perf_event_attr event = {
		.type = PERF_TYPE_TRACEPOINT,
		.size = sizeof(event),
	};
	FILE *file = fopen("/sys/kernel/tracing/events/raw_syscalls/sys_enter/id", "r");
	int counter;

	assert_non_null(file);
	assert_int_equal(fscanf(file, "%llu", &event.config), 1);
	fclose(file);
	counter = syscall(SYS_perf_event_open, &event, thread, -1, -1, PERF_FLAG_FD_CLOEXEC);
	assert_true(counter >= 0);
	return counter;
}

static uint64_t calls_of(int counter)
{
	uint64_t calls;

	assert_int_equal(read(counter, &calls, sizeof(calls)), sizeof(calls));
	return calls;
}

/* The work of the agent until now. */
struct work {
	double ns;
	uint64_t calls;
};

static struct work work_of(int agent, int counter)
{
	return (struct work){ cpu_time(agent), calls_of(counter) };
}

/* Memory that all slices share. */
struct shared {
	int fd;
	char *memory;	/* NULL: each slice uses separate memory */
};

static void write_request(char *request, size_t room, int number, const char *more, int offset)
{
	snprintf(request, room,
		 "{\"request\": \"new-slice\", \"name\": \"slice-%d\", "
		 "\"offset\": %d, %s\"schema\": {\"name\": \"work\", \"length\": 64, \"fields\": ["
		 "{\"name\": \"done\", \"offset\": 0, \"width\": 8, "
		 "\"kind\": \"counter\", \"unit\": \"jobs\"}, "
		 "{\"name\": \"queued\", \"offset\": 8, \"width\": 4, "
		 "\"kind\": \"gauge\", \"signed\": true}]}}\n",
		 number, offset, more);
}

/* Asks for a slice with new memory, @length bytes. */
static char *slice_new(int socket, int number, size_t length, int *fd)
{
	char request[512], more[64];
	void *memory;

	snprintf(more, sizeof(more), "\"memory\": %zu, ", length);
	write_request(request, sizeof(request), number, more, 0);
	registration__send(socket, request, strlen(request), NULL, 0);
	*fd = registration__reply_fd(socket);
	memory = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED, *fd, 0);
	assert_true(memory != MAP_FAILED);
	return memory;
}

static void slice_add(struct dart_registration_client *client, int number,
		      const struct shared *shared)
{
	struct dart_error problem;
	json_t *asked, *reply;
	char request[512];

	write_request(request, sizeof(request), number, "", number * SLICE_LENGTH);
	asked = json_loads(request, 0, NULL);
	if (dart_registration_client__ask(client, asked, shared->fd, &reply, NULL, &problem))
		fail_msg("slice-%d: %s", number, problem.text);
	json_decref(asked);
	json_decref(reply);
}

/* Gets slice @number and sets its counter. */
static void get_slice(int socket, struct dart_registration_client *client,
		      int number, bool is_shared, struct shared *shared)
{
	char *memory;
	int fd;

	if (!is_shared) {
		memory = slice_new(socket, number, sysconf(_SC_PAGESIZE), &fd);
		close(fd);
	} else if (!number) {
		memory = shared->memory = slice_new(socket, 0, SHARED_LENGTH, &shared->fd);
	} else {
		slice_add(client, number, shared);
		memory = shared->memory + number * SLICE_LENGTH;
	}
	*(volatile uint64_t *)memory = 1000 + number;
}

/* The minimum cost of a slice: CPU time of the calls, ns each. */
static double bare_calls(int count)
{
	struct dart_zero_slab slab = { .size = sizeof(slab), .pages = count };
	int region = device_open();
	double begin;

	assert_int_equal(device_call(region, DART_ZERO_IOC_ADD_SLAB, &slab), 0);
	begin = cpu_time(getpid());
	for (int i = 0; i < count; i++) {
		struct dart_zero_slice slice = {
			.size = sizeof(slice),
			.slab = slab.extent.id,
			.pages = 1,
		};

		assert_int_equal(device_call(region, DART_ZERO_IOC_ADD_SLICE, &slice), 0);
		close(slice.fd);
	}
	close(region);
	return (cpu_time(getpid()) - begin) / count;
}

int main(int argc, char *argv[])
{
	int count = atoi(argv[1]), agent = atoi(argv[2]), socket, thousand;
	struct dart_registration_client client;
	struct shared shared = { .fd = -1 };
	struct work begin, first, last, end;
	struct dart_error problem;
	int counter;

	setvbuf(stdout, NULL, _IOLBF, 0);
	socket = registration__connect();
	assert_int_equal(
		dart_registration_client__open(&client, DART_REGISTRATION_SOCKET, &problem), 0);
	counter = count_calls(agent);
	thousand = count < 1000 ? count : 1000;
	begin = first = last = work_of(agent, counter);
	for (int i = 0; i < count; i++) {
		if (i == thousand)
			first = work_of(agent, counter);
		if (i == count - thousand)
			last = work_of(agent, counter);
		get_slice(socket, &client, i, argc > 3, &shared);
	}
	end = work_of(agent, counter);
	if (count <= 1000)
		first = end;
	printf("{\"slices\": %d, \"first_1000_calls\": %" PRIu64
	       ", \"last_1000_calls\": %" PRIu64 ", \"agent_us_each\": %.1f, "
	       "\"first_1000_us_each\": %.1f, \"last_1000_us_each\": %.1f, "
	       "\"bare_calls_us_each\": %.1f}\n",
	       count, first.calls - begin.calls, end.calls - last.calls,
	       (end.ns - begin.ns) / count / 1000, (first.ns - begin.ns) / thousand / 1000,
	       (end.ns - last.ns) / thousand / 1000, bare_calls(thousand) / 1000);
	sd_notify(0, "READY=1");
	pause();
	return 0;
}
