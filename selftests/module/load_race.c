// SPDX-License-Identifier: GPL-2.0-only
/*
 * The module is loaded and unloaded while processes open the device, add extents, map
 * and register memory.  Either open() fails for lack of a device (ENOENT, ENODEV), or
 * all later calls work; the module cannot be unloaded while a process has the device
 * open (EWOULDBLOCK).
 *
 * DART_ROUNDS sets how often the test loads and unloads it (50).
 */
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>

#include "selftests/lib/device.h"
#include "selftests/lib/leftovers.h"
#include "selftests/lib/loopback.h"

#define USERS 2
#define VALUE 0xda27

/* In shared memory. */
struct race {
	atomic_bool is_over;
	struct user {
		unsigned long opened, absent;	/* attempts */
		char failure[64];	/* empty: no failure */
	} users[USERS];
};

struct client {
	struct user *user;
	struct ibv_pd *pd;
	int map;
	int dev;	/* inotify: readable when a file is created in /dev */
};

/* With the device open, calls fail for lack of memory only. */
static const char *use(const struct client *client, int region)
{
	struct dart_zero_info info = { .size = sizeof(info) };
	struct dart_zero_extent window, extent;
	const char *address;
	struct ibv_mr *mr;
	size_t length;

	if (device_add_window(region, DART_ZERO_SOURCE_SOFTNET, &window))
		return "ADD_WINDOW";
	if (device_add_map(region, client->map, &extent))
		return "ADD_MAP";
	if (device_call(region, DART_ZERO_IOC_INFO, &info) || info.extents != 2)
		return "INFO";
	length = info.used;
	address = mmap(NULL, length, PROT_READ, MAP_SHARED, region, 0);
	if (address == MAP_FAILED)
		return "mmap";
	mr = ibv_reg_mr(client->pd, (void *)address, length, IBV_ACCESS_REMOTE_READ);
	if (!mr)
		return "ibv_reg_mr";

	/* From here on the mapping holds the module, and then the pinned pages. */
	close(region);
	if (*(const uint64_t *)(address + extent.data) != VALUE)
		return "value";
	if (munmap((void *)address, length))
		return "munmap";
	sched_yield();
	return ibv_dereg_mr(mr) ? "ibv_dereg_mr" : NULL;
}

static const char *open_and_use(const struct client *client)
{
	int region = open(DART_ZERO_DEVICE, O_RDWR | O_CLOEXEC);
	struct inotify_event events[64];

	if (region >= 0) {
		client->user->opened++;
		return use(client, region);
	}
	if (errno != ENOENT && errno != ENODEV)
		return "open";
	client->user->absent++;
	/* Returns at last, because the race ends with the module loaded. */
	if (errno == ENOENT && read(client->dev, events, sizeof(events)) < 0)
		return "inotify";
	return NULL;
}

static void run_user(struct race *race, struct user *user)
{
	struct client client = {
		.user = user,
		.pd = ibv_alloc_pd(loopback__open_device()),
		.map = array_map("race", 8, 1, BPF_F_MMAPABLE),
		.dev = inotify_init1(IN_CLOEXEC),
	};
	const uint64_t value = VALUE;
	const uint32_t key = 0;
	const char *failure = NULL;

	bpf_map_update_elem(client.map, &key, &value, BPF_ANY);
	inotify_add_watch(client.dev, "/dev", IN_CREATE);
	while (!failure && !race->is_over)
		failure = open_and_use(&client);
	if (failure)
		snprintf(user->failure, sizeof(user->failure), "%s: %s", failure, strerror(errno));
	_exit(failure != NULL);
}

static int open_module(void)
{
	struct utsname kernel;
	char path[PATH_MAX];
	int fd;

	assert_int_equal(uname(&kernel), 0);
	snprintf(path, sizeof(path), "/lib/modules/%s/updates/dart_zero.ko", kernel.release);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	return fd;
}

static void unload(void)
{
	while (syscall(SYS_delete_module, "dart_zero", O_NONBLOCK)) {
		assert_int_equal(errno, EWOULDBLOCK);
		sched_yield();
	}
}

static void test_load_race(void **state)
{
	const char *wanted = getenv("DART_ROUNDS");
	const int rounds = wanted ? atoi(wanted) : 50;
	const long pinned = leftovers__pinned_pages();
	struct race *race = mmap(NULL, sizeof(*race), PROT_READ | PROT_WRITE,
				 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int module = open_module(), status;
	pid_t children[USERS];

	for (int i = 0; i < USERS; i++) {
		children[i] = fork();
		if (!children[i])
			run_user(race, &race->users[i]);
	}
	for (int round = 0; round < rounds; round++) {
		unload();
		assert_int_equal(syscall(SYS_finit_module, module, "", 0), 0);
	}
	race->is_over = true;

	for (int i = 0; i < USERS; i++) {
		struct user *user = &race->users[i];

		assert_int_equal(waitpid(children[i], &status, 0), children[i]);
		assert_string_equal(user->failure, "");
		assert_int_equal(status, 0);
		print_message("# opened %lu times, no device %lu times\n",
			      user->opened, user->absent);
		assert_true(user->opened > 0 && user->absent > 0);
	}
	assert_int_equal(leftovers__module_references(), 0);
	assert_int_equal(leftovers__pinned_pages(), pinned);
	assert_int_equal(leftovers__rdma("mr"), 0);
	unload();
	assert_int_equal(syscall(SYS_finit_module, module, "", 0), 0);
	close(module);
	munmap(race, sizeof(*race));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("while the module is loaded and unloaded, an open device always works and nothing is left",
		     test_load_race),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
