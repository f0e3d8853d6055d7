// SPDX-License-Identifier: GPL-2.0-only
/* Which extents stay in quarantine when regions show the same counters, and until when. */
#include <stdio.h>
#include <sys/stat.h>

#include "selftests/lib/device.h"
#include "selftests/lib/held.h"
#include "selftests/lib/leftovers.h"
#include "selftests/lib/loopback.h"
#include "selftests/lib/quarantine.h"

#define CGROUPS 16

struct cgroups {
	char paths[CGROUPS][64];
	int fds[CGROUPS];
	uint32_t dying_before;
};

static void show_cgroup(const struct cgroups *cgroups, int region, int i)
{
	struct dart_zero_extent extent;

	assert_int_equal(device_add_selected(region,
					     DART_ZERO_SOURCE_CGROUP_CPU,
					     cgroups->fds[i], 0, &extent), 0);
}

static void make_cgroups(struct cgroups *cgroups)
{
	for (int i = 0; i < CGROUPS; i++) {
		snprintf(cgroups->paths[i], sizeof(cgroups->paths[i]), "/sys/fs/cgroup/later%d", i);
		assert_int_equal(mkdir(cgroups->paths[i], 0755), 0);
		cgroups->fds[i] = open(cgroups->paths[i], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	}
	cgroups->dying_before = dying_cgroups();
}

static void remove_cgroups(const struct cgroups *cgroups)
{
	for (int i = 0; i < CGROUPS; i++) {
		close(cgroups->fds[i]);
		assert_int_equal(rmdir(cgroups->paths[i]), 0);
	}
}

static struct ibv_mr *pin_all(struct ibv_pd *pd, int region, const char *address)
{
	struct ibv_mr *mr =
		ibv_reg_mr(pd, (char *)address, device_info(region).used, IBV_ACCESS_REMOTE_READ);

	assert_non_null(mr);
	return mr;
}

/* Regions are closed in turn; the second region, which showed the same memory, is pinned. */
static void test_shared(void **state)
{
	struct ibv_context *context = loopback__open_device();
	struct ibv_pd *pd = ibv_alloc_pd(context);
	int observer = device_open(), regions[2], third;
	struct cgroups cgroups;
	const char *address;
	struct ibv_mr *mr;

	make_cgroups(&cgroups);
	for (int which = 0; which < 2; which++) {
		regions[which] = device_open();
		for (int i = 0; i < CGROUPS; i++)
			show_cgroup(&cgroups, regions[which], i);
	}
	address = device_map(regions[1]);
	mr = pin_all(pd, regions[1], address);

	/* The other region shows all of them. */
	close(regions[0]);
	assert_int_equal(quarantine_now(observer).extents, 0);
	assert_int_equal(leftovers__module_references(), 2);

	/* No region shows a counter any more; then half are shown again. */
	munmap((void *)address, device_info(regions[1]).capacity);
	close(regions[1]);
	assert_int_equal(quarantine_now(observer).extents, CGROUPS);
	assert_int_equal(device_info(observer).quarantined, CGROUPS);
	third = device_open();
	for (int i = 0; i < CGROUPS / 2; i++)
		show_cgroup(&cgroups, third, i);
	do
		device_event(observer, DART_ZERO_EVENT_QUARANTINE);
	while (quarantine_now(observer).extents != CGROUPS / 2);
	assert_int_equal(leftovers__module_references(), 2 + CGROUPS / 2);

	close(third);
	remove_cgroups(&cgroups);
	assert_int_equal(quarantine_now(observer).extents, CGROUPS);
	assert_int_equal(ibv_dereg_mr(mr), 0);
	quarantine_ends(observer);
	for (int i = 0; dying_cgroups() > cgroups.dying_before; i++) {
		assert_true(i < 50);
		usleep(100000);
	}
	close(observer);
	ibv_dealloc_pd(pd);
	ibv_close_device(context);
}

/*
 * One region is pinned and closed while another one shows the same memory; then the other one no
 * longer shows one cgroup, whose page it continues to show for the rest.
 */
static void test_stand_in(void **state)
{
	struct ibv_context *context = loopback__open_device();
	struct ibv_pd *pd = ibv_alloc_pd(context);
	int observer = device_open(), pinned = device_open(), other = device_open();
	struct dart_zero_extent first;
	struct cgroups cgroups;
	const char *address;
	struct ibv_mr *mr;

	make_cgroups(&cgroups);
	assert_int_equal(device_add_selected(other, DART_ZERO_SOURCE_CGROUP_CPU, cgroups.fds[0], 0,
					     &first), 0);
	for (int i = 0; i < CGROUPS; i++)
		show_cgroup(&cgroups, pinned, i);
	for (int i = 1; i < CGROUPS; i++)
		show_cgroup(&cgroups, other, i);
	address = device_map(pinned);
	mr = pin_all(pd, pinned, address);
	munmap((void *)address, device_info(pinned).capacity);
	close(pinned);
	assert_int_equal(quarantine_now(observer).extents, 0);

	assert_int_equal(device_remove(other, first.id), 0);
	assert_int_equal(quarantine_now(observer).extents, 1);
	close(other);
	assert_int_equal(quarantine_now(observer).extents, CGROUPS);

	remove_cgroups(&cgroups);
	assert_int_equal(ibv_dereg_mr(mr), 0);
	quarantine_ends(observer);
	close(observer);
	ibv_dealloc_pd(pd);
	ibv_close_device(context);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("memory that another region shows is not quarantined, and leaves the quarantine when it is shown again; nothing is held 5 s after the last pin",
		     test_shared),
		TEST("memory that another region shows is quarantined when that region removes it, although it continues to show its page",
		     test_stand_in),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
