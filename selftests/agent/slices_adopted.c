// SPDX-License-Identifier: GPL-2.0-only
/* After a restart dartd takes slices over by their descriptors, and nothing else. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "selftests/lib/command.h"
#include "selftests/lib/device.h"
#include "selftests/lib/leftovers.h"
#include "selftests/lib/registration.h"
#include "selftests/lib/slab.h"

/* Longer than any lease. */
#define LEASE_SECONDS_MAX 300

static void restart(void)
{
	run("host_down KILL && host_up");
}

/* Asks for a slice whose schema contains the counter @field, with @fd or -1. */
static json_t *ask(const char *name, const char *field, int length, int fd, int *received)
{
	int socket = registration__connect();
	char request[512];
	json_t *reply;

	snprintf(request, sizeof(request),
		 "{\"request\": \"new-slice\", \"name\": \"%s\", "
		 "\"schema\": {\"name\": \"work\", \"length\": %d, \"fields\": ["
		 "{\"name\": \"%s\", \"offset\": 0, \"width\": 8, "
		 "\"kind\": \"counter\"}]}}\n", name, length, field);
	if (received) {
		registration__send(socket, request, strlen(request), &fd, fd >= 0);
		*received = registration__reply_fd(socket);
		reply = NULL;
	} else {
		reply = registration__ask(socket, request, fd);
	}
	close(socket);
	return reply;
}

static int new_slice(const char *name)
{
	int fd;

	ask(name, "done", 64, -1, &fd);
	return fd;
}

static volatile uint64_t *map(int fd)
{
	void *memory = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	assert_true(memory != MAP_FAILED);
	return memory;
}

static void refused(json_t *reply, const char *code)
{
	assert_non_null(reply);
	assert_false(registration__is_ok(reply));
	assert_string_equal(json_string_value(json_object_get(reply, "error")), code);
	json_decref(reply);
}

static void taken(json_t *reply, const char *name)
{
	const char *registered;

	assert_non_null(reply);
	if (!registration__is_ok(reply))
		fail_msg("%s", json_dumps(reply, 0));
	assert_int_equal(json_unpack(reply, "{s:{s:s}}", "entry", "name", &registered), 0);
	assert_string_equal(registered, name);
	json_decref(reply);
}

static json_t *ask_about(const char *request, const char *name)
{
	int socket = registration__connect();
	char line[256];
	json_t *reply;

	snprintf(line, sizeof(line), "{\"request\": \"%s\", \"name\": \"%s\"}\n", request, name);
	reply = registration__ask(socket, line, -1);
	close(socket);
	return reply;
}

/* The value of the only counter of an entry. */
static int value_of(const char *name, const char *field)
{
	json_t *reply = ask_about("show", name);
	int value = -1;

	if (json_unpack(reply, "{s:{s:{s:[{s:i}]}}}", "entry", "values", "rows", field, &value))
		fail_msg("%s", json_dumps(reply, 0));
	json_decref(reply);
	return value;
}

/* Polls: dartd tells nothing to a client without a monitor. */
static bool become(long (*count)(void), long wanted)
{
	for (int i = 0; i < LEASE_SECONDS_MAX * 10; i++) {
		if (count() == wanted)
			return true;
		usleep(100000);
	}
	return false;
}

static long entries_of_dartd;

static long memory_regions(void)
{
	return leftovers__rdma("mr");
}

/* The number of entries of clients. */
static long entries(void)
{
	char *list = registration__list();
	json_t *lists = json_loads(list, 0, NULL);
	long count = json_array_size(json_object_get(json_array_get(lists, 0), "entries"));

	json_decref(lists);
	free(list);
	return count - entries_of_dartd;
}

static void test_same_memory(void **state)
{
	int fd = new_slice("kept");
	volatile uint64_t *memory = map(fd);

	memory[0] = 1;
	run("host_down KILL");
	memory[0] = 2;
	run("host_up");
	taken(ask("kept", "done", 64, fd, NULL), "kept");
	assert_int_equal(value_of("kept", "done"), 2);
	memory[0] = 3;
	assert_int_equal(value_of("kept", "done"), 3);

	restart();
	taken(ask("renamed", "queued", 8, fd, NULL), "renamed");
	assert_int_equal(value_of("renamed", "queued"), 3);

	/* Stopped in order, it also leaves the slice to its owner. */
	run("host_down && host_up");
	taken(ask("kept", "done", 64, fd, NULL), "kept");
	assert_int_equal(value_of("kept", "done"), 3);
	munmap((void *)memory, PAGE);
	close(fd);
	assert_true(become(entries, 0));
}

static void test_asked_again(void **state)
{
	int fd = new_slice("kept"), other = new_slice("other");
	char *before = registration__list(), *after;

	taken(ask("kept", "done", 64, fd, NULL), "kept");
	refused(ask("kept", "queued", 64, fd, NULL), "EEXIST");
	refused(ask("kept", "done", 8, fd, NULL), "EEXIST");
	refused(ask("another", "done", 64, fd, NULL), "EEXIST");
	refused(ask("kept", "done", 64, other, NULL), "EEXIST");
	refused(ask("other", "done", 64, fd, NULL), "EEXIST");
	after = registration__list();
	assert_string_equal(before, after);
	free(before);
	free(after);
	close(fd);
	close(other);
	assert_true(become(entries, 0));
}

static void test_another_user(void **state)
{
	int fd = new_slice("kept");

	run("groupadd -f dart && host_down KILL && host_up");
	taken(ask("kept", "done", 64, fd, NULL), "kept");
	run("chmod 666 /run/dart/dartd.sock");
	assert_int_equal(seteuid(65534), 0);
	refused(ask("kept", "done", 64, fd, NULL), "EEXIST");
	assert_int_equal(seteuid(0), 0);
	close(fd);
	assert_true(become(entries, 0));
}

static void test_not_a_slice(void **state)
{
	int region = device_open(), pipes[2], memfd, fd = new_slice("kept");
	char *before, *after;

	assert_int_equal(pipe(pipes), 0);
	memfd = memfd_create("slice", MFD_CLOEXEC);
	restart();
	before = registration__list();
	refused(ask("kept", "done", 64, pipes[0], NULL), "EINVAL");
	refused(ask("kept", "done", 64, region, NULL), "EINVAL");
	refused(ask("kept", "done", 64, memfd, NULL), "EINVAL");
	refused(ask("kept", "done", PAGE + 1, fd, NULL), "EINVAL");
	refused(ask("ke pt", "done", 64, fd, NULL), "EINVAL");
	refused(ask("tcp-", "done", 0, fd, NULL), "EINVAL");
	after = registration__list();
	assert_string_equal(before, after);
	free(before);
	free(after);
	taken(ask("kept", "done", PAGE, fd, NULL), "kept");
	close(pipes[0]);
	close(pipes[1]);
	close(memfd);
	close(region);
	close(fd);
	assert_true(become(entries, 0));
}

static void test_name_in_use(void **state)
{
	int fd = new_slice("kept"), other;

	restart();
	other = new_slice("kept");
	refused(ask("kept", "done", 64, fd, NULL), "EEXIST");
	taken(ask("second", "done", 64, fd, NULL), "second");
	close(fd);
	close(other);
	assert_true(become(entries, 0));
}

static void test_other_region(void **state)
{
	struct dart_zero_slice slice;
	int region = device_open();

	assert_int_equal(slice_new(region, slab_new(region, 1, NULL), 1, &slice), 0);
	refused(ask("kept", "done", 64, slice.fd, NULL), "EBUSY");
	close(region);
	taken(ask("kept", "done", 64, slice.fd, NULL), "kept");
	close(slice.fd);
	assert_true(become(entries, 0));
}

static void test_on_lease(void **state)
{
	int fd = new_slice("kept");

	map(fd)[0] = 9;
	json_decref(ask_about("unregister", "kept"));
	assert_int_equal(entries(), 0);
	refused(ask("kept", "queued", 64, fd, NULL), "EBUSY");
	taken(ask("again", "done", 64, fd, NULL), "again");
	assert_int_equal(value_of("again", "done"), 9);
	/* Its mapping ends with this process; the next test restarts dartd, which forgets it. */
	munmap((void *)map(fd), PAGE);
	close(fd);
}

static void test_two_slabs(void **state)
{
	int old[2] = { new_slice("old-0"), new_slice("old-1") }, young;
	long regions;

	map(old[1])[0] = 11;
	restart();
	regions = memory_regions();
	young = new_slice("young");
	map(young)[0] = 12;
	assert_int_equal(memory_regions(), regions + 1);
	taken(ask("old-1", "done", 64, old[1], NULL), "old-1");
	taken(ask("old-0", "done", 64, old[0], NULL), "old-0");
	assert_int_equal(memory_regions(), regions + 2);
	assert_int_equal(value_of("old-1", "done"), 11);
	assert_int_equal(value_of("young", "done"), 12);

	/*
	 * Its mapping ends with this process: only unmapped is it gone.  Its final values may be in
	 * a memory region of their own by now.
	 */
	close(old[0]);
	assert_in_range(memory_regions(), regions + 2, regions + 3);
	json_decref(ask_about("unregister", "old-1"));
	assert_true(become(memory_regions, regions + 1));
	assert_int_equal(value_of("young", "done"), 12);
	/* The next test restarts dartd, which forgets them. */
	close(old[1]);
	close(young);
}

static void test_many_rounds(void **state)
{
	enum { COUNT = 20, ROUNDS = 3 };
	int fds[COUNT];
	char name[16];

	for (int i = 0; i < COUNT; i++) {
		snprintf(name, sizeof(name), "many-%d", i);
		fds[i] = new_slice(name);
		map(fds[i])[0] = i;
	}
	for (int round = 0; round < ROUNDS; round++) {
		restart();
		/* The next round kills dartd when only some owners have asked. */
		for (int i = 0; i < COUNT * (round + 1) / ROUNDS; i++) {
			snprintf(name, sizeof(name), "many-%d", i);
			taken(ask(name, "done", 64, fds[i], NULL), name);
			assert_int_equal(value_of(name, "done"), i);
		}
	}
	assert_int_equal(entries(), COUNT);
	for (int i = 0; i < COUNT; i++)
		close(fds[i]);
	restart();
	assert_int_equal(entries(), 0);
}

static int start(void **state)
{
	run("host_up");
	entries_of_dartd = entries();
	return 0;
}

/* Page exposure makes no memory regions of slabs. */
static int start_pages(void **state)
{
	run("host_down && host_up --exposure page");
	return 0;
}

static int stop(void **state)
{
	run("host_down");
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("a slice is registered again after dartd was killed or stopped, with the values written meanwhile",
		     test_same_memory),
		TEST("the same request for a registered slice succeeds without a change; another name, schema or slice is refused",
		     test_asked_again),
		TEST("a registered slice is refused to another user who has its descriptor",
		     test_another_user),
		TEST("descriptors that are not of slices, a schema longer than the slice and bad names are refused without a change",
		     test_not_a_slice),
		TEST("a slice whose name has been taken by another is refused, and registered under a free name",
		     test_name_in_use),
		TEST("a slice of another region is refused until that region is closed",
		     test_other_region),
		TEST("a slice that was unregistered is registered again during its lease, but not with another schema",
		     test_on_lease),
		TEST("slices of two slabs are shown together, and the adopted slab is deregistered with its last slice",
		     test_two_slabs),
		TEST("20 slices come back after dartd was killed three times, each time before all had asked",
		     test_many_rounds),
		TEST_FIXTURE("a slice is registered again after dartd was killed or stopped with page exposure, too",
			     test_same_memory, start_pages, NULL),
	};

	return cmocka_run_group_tests(tests, start, stop);
}
