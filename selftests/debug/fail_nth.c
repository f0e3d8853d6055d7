// SPDX-License-Identifier: GPL-2.0-only
/*
 * Every call of the device, and the module's init, with each allocation and each copy
 * from or to user space in it failing in turn.  The call either fails with ENOMEM or
 * EFAULT and changes nothing, or succeeds without what failed.  At the end no map,
 * namespace or cgroup is held; kmemleak reports leaked memory when the virtual
 * machine ends.
 */
#include <sched.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "selftests/lib/device.h"
#include "selftests/lib/fault.h"
#include "selftests/lib/held.h"
#include "selftests/lib/slab.h"

#define MODULE_PATH_MAX 4096
#define CGROUP "/sys/fs/cgroup/fail-nth"

struct fixture {
	int region, map;
	uint64_t capacity;
	struct dart_zero_extent kept, extent;
	int opened;
	char *address;
	struct dart_zero_slice slice;
	char module[MODULE_PATH_MAX];
};

/* The extents of the region that all calls are made on. */
struct list {
	uint32_t count;
	struct dart_zero_extent extents[8];
};

/*
 * @before and @after run without faults around each attempt at @call.  @after gets
 * the return value of @call (0 or -errno) and undoes both.
 */
struct call {
	const char *name;
	void (*before)(struct fixture *fixture);
	int (*call)(struct fixture *fixture);
	void (*after)(struct fixture *fixture, int ret);
};

static int call_open(struct fixture *fixture)
{
	fixture->opened = open(DART_ZERO_DEVICE, O_RDWR | O_CLOEXEC);
	return fixture->opened < 0 ? -errno : 0;
}

static void after_open(struct fixture *fixture, int ret)
{
	if (!ret)
		close(fixture->opened);
}

static int call_mmap(struct fixture *fixture)
{
	fixture->address = mmap(NULL, fixture->capacity, PROT_READ, MAP_SHARED,
				fixture->region, 0);
	return fixture->address == MAP_FAILED ? -errno : 0;
}

static void after_mmap(struct fixture *fixture, int ret)
{
	if (!ret)
		munmap(fixture->address, fixture->capacity);
}

static void before_touch(struct fixture *fixture)
{
	assert_int_equal(call_mmap(fixture), 0);
}

/* The kernel repeats the page fault until it succeeds. */
static int call_touch(struct fixture *fixture)
{
	volatile char *byte = fixture->address + fixture->kept.data;

	return *byte ? -EINVAL : 0;
}

static void after_touch(struct fixture *fixture, int ret)
{
	after_mmap(fixture, 0);
}

static int call_info(struct fixture *fixture)
{
	struct dart_zero_info info = { .size = sizeof(info) };

	return device_call(fixture->region, DART_ZERO_IOC_INFO, &info);
}

static int get_list(int region, struct list *list)
{
	struct dart_zero_list argument = {
		.size = sizeof(argument),
		.count = sizeof(list->extents) / sizeof(list->extents[0]),
		.extents = (uintptr_t)list->extents,
	};
	int ret = device_call(region, DART_ZERO_IOC_LIST, &argument);

	list->count = argument.count;
	return ret;
}

static int call_list(struct fixture *fixture)
{
	return get_list(fixture->region, &(struct list){});
}

static int call_add_window(struct fixture *fixture)
{
	return device_add_window(fixture->region, DART_ZERO_SOURCE_SOFTNET,
				 &fixture->extent);
}

static int call_add_map(struct fixture *fixture)
{
	return device_add_map(fixture->region, fixture->map, &fixture->extent);
}

static void after_add(struct fixture *fixture, int ret)
{
	if (!ret)
		assert_int_equal(device_remove(fixture->region,
					       fixture->extent.id), 0);
}

static void before_remove(struct fixture *fixture)
{
	assert_int_equal(call_add_map(fixture), 0);
}

static int call_remove(struct fixture *fixture)
{
	return device_remove(fixture->region, fixture->extent.id);
}

static void after_remove(struct fixture *fixture, int ret)
{
	if (ret)
		assert_int_equal(call_remove(fixture), 0);
}

/* @fixture->opened is a descriptor of the namespace or cgroup. */
static int add_selected(struct fixture *fixture, uint32_t source,
			uint32_t ifindex)
{
	return device_add_selected(fixture->region, source, fixture->opened,
				   ifindex, &fixture->extent);
}

static void before_namespace(struct fixture *fixture)
{
	int home = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);

	assert_int_equal(unshare(CLONE_NEWNET), 0);
	fixture->opened = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	assert_int_equal(setns(home, CLONE_NEWNET), 0);
	close(home);
}

static int call_add_mib(struct fixture *fixture)
{
	return add_selected(fixture, DART_ZERO_SOURCE_TCP, 0);
}

/* The index of lo is 1. */
static int call_add_netdev(struct fixture *fixture)
{
	return add_selected(fixture, DART_ZERO_SOURCE_NETDEV, 1);
}

static int call_add_netdev_core(struct fixture *fixture)
{
	return add_selected(fixture, DART_ZERO_SOURCE_NETDEV_CORE, 1);
}

static void before_cgroup(struct fixture *fixture)
{
	mkdir(CGROUP, 0755);
	fixture->opened = open(CGROUP, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(fixture->opened >= 0);
}

static int call_add_cgroup(struct fixture *fixture)
{
	return add_selected(fixture, DART_ZERO_SOURCE_CGROUP_CPU, 0);
}

static void after_selected(struct fixture *fixture, int ret)
{
	after_add(fixture, ret);
	close(fixture->opened);
}

static int call_add_counters(struct fixture *fixture)
{
	struct dart_zero_counters counters = {
		.size = sizeof(counters),
		.flags = DART_ZERO_COUNTERS_CREATE,
		.count = 8,
		.name = "fail-nth",
	};
	int ret = device_call(fixture->region, DART_ZERO_IOC_ADD_COUNTERS,
			      &counters);

	fixture->extent = counters.extent;
	return ret;
}

static int call_add_slab(struct fixture *fixture)
{
	struct dart_zero_slab slab = { .size = sizeof(slab), .pages = 8 };
	int ret = device_call(fixture->region, DART_ZERO_IOC_ADD_SLAB, &slab);

	fixture->extent = slab.extent;
	return ret;
}

static void before_slice(struct fixture *fixture)
{
	assert_int_equal(call_add_slab(fixture), 0);
}

static int call_add_slice(struct fixture *fixture)
{
	return slice_new(fixture->region, fixture->extent.id, 2,
			 &fixture->slice);
}

static void after_slice(struct fixture *fixture, int ret)
{
	if (!ret) {
		close(fixture->slice.fd);
		assert_int_equal(device_remove(fixture->region,
					       fixture->slice.id), 0);
	}
	/* The slab has no slice any more. */
	after_add(fixture, 0);
}

static void before_slice_mmap(struct fixture *fixture)
{
	before_slice(fixture);
	assert_int_equal(call_add_slice(fixture), 0);
}

static int call_slice_mmap(struct fixture *fixture)
{
	fixture->address = mmap(NULL, 2 * 4096, PROT_READ | PROT_WRITE,
				MAP_SHARED, fixture->slice.fd, 0);
	return fixture->address == MAP_FAILED ? -errno : 0;
}

static void after_slice_mmap(struct fixture *fixture, int ret)
{
	if (!ret)
		munmap(fixture->address, 2 * 4096);
	after_slice(fixture, 0);
}

/* The region of the slice is closed: another one adopts slice and slab. */
static void before_adopt(struct fixture *fixture)
{
	int region = device_open();

	slice_new(region, slab_new(region, 8, NULL), 2, &fixture->slice);
	close(region);
}

static int call_adopt_slice(struct fixture *fixture)
{
	struct dart_zero_adoption adoption;
	int ret = slice_adopt(fixture->region, fixture->slice.fd, &adoption);

	fixture->slice.id = adoption.id;
	fixture->extent = adoption.slab;
	return ret;
}

static void after_adopt(struct fixture *fixture, int ret)
{
	if (ret)
		close(fixture->slice.fd);
	else
		after_slice(fixture, 0);
}

static int call_namespaces(struct fixture *fixture)
{
	uint32_t inodes[64];
	struct dart_zero_namespaces list = {
		.size = sizeof(list),
		.flags = DART_ZERO_NAMESPACES_WATCH,
		.count = 64,
		.inodes = (uintptr_t)inodes,
	};

	return device_call(fixture->region, DART_ZERO_IOC_NAMESPACES, &list);
}

static int call_quarantine(struct fixture *fixture)
{
	struct dart_zero_quarantine quarantine = {
		.size = sizeof(quarantine),
	};

	return device_call(fixture->region, DART_ZERO_IOC_QUARANTINE,
			   &quarantine);
}

static int call_open_reader(struct fixture *fixture)
{
	struct dart_zero_reader reader = { .size = sizeof(reader) };
	int ret = device_call(fixture->region, DART_ZERO_IOC_OPEN_READER,
			      &reader);

	if (!ret)
		close(reader.fd);
	return ret;
}

static const struct call calls[] = {
	{ "open", NULL, call_open, after_open },
	{ "mmap", NULL, call_mmap, after_mmap },
	{ "first access to a mapping", before_touch, call_touch, after_touch },
	{ "INFO", NULL, call_info, NULL },
	{ "LIST", NULL, call_list, NULL },
	{ "ADD_WINDOW", NULL, call_add_window, after_add },
	{ "ADD_MAP", NULL, call_add_map, after_add },
	{ "ADD_WINDOW on a namespace", before_namespace, call_add_mib,
	  after_selected },
	{ "ADD_WINDOW on a device", before_namespace, call_add_netdev,
	  after_selected },
	{ "ADD_WINDOW on a device's drops", before_namespace,
	  call_add_netdev_core, after_selected },
	{ "ADD_WINDOW on a cgroup", before_cgroup, call_add_cgroup,
	  after_selected },
	{ "ADD_COUNTERS", NULL, call_add_counters, after_add },
	{ "ADD_SLAB", NULL, call_add_slab, after_add },
	{ "ADD_SLICE", before_slice, call_add_slice, after_slice },
	{ "ADOPT_SLICE", before_adopt, call_adopt_slice, after_adopt },
	{ "mmap of a slice", before_slice_mmap, call_slice_mmap,
	  after_slice_mmap },
	{ "NAMESPACES", NULL, call_namespaces, NULL },
	{ "QUARANTINE", NULL, call_quarantine, NULL },
	{ "OPEN_READER", NULL, call_open_reader, NULL },
	{ "REMOVE", before_remove, call_remove, after_remove },
};

static void before_load(struct fixture *fixture)
{
	assert_int_equal(syscall(SYS_delete_module, "dart_zero", 0), 0);
	fixture->opened = open(fixture->module, O_RDONLY | O_CLOEXEC);
	assert_true(fixture->opened >= 0);
}

static int call_load(struct fixture *fixture)
{
	return syscall(SYS_finit_module, fixture->opened, "", 0) ? -errno : 0;
}

static void after_load(struct fixture *fixture, int ret)
{
	if (ret) {
		assert_int_equal(access(DART_ZERO_DEVICE, F_OK), -1);
		assert_int_equal(call_load(fixture), 0);
	}
	close(fixture->opened);
}

static const struct call load = { "init of the module", before_load, call_load,
				  after_load };

static struct list list_of(const struct fixture *fixture)
{
	struct list list = {};

	if (fixture->region >= 0)
		assert_int_equal(get_list(fixture->region, &list), 0);
	return list;
}

/* Prints a point of TAP. */
static bool fail_each(struct fixture *fixture, const struct call *call,
		      int faults)
{
	unsigned int n = 0, refused = 0;
	struct list before, after;
	bool happened, good = true;
	int ret;

	do {
		if (call->before)
			call->before(fixture);
		before = list_of(fixture);
		fault_arm(faults, ++n);
		ret = call->call(fixture);
		happened = fault_happened(faults);
		after = list_of(fixture);
		refused += ret != 0;
		if (ret && ret != -ENOMEM && ret != -EFAULT) {
			printf("# %s: fault %u: %s\n", call->name, n,
			       strerror(-ret));
			good = false;
		}
		if (ret && memcmp(&before, &after, sizeof(before))) {
			printf("# %s: fault %u: changed the list\n",
			       call->name, n);
			good = false;
		}
		if (call->after)
			call->after(fixture, ret);
	} while (happened);

	printf("%s - %s: each of %u faults makes the call fail without a change (%u times) or succeed\n",
	       good && !ret ? "ok" : "not ok", call->name, n - 1, refused);
	return good && !ret;
}

static void module_find(struct fixture *fixture)
{
	FILE *modinfo = popen("modinfo -n dart_zero", "r");

	assert_non_null(modinfo);
	assert_int_equal(fscanf(modinfo, "%4095s", fixture->module), 1);
	pclose(modinfo);
}

int main(void)
{
	const size_t count = sizeof(calls) / sizeof(calls[0]);
	struct fixture fixture = {};
	bool good = true;
	int kept, faults = fault_open();
	struct held before;
	uint32_t map;

	if (faults < 0) {
		puts("1..0 # SKIP this kernel injects no faults");
		return 4;
	}
	printf("1..%zu\n", count + 2);
	setvbuf(stdout, NULL, _IOLBF, 0);
	module_find(&fixture);
	before = held_now();
	fixture.region = device_open();
	fixture.capacity = device_info(fixture.region).capacity;
	fixture.map = array_map("fail_nth", 8, 4096, BPF_F_MMAPABLE);
	map = map_id(fixture.map);
	kept = array_map("kept", 8, 1, BPF_F_MMAPABLE);
	assert_int_equal(device_add_map(fixture.region, kept, &fixture.kept), 0);
	for (size_t i = 0; i < count; i++)
		good &= fail_each(&fixture, &calls[i], faults);
	close(kept);
	close(fixture.map);
	close(fixture.region);
	fixture.region = -1;
	rmdir(CGROUP);
	good &= all_released(&before, map);
	/* Not in what the kernel's module loader does before. */
	assert_true(fault_only_below("do_one_initcall"));
	good &= fail_each(&fixture, &load, faults);
	return !good;
}
