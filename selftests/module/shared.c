// SPDX-License-Identifier: GPL-2.0-only
/*
 * Windows on adjacent counters: windows that show the same pages share them in the
 * region, and each can be removed without the others.
 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "selftests/lib/device.h"
#include "selftests/lib/held.h"
#include "selftests/lib/loopback.h"
#include "selftests/lib/quarantine.h"

#define CGROUPS 100
/* Made before them: they fill the holes that earlier objects left between counters. */
#define FILLERS 300
#define NAMESPACES 8
#define MIBS (DART_ZERO_SOURCE_ICMP6 - DART_ZERO_SOURCE_IP + 1)
#define WINDOWS (CGROUPS + NAMESPACES * MIBS)

/* Pages of a window of 2 CPUs: the tests look at no more. */
#define PAGES_MAX 4

/* The fixture of all tests: first the cgroups, then the namespaces. */
struct objects {
	int cgroups[CGROUPS], namespaces[NAMESPACES];
	uint32_t dying_before;
};

/* A region with windows on some objects, and the page frames that each shows. */
struct shown {
	int region;
	const char *address;
	uint32_t count;
	struct dart_zero_extent extents[WINDOWS];
	uint64_t frames[WINDOWS][PAGES_MAX];
	bool is_removed[WINDOWS];
};

/*
 * In a cgroup that enables no controllers below it: controllers allocate counters
 * between the counters of cgroups, and keep a cgroup until its memory is freed.
 */
static const char parent[] = "/sys/fs/cgroup/shared";

static const char *cgroup_path(int i)
{
	static char path[64];

	snprintf(path, sizeof(path), "%s/%d", parent, i);
	return path;
}

static const char *filler_path(int i)
{
	static char path[64];

	snprintf(path, sizeof(path), "%s/filler%d", parent, i);
	return path;
}

static int make_objects(void **state)
{
	struct objects *objects = calloc(1, sizeof(*objects));
	int home = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);

	for (int i = 0; i < NAMESPACES; i++) {
		if (unshare(CLONE_NEWNET))
			return -1;
		objects->namespaces[i] = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	}
	if (setns(home, CLONE_NEWNET))
		return -1;
	close(home);

	objects->dying_before = dying_cgroups();
	if (mkdir(parent, 0755))
		return -1;
	for (int i = 0; i < FILLERS; i++)
		if (mkdir(filler_path(i), 0755))
			return -1;
	for (int i = 0; i < CGROUPS; i++) {
		if (mkdir(cgroup_path(i), 0755))
			return -1;
		objects->cgroups[i] = open(cgroup_path(i), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	}
	*state = objects;
	return 0;
}

static int remove_objects(void **state)
{
	struct objects *objects = *state;

	for (int i = 0; i < CGROUPS; i++) {
		if (objects->cgroups[i] < 0)
			continue;
		close(objects->cgroups[i]);
		if (rmdir(cgroup_path(i)))
			return -1;
	}
	for (int i = 0; i < FILLERS; i++)
		if (rmdir(filler_path(i)))
			return -1;
	if (rmdir(parent))
		return -1;
	for (int i = 0; i < NAMESPACES; i++)
		close(objects->namespaces[i]);
	free(objects);
	return 0;
}

static void add(struct shown *shown, uint32_t source, int fd)
{
	assert_int_equal(device_add_selected(shown->region, source, fd, 0,
					     &shown->extents[shown->count]), 0);
	shown->count++;
}

/* The page frame that this process sees at @address, which it read before. */
static uint64_t frame_at(const volatile char *address)
{
	static int pagemap = -1;
	uint64_t entry;

	if (pagemap < 0)
		pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	(void)*address;
	assert_int_equal(pread(pagemap, &entry, sizeof(entry),
			       (uintptr_t)address / PAGE * sizeof(entry)),
			 sizeof(entry));
	assert_true(entry >> 63);
	return entry & ((1ull << 55) - 1);
}

static void find_frames(struct shown *shown, uint32_t i)
{
	const struct dart_zero_extent *extent = &shown->extents[i];

	assert_in_range(extent->pages, 1, PAGES_MAX);
	for (uint64_t k = 0; k < extent->pages; k++)
		shown->frames[i][k] = frame_at(shown->address + extent->offset + k * PAGE);
}

static struct shown *show(const struct objects *objects, int namespaces)
{
	struct shown *shown = calloc(1, sizeof(*shown));

	assert_non_null(shown);
	shown->region = device_open();
	shown->address = device_map(shown->region);
	for (int i = 0; i < CGROUPS; i++)
		add(shown, DART_ZERO_SOURCE_CGROUP_CPU, objects->cgroups[i]);
	for (int i = 0; i < namespaces; i++)
		for (uint32_t source = DART_ZERO_SOURCE_IP;
		     source <= DART_ZERO_SOURCE_ICMP6; source++)
			add(shown, source, objects->namespaces[i]);
	for (uint32_t i = 0; i < shown->count; i++)
		find_frames(shown, i);
	return shown;
}

static void unmap(struct shown *shown)
{
	munmap((void *)shown->address, device_info(shown->region).capacity);
}

static void hide(struct shown *shown)
{
	unmap(shown);
	close(shown->region);
	free(shown);
}

static bool same_pages(const struct shown *shown, uint32_t a, uint32_t b)
{
	return shown->extents[a].pages == shown->extents[b].pages &&
	       !memcmp(shown->frames[a], shown->frames[b], sizeof(shown->frames[a]));
}

/* Prints the pages that [first, count) would take without sharing. */
static uint64_t count_pages(const struct shown *shown, uint32_t first,
			    uint32_t end, const char *objects)
{
	uint64_t single = 0, taken = 0;
	uint32_t i, k;

	for (i = first; i < end; i++) {
		single += shown->extents[i].pages;
		for (k = first; k < i; k++)
			if (shown->extents[k].offset == shown->extents[i].offset)
				break;
		if (k == i)
			taken += shown->extents[i].pages;
	}
	print_message("# %s: %u windows take %lu pages, %lu if each had its own\n",
		      objects, end - first, taken, single);
	return single / taken;
}

static void test_places(void **state)
{
	struct shown *shown = show(*state, NAMESPACES);
	struct dart_zero_extent listed[WINDOWS];
	struct dart_zero_list list = {
		.size = sizeof(list),
		.count = WINDOWS,
		.extents = (uintptr_t)listed,
	};

	for (uint32_t i = 0; i < shown->count; i++)
		for (uint32_t k = 0; k < i; k++)
			assert_int_equal(shown->extents[i].offset == shown->extents[k].offset,
					 same_pages(shown, i, k));
	assert_true(count_pages(shown, 0, CGROUPS, "cgroups") >= 8);
	count_pages(shown, CGROUPS, shown->count, "namespaces");

	assert_int_equal(device_call(shown->region, DART_ZERO_IOC_LIST, &list), 0);
	assert_int_equal(list.count, shown->count);
	for (uint32_t i = 1; i < list.count; i++)
		assert_true(listed[i - 1].offset < listed[i].offset ||
			    (listed[i - 1].offset == listed[i].offset &&
			     listed[i - 1].id < listed[i].id));
	assert_int_equal(device_info(shown->region).used,
			 listed[list.count - 1].offset + listed[list.count - 1].pages * PAGE);
	hide(shown);
}

/* Nanoseconds that tasks of the cgroup ran, in a mapping of the region. */
static uint64_t cpu_time(const struct shown *shown, const char *address, int i)
{
	uint64_t sum = 0;

	for (size_t k = 0; k < shown->extents[i].length / 8; k++)
		sum += device_sum(address, &shown->extents[i], k);
	return sum;
}

static void run_in(int i)
{
	char path[96];
	int status;
	pid_t child;

	snprintf(path, sizeof(path), "%s/cgroup.procs", cgroup_path(i));
	child = fork();
	assert_true(child >= 0);
	if (!child) {
		int procs = open(path, O_WRONLY | O_CLOEXEC);

		if (write(procs, "0", 1) != 1)
			_exit(1);
		for (volatile int k = 0; k < 1000000; k++)
			;
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

/* Cgroups @trio[0], [1] and [2] lie at the same place. */
static void find_trio(const struct shown *shown, int trio[3])
{
	int found = 1;

	for (trio[0] = 0; trio[0] < CGROUPS; trio[0]++) {
		found = 1;
		for (int i = trio[0] + 1; i < CGROUPS && found < 3; i++)
			if (shown->extents[i].offset == shown->extents[trio[0]].offset)
				trio[found++] = i;
		if (found == 3)
			return;
	}
	fail_msg("no three cgroups have the same place");
}

static void remove_window(struct shown *shown, uint32_t i)
{
	assert_int_equal(device_remove(shown->region, shown->extents[i].id), 0);
	shown->is_removed[i] = true;
}

/* After the removal of one window, an earlier mapping still shows the other two. */
static void test_removed(void **state)
{
	struct objects *objects = *state;
	struct shown *shown = show(objects, 0);
	const char *later;
	int trio[3];

	find_trio(shown, trio);
	for (int removed = 0; removed < 3; removed++) {
		int left = (removed + 1) % 3, idle = (removed + 2) % 3;
		uint64_t before = cpu_time(shown, shown->address, trio[left]);
		uint64_t still = cpu_time(shown, shown->address, trio[idle]);
		uint64_t seen;

		remove_window(shown, trio[removed]);
		later = device_map(shown->region);
		run_in(trio[left]);
		assert_true(cpu_time(shown, shown->address, trio[left]) > before);
		assert_int_equal(cpu_time(shown, shown->address, trio[idle]), still);
		/* Its task has ended, but may still be on its CPU. */
		before = cpu_time(shown, shown->address, trio[left]);
		seen = cpu_time(shown, later, trio[left]);
		assert_in_range(seen, before, cpu_time(shown, shown->address, trio[left]));
		munmap((void *)later, device_info(shown->region).capacity);

		assert_int_equal(device_add_selected(shown->region, DART_ZERO_SOURCE_CGROUP_CPU,
						     objects->cgroups[trio[removed]], 0,
						     &shown->extents[trio[removed]]),
				 0);
		assert_int_equal(shown->extents[trio[removed]].offset,
				 shown->extents[trio[left]].offset);
	}

	/* Removing the last window leaves a hole. */
	for (int i = 0; i < CGROUPS; i++)
		if (shown->extents[i].offset == shown->extents[trio[0]].offset)
			remove_window(shown, i);
	assert_int_equal(cpu_time(shown, shown->address, trio[0]), 0);
	assert_int_equal(device_remove(shown->region, shown->extents[trio[0]].id), -ENOENT);
	hide(shown);
}

/* Does a window other than @removed show @frame? */
static bool is_frame_shown(const struct shown *shown, uint64_t frame)
{
	for (uint32_t i = 0; i < shown->count; i++)
		for (uint64_t k = 0; k < shown->extents[i].pages; k++)
			if (!shown->is_removed[i] && shown->frames[i][k] == frame)
				return true;
	return false;
}

static bool is_revoked(const struct shown *shown, uint32_t i)
{
	for (uint64_t k = 0; k < shown->extents[i].pages; k++)
		if (!is_frame_shown(shown, shown->frames[i][k]))
			return true;
	return false;
}

/* Everything is pinned while the windows are removed in a mixed order. */
static void test_pinned(void **state)
{
	struct shown *shown = show(*state, NAMESPACES);
	struct ibv_context *context = loopback__open_device();
	struct ibv_pd *pd = ibv_alloc_pd(context);
	int observer = device_open();
	uint32_t revoked = 0, i = 0;
	struct ibv_mr *mr;

	mr = ibv_reg_mr(pd, (void *)shown->address, device_info(shown->region).used,
			IBV_ACCESS_REMOTE_READ);
	assert_non_null(mr);
	for (uint32_t k = 0; k < shown->count; k++) {
		/* 61 is prime, so every window gets its turn. */
		i = (i + 61) % shown->count;
		remove_window(shown, i);
		revoked += is_revoked(shown, i);
		assert_int_equal(quarantine_now(observer).extents, revoked);
	}
	print_message("# %u of %u windows went into quarantine\n", revoked, shown->count);
	assert_in_range(revoked, 1, shown->count - 1);
	assert_int_equal(device_info(shown->region).used, 0);
	assert_int_equal(ibv_dereg_mr(mr), 0);
	hide(shown);
	quarantine_ends(observer);
	close(observer);
	ibv_dealloc_pd(pd);
	ibv_close_device(context);
}

/* A neighbour of pinned windows is released: its cgroup ends while the pin lasts. */
static void test_released(void **state)
{
	struct objects *objects = *state;
	struct shown *shown = show(objects, 0);
	struct ibv_context *context = loopback__open_device();
	struct ibv_pd *pd = ibv_alloc_pd(context);
	int observer = device_open(), trio[3];
	struct ibv_mr *mr;

	mr = ibv_reg_mr(pd, (void *)shown->address, device_info(shown->region).used,
			IBV_ACCESS_REMOTE_READ);
	assert_non_null(mr);
	find_trio(shown, trio);
	for (int i = 0; i < 2; i++) {
		remove_window(shown, trio[i]);
		close(objects->cgroups[trio[i]]);
		objects->cgroups[trio[i]] = -1;
		assert_int_equal(rmdir(cgroup_path(trio[i])), 0);
	}
	for (int i = 0; dying_cgroups() > objects->dying_before; i++) {
		assert_true(i < 50);
		usleep(100000);
	}
	assert_int_equal(quarantine_now(observer).extents, 0);

	/* When the region is closed, all that is pinned is kept. */
	unmap(shown);
	close(shown->region);
	free(shown);
	assert_int_equal(quarantine_now(observer).extents, CGROUPS - 2);
	assert_int_equal(ibv_dereg_mr(mr), 0);
	quarantine_ends(observer);
	close(observer);
	ibv_dealloc_pd(pd);
	ibv_close_device(context);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("windows share pages of the region exactly if they show the same memory: those of 100 cgroups take at most an eighth",
		     test_places),
		TEST("a window that is removed leaves those that share its pages, in mappings from before and after; the last one leaves a hole",
		     test_removed),
		TEST("while all is pinned, a window goes into quarantine exactly if a page of it is no longer shown",
		     test_pinned),
		TEST("a cgroup whose window was removed ends although another window on its page is pinned; a close quarantines all",
		     test_released),
	};

	return cmocka_run_group_tests(tests, make_objects, remove_objects);
}
