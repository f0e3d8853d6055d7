// SPDX-License-Identifier: GPL-2.0-only
/*
 * A namespace, device or cgroup ends before the window that shows it: the region
 * reports it and keeps the last values, and the end does not wait for the region.
 */
#include <infiniband/verbs.h>
#include <linux/snmp.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "selftests/lib/device.h"
#include "selftests/lib/namespace.h"
#include "selftests/lib/quarantine.h"

static bool is_gone(int region, uint32_t id)
{
	struct dart_zero_extent extents[16];
	struct dart_zero_list list = {
		.size = sizeof(list),
		.count = 16,
		.extents = (uintptr_t)extents,
	};

	assert_int_equal(device_call(region, DART_ZERO_IOC_LIST, &list), 0);
	for (uint32_t i = 0; i < list.count; i++)
		if (extents[i].id == id)
			return extents[i].flags & DART_ZERO_EXTENT_GONE;
	fail_msg("no extent %u", id);
	return false;
}

static void test_two_namespaces(void **state)
{
	int region = device_open(), namespaces[2];
	const char *address = device_map(region);
	struct dart_zero_extent extents[2];
	struct dart_zero_window by_inode = {
		.size = sizeof(by_inode),
		.source = DART_ZERO_SOURCE_UDP,
		.fd = -1,
	};

	for (int i = 0; i < 2; i++) {
		namespaces[i] = namespace_new();
		assert_int_equal(device_add_selected(region, DART_ZERO_SOURCE_UDP, namespaces[i], 0,
						     &extents[i]),
				 0);
		assert_string_equal(extents[i].name, "udp_mib");
	}
	by_inode.netns = namespace_inode(namespaces[0]);
	assert_int_equal(device_call(region, DART_ZERO_IOC_ADD_WINDOW, &by_inode), -EEXIST);

	for (int i = 0; i < 2; i++)
		namespace_send(namespaces[i], 10 + i);
	for (int i = 0; i < 2; i++)
		assert_int_equal(device_sum(address, &extents[i], UDP_MIB_OUTDATAGRAMS), 10 + i);

	device_no_event(region);
	close(namespaces[0]);
	assert_int_equal(device_event(region, DART_ZERO_EVENT_EXTENT_GONE), extents[0].id);
	device_no_event(region);
	assert_true(is_gone(region, extents[0].id));
	assert_false(is_gone(region, extents[1].id));
	assert_int_equal(device_sum(address, &extents[0], UDP_MIB_OUTDATAGRAMS), 10);
	namespace_send(namespaces[1], 5);
	assert_int_equal(device_sum(address, &extents[1], UDP_MIB_OUTDATAGRAMS), 16);

	assert_int_equal(device_remove(region, extents[0].id), 0);
	close(namespaces[1]);
	assert_int_equal(device_event(region, DART_ZERO_EVENT_EXTENT_GONE), extents[1].id);
	munmap((void *)address, device_info(region).capacity);
	close(region);
}

static void test_three_regions(void **state)
{
	int regions[3], namespace = namespace_new();
	struct dart_zero_extent extent;

	for (int i = 0; i < 3; i++) {
		regions[i] = device_open();
		assert_int_equal(device_add_selected(regions[i],
						     DART_ZERO_SOURCE_TCP,
						     namespace, 0, &extent), 0);
	}
	close(regions[0]);
	close(namespace);
	device_event(regions[1], DART_ZERO_EVENT_EXTENT_GONE);
	device_event(regions[2], DART_ZERO_EVENT_EXTENT_GONE);
	close(regions[1]);
	close(regions[2]);
}

static uint32_t namespaces(int region, uint32_t flags, uint32_t inodes[64])
{
	struct dart_zero_namespaces list = {
		.size = sizeof(list),
		.flags = flags,
		.count = 64,
		.inodes = (uintptr_t)inodes,
	};

	assert_int_equal(device_call(region, DART_ZERO_IOC_NAMESPACES, &list), 0);
	return list.count;
}

static bool has(const uint32_t *inodes, uint32_t count, uint32_t wanted)
{
	while (count--)
		if (inodes[count] == wanted)
			return true;
	return false;
}

static void test_watch_namespaces(void **state)
{
	int region = device_open(), namespace;
	struct dart_zero_namespaces small = { .size = sizeof(small) };
	struct dart_zero_namespaces nowhere = {
		.size = sizeof(nowhere),
		.count = 64,
		.inodes = 8,
	};
	uint32_t inodes[64], before, wanted;

	assert_int_equal(device_call(region, DART_ZERO_IOC_NAMESPACES, &small), -ENOSPC);
	before = namespaces(region, DART_ZERO_NAMESPACES_WATCH, inodes);
	assert_int_equal(small.count, before);

	namespace = namespace_new();
	wanted = namespace_inode(namespace);
	/* A call that fails neither consumes the event nor ends the watch. */
	assert_int_equal(device_call(region, DART_ZERO_IOC_NAMESPACES, &nowhere), -EFAULT);
	assert_int_equal(device_event(region, DART_ZERO_EVENT_NAMESPACES), 0);
	assert_int_equal(namespaces(region, DART_ZERO_NAMESPACES_WATCH, inodes), before + 1);
	assert_true(has(inodes, before + 1, wanted));
	device_no_event(region);

	close(namespace);
	assert_int_equal(device_event(region, DART_ZERO_EVENT_NAMESPACES), 0);
	assert_int_equal(namespaces(region, 0, inodes), before);
	assert_false(has(inodes, before, wanted));
	close(namespace_new());
	device_no_event(region);
	close(region);
}

static uint64_t file_number(const char *path)
{
	FILE *file = fopen(path, "r");
	unsigned long long number;

	assert_non_null(file);
	assert_int_equal(fscanf(file, "%llu", &number), 1);
	fclose(file);
	return number;
}

/* Packets sent: struct pcpu_lstats counts only these, pcpu_sw_netstats also received ones. */
static uint64_t device_packets(const char *address, const struct dart_zero_extent *stats)
{
	return device_sum(address, stats, strcmp(stats->name, "pcpu_lstats") ? 2 : 0);
}

static void test_device(void **state)
{
	int region = device_open(), net;
	const char *address = device_map(region);
	struct dart_zero_extent stats, core, none;
	uint64_t packets;

	net = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	assert_int_equal(system("ip link add gone0 type dummy && "
				"ip address add 192.0.2.1/24 dev gone0 && "
				"ip link set gone0 up && "
				"ip neighbour add 192.0.2.2 dev gone0 "
				"lladdr 02:00:00:00:00:01"), 0);
	assert_int_equal(device_add_selected(region, DART_ZERO_SOURCE_NETDEV,
					     net, if_nametoindex("gone0"),
					     &stats), 0);
	assert_int_equal(device_add_selected(region,
					     DART_ZERO_SOURCE_NETDEV_CORE, net,
					     if_nametoindex("gone0"), &core),
			 0);
	assert_int_equal(device_add_selected(region, DART_ZERO_SOURCE_NETDEV,
					     net, 9999, &none), -ENODEV);

	/* Drivers use different types, but all count the packets they send. */
	packets = device_packets(address, &stats);
	send_datagrams(0xc0000202, 25);
	assert_true(device_packets(address, &stats) >= packets + 25);
	assert_int_equal(device_packets(address, &stats),
			 file_number("/sys/class/net/gone0/statistics/tx_packets"));

	assert_int_equal(system("ip link delete gone0"), 0);
	device_event(region, DART_ZERO_EVENT_EXTENT_GONE);
	device_event(region, DART_ZERO_EVENT_EXTENT_GONE);
	device_no_event(region);
	munmap((void *)address, device_info(region).capacity);
	close(region);
	close(net);
}

static void test_device_moves(void **state)
{
	int region = device_open(), net, target = namespace_new();
	struct dart_zero_extent stats;
	char command[128];

	net = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	assert_int_equal(system("ip link add moves0 type dummy && "
				"ip link set moves0 up"), 0);
	assert_int_equal(device_add_selected(region, DART_ZERO_SOURCE_NETDEV,
					     net, if_nametoindex("moves0"),
					     &stats), 0);
	snprintf(command, sizeof(command),
		 "ip link set moves0 netns /proc/%d/fd/%d", getpid(), target);
	assert_int_equal(system(command), 0);
	assert_int_equal(device_event(region, DART_ZERO_EVENT_EXTENT_GONE), stats.id);
	close(region);
	close(target);
	close(net);
}

static void test_cgroup(void **state)
{
	static const char path[] = "/sys/fs/cgroup/dart-gone";
	int region = device_open(), cgroup;
	const char *address = device_map(region);
	struct dart_zero_extent extent, again;
	uint64_t runtime;
	int status;
	pid_t child;

	assert_int_equal(mkdir(path, 0755), 0);
	cgroup = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(
		device_add_selected(region, DART_ZERO_SOURCE_CGROUP_CPU, cgroup, 0, &extent), 0);
	assert_int_equal(device_add_selected(region, DART_ZERO_SOURCE_CGROUP_CPU, cgroup, 0,
					     &again),
			 -EEXIST);
	close(cgroup);

	child = fork();
	if (!child) {
		int procs = open("/sys/fs/cgroup/dart-gone/cgroup.procs", O_WRONLY);
		volatile long spin = 0;

		if (write(procs, "0", 1) != 1)
			_exit(1);
		while (spin < 30000000)
			spin++;
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	/* struct task_cputime: stime, utime, sum_exec_runtime. */
	runtime = device_sum(address, &extent, 2);
	assert_true(runtime > 1000000);
	assert_int_equal(rmdir(path), 0);
	assert_true(device_sum(address, &extent, 2) >= runtime);
	assert_int_equal(device_remove(region, extent.id), 0);
	munmap((void *)address, device_info(region).capacity);
	close(region);
}

static int module_references(void)
{
	return file_number("/sys/module/dart_zero/refcnt");
}

/*
 * The region is closed before the memory registration ends, as may happen when a
 * process is killed: the memory and the module stay until the registration ends.
 */
static void test_pinned(void **state)
{
	int region = device_open(), namespace = namespace_new();
	int observer = device_open();
	struct ibv_device **devices = ibv_get_device_list(NULL);
	const char *address = device_map(region);
	uint64_t capacity = device_info(region).capacity;
	struct dart_zero_extent extent;
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_mr *mr;

	assert_non_null(devices[0]);
	context = ibv_open_device(devices[0]);
	pd = ibv_alloc_pd(context);
	assert_non_null(pd);
	ibv_free_device_list(devices);

	assert_int_equal(device_add_selected(region, DART_ZERO_SOURCE_TCP, namespace, 0, &extent),
			 0);
	mr = ibv_reg_mr(pd, (char *)address + extent.data, extent.length, IBV_ACCESS_REMOTE_READ);
	assert_non_null(mr);

	assert_int_equal(quarantine_now(observer).extents, 0);
	munmap((void *)address, capacity);
	close(region);
	close(namespace);
	assert_int_equal(module_references(), 2);
	assert_int_equal(device_event(observer, DART_ZERO_EVENT_QUARANTINE), 0);
	assert_int_equal(quarantine_now(observer).extents, 1);
	assert_int_equal(quarantine_now(observer).pages, extent.pages);
	assert_int_equal(ibv_dereg_mr(mr), 0);
	assert_int_equal(device_event(observer, DART_ZERO_EVENT_QUARANTINE), 0);
	assert_int_equal(quarantine_now(observer).extents, 0);
	assert_int_equal(quarantine_now(observer).pages, 0);
	device_no_event(observer);
	close(observer);
	assert_int_equal(module_references(), 0);
	ibv_dealloc_pd(pd);
	ibv_close_device(context);
}

static void test_read(void **state)
{
	void *unwritable = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct dart_zero_event event;
	int region = open(DART_ZERO_DEVICE, O_RDONLY | O_NONBLOCK);

	assert_int_equal(read(region, &event, sizeof(event)), -1);
	assert_int_equal(errno, EAGAIN);
	assert_int_equal(read(region, &event, sizeof(event) - 1), -1);
	assert_int_equal(errno, EINVAL);
	assert_int_equal(read(region, unwritable, sizeof(event)), -1);
	assert_int_equal(errno, EFAULT);
	munmap(unwritable, PAGE);
	close(region);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("windows of two namespaces count separately, and each keeps its last values when its namespace ends",
		     test_two_namespaces),
		TEST("every region that shows a namespace gets an event when it ends",
		     test_three_regions),
		TEST("a watch on namespaces reports each new and each ended one until it is given up",
		     test_watch_namespaces),
		TEST("a device that is shown counts its packets, can be deleted, and its windows get an event",
		     test_device),
		TEST("a device that moves to another namespace ends its window", test_device_moves),
		TEST("a cgroup that is shown counts CPU time, can be removed, and keeps its last values",
		     test_cgroup),
		TEST("a window that is registered for RDMA holds the module until it is deregistered, and other regions are told of its quarantine",
		     test_pinned),
		TEST("read() of events fails with EAGAIN without one, EINVAL into too few bytes and EFAULT into read-only memory",
		     test_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
