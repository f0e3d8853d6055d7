// SPDX-License-Identifier: GPL-2.0-only
/* Calls of the device that are undone, so that a test can make each again and again. */
#include "undoable_call.h"

#include <sched.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>

#include "device.h"
#include "record.h"
#include "slab.h"

#define CGROUP "/sys/fs/cgroup/undoable-call"

static int call_open(struct call_fixture *fixture)
{
	fixture->opened = open(DART_ZERO_DEVICE, O_RDWR | O_CLOEXEC);
	return fixture->opened < 0 ? -errno : 0;
}

static void after_open(struct call_fixture *fixture, int ret)
{
	if (!ret)
		close(fixture->opened);
}

static int call_mmap(struct call_fixture *fixture)
{
	fixture->address = mmap(NULL, fixture->capacity, PROT_READ, MAP_SHARED, fixture->region, 0);
	return fixture->address == MAP_FAILED ? -errno : 0;
}

static void after_mmap(struct call_fixture *fixture, int ret)
{
	if (!ret)
		munmap(fixture->address, fixture->capacity);
}

static void before_touch(struct call_fixture *fixture)
{
	assert_int_equal(call_mmap(fixture), 0);
}

/* The kernel repeats the page fault until it succeeds. */
static int call_touch(struct call_fixture *fixture)
{
	volatile char *byte = fixture->address + fixture->kept.data;

	return *byte ? -EINVAL : 0;
}

static void after_touch(struct call_fixture *fixture, int ret)
{
	after_mmap(fixture, 0);
}

static int call_info(struct call_fixture *fixture)
{
	struct dart_zero_info info = { .size = sizeof(info) };

	return device_call(fixture->region, DART_ZERO_IOC_INFO, &info);
}

static int call_list(struct call_fixture *fixture)
{
	struct dart_zero_extent extents[8];
	struct dart_zero_list list = {
		.size = sizeof(list),
		.count = sizeof(extents) / sizeof(extents[0]),
		.extents = (uintptr_t)extents,
	};

	return device_call(fixture->region, DART_ZERO_IOC_LIST, &list);
}

static int call_add_window(struct call_fixture *fixture)
{
	return device_add_window(fixture->region, DART_ZERO_SOURCE_SOFTNET, &fixture->extent);
}

static int call_add_map(struct call_fixture *fixture)
{
	return device_add_map(fixture->region, fixture->map, &fixture->extent);
}

static void after_add(struct call_fixture *fixture, int ret)
{
	if (!ret)
		assert_int_equal(device_remove(fixture->region, fixture->extent.id), 0);
}

static void before_remove(struct call_fixture *fixture)
{
	assert_int_equal(call_add_map(fixture), 0);
}

static int call_remove(struct call_fixture *fixture)
{
	return device_remove(fixture->region, fixture->extent.id);
}

static void after_remove(struct call_fixture *fixture, int ret)
{
	if (ret)
		assert_int_equal(call_remove(fixture), 0);
}

/* @fixture->opened is a descriptor of the namespace or cgroup. */
static int add_selected(struct call_fixture *fixture, uint32_t source, uint32_t ifindex)
{
	return device_add_selected(fixture->region, source, fixture->opened,
				   ifindex, &fixture->extent);
}

static void before_namespace(struct call_fixture *fixture)
{
	int home = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);

	assert_int_equal(unshare(CLONE_NEWNET), 0);
	fixture->opened = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	assert_int_equal(setns(home, CLONE_NEWNET), 0);
	close(home);
}

static int call_add_mib(struct call_fixture *fixture)
{
	return add_selected(fixture, DART_ZERO_SOURCE_TCP, 0);
}

/* The index of lo is 1. */
static int call_add_netdev(struct call_fixture *fixture)
{
	return add_selected(fixture, DART_ZERO_SOURCE_NETDEV, 1);
}

static int call_add_netdev_core(struct call_fixture *fixture)
{
	return add_selected(fixture, DART_ZERO_SOURCE_NETDEV_CORE, 1);
}

static void before_cgroup(struct call_fixture *fixture)
{
	mkdir(CGROUP, 0755);
	fixture->opened = open(CGROUP, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(fixture->opened >= 0);
}

static int call_add_cgroup(struct call_fixture *fixture)
{
	return add_selected(fixture, DART_ZERO_SOURCE_CGROUP_CPU, 0);
}

static void after_selected(struct call_fixture *fixture, int ret)
{
	after_add(fixture, ret);
	close(fixture->opened);
}

static int call_add_counters(struct call_fixture *fixture)
{
	return device_add_counters(fixture->region, "undoable", 8, &fixture->extent);
}

static int call_add_slab(struct call_fixture *fixture)
{
	return slab_add(fixture->region, 8, &fixture->extent);
}

static void before_slice(struct call_fixture *fixture)
{
	assert_int_equal(call_add_slab(fixture), 0);
}

static int call_add_slice(struct call_fixture *fixture)
{
	return slice_new(fixture->region, fixture->extent.id, 2, &fixture->slice);
}

static void after_slice(struct call_fixture *fixture, int ret)
{
	if (!ret) {
		close(fixture->slice.fd);
		assert_int_equal(device_remove(fixture->region, fixture->slice.id), 0);
	}
	/* The slab is without slices again. */
	after_add(fixture, 0);
}

static void before_slice_mmap(struct call_fixture *fixture)
{
	before_slice(fixture);
	assert_int_equal(call_add_slice(fixture), 0);
}

static int call_slice_mmap(struct call_fixture *fixture)
{
	fixture->address = mmap(NULL, 2 * 4096, PROT_READ | PROT_WRITE,
				MAP_SHARED, fixture->slice.fd, 0);
	return fixture->address == MAP_FAILED ? -errno : 0;
}

static void after_slice_mmap(struct call_fixture *fixture, int ret)
{
	if (!ret)
		munmap(fixture->address, 2 * 4096);
	after_slice(fixture, 0);
}

/* The region of the slice is closed: another one adopts slice and slab. */
static void before_adopt(struct call_fixture *fixture)
{
	int region = device_open();

	slice_new(region, slab_new(region, 8, NULL), 2, &fixture->slice);
	close(region);
}

static int call_adopt_slice(struct call_fixture *fixture)
{
	struct dart_zero_adoption adoption;
	int ret = slice_adopt(fixture->region, fixture->slice.fd, &adoption);

	fixture->slice.id = adoption.id;
	fixture->extent = adoption.slab;
	return ret;
}

static void after_adopt(struct call_fixture *fixture, int ret)
{
	if (ret)
		close(fixture->slice.fd);
	else
		after_slice(fixture, 0);
}

static int add_record(struct call_fixture *fixture, uint32_t source, int fd, uint32_t ifindex)
{
	static const struct dart_zero_piece piece = { .width = 8, .count = 6 };
	struct dart_zero_record record = record_of(fixture->extent.id, source, &piece);
	int ret;

	record.fd = fd;
	record.ifindex = ifindex;
	ret = record_add(fixture->region, &record);
	fixture->record = record.id;
	return ret;
}

static int call_add_record_pages(struct call_fixture *fixture)
{
	struct dart_zero_slab slab = {
		.size = sizeof(slab),
		.flags = DART_ZERO_SLAB_RECORDS,
		.pages = 8,
	};
	int ret = device_call(fixture->region, DART_ZERO_IOC_ADD_SLAB, &slab);

	fixture->extent = slab.extent;
	return ret;
}

static void before_record(struct call_fixture *fixture)
{
	assert_int_equal(call_add_record_pages(fixture), 0);
}

static int call_add_record(struct call_fixture *fixture)
{
	return add_record(fixture, DART_ZERO_SOURCE_VMSTAT, -1, 0);
}

static void after_record(struct call_fixture *fixture, int ret)
{
	if (!ret)
		assert_int_equal(device_remove(fixture->region, fixture->record), 0);
	/* The pages are without records again. */
	after_add(fixture, 0);
}

static void before_record_on_namespace(struct call_fixture *fixture)
{
	before_record(fixture);
	before_namespace(fixture);
}

static int call_add_record_on_namespace(struct call_fixture *fixture)
{
	return add_record(fixture, DART_ZERO_SOURCE_TCPEXT, fixture->opened, 0);
}

static int call_add_record_on_sockets(struct call_fixture *fixture)
{
	return add_record(fixture, DART_ZERO_SOURCE_SOCKETS, fixture->opened, 0);
}

static int call_add_record_on_link(struct call_fixture *fixture)
{
	return add_record(fixture, DART_ZERO_SOURCE_NETDEV_LINK, fixture->opened, 1);
}

static int call_add_record_on_filesystem(struct call_fixture *fixture)
{
	static const struct dart_zero_piece piece = { .width = 8, .count = 6 };
	struct dart_zero_record record = record_of(
		fixture->extent.id, DART_ZERO_SOURCE_FILESYSTEM, &piece);
	int ret;

	record.path = (uintptr_t)"/";
	record.device_major = major(fixture->root);
	record.device_minor = minor(fixture->root);
	ret = record_add(fixture->region, &record);
	fixture->record = record.id;
	return ret;
}

static void after_record_on_selected(struct call_fixture *fixture, int ret)
{
	after_record(fixture, ret);
	close(fixture->opened);
}

static int call_namespaces(struct call_fixture *fixture)
{
	return device_namespaces(fixture->region, DART_ZERO_NAMESPACES_WATCH);
}

static int call_quarantine(struct call_fixture *fixture)
{
	return device_quarantine(fixture->region);
}

static int call_open_reader(struct call_fixture *fixture)
{
	int reader, ret = device_open_reader(fixture->region, &reader);

	if (!ret)
		close(reader);
	return ret;
}

const struct undoable_call undoable_calls[] = {
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
	{ "mmap of a slice", before_slice_mmap, call_slice_mmap, after_slice_mmap },
	{ "ADD_SLAB of records", NULL, call_add_record_pages, after_add },
	{ "ADD_RECORD", before_record, call_add_record, after_record },
	{ "ADD_RECORD on a namespace", before_record_on_namespace,
	  call_add_record_on_namespace, after_record_on_selected },
	{ "ADD_RECORD on the sockets of a namespace",
	  before_record_on_namespace, call_add_record_on_sockets,
	  after_record_on_selected },
	{ "ADD_RECORD on a device", before_record_on_namespace,
	  call_add_record_on_link, after_record_on_selected },
	{ "ADD_RECORD on a file system", before_record,
	  call_add_record_on_filesystem, after_record },
	{ "NAMESPACES", NULL, call_namespaces, NULL },
	{ "QUARANTINE", NULL, call_quarantine, NULL },
	{ "OPEN_READER", NULL, call_open_reader, NULL },
	{ "REMOVE", before_remove, call_remove, after_remove },
};

const size_t undoable_calls_count = sizeof(undoable_calls) / sizeof(undoable_calls[0]);

static void before_load(struct call_fixture *fixture)
{
	FILE *modinfo = popen("modinfo -n dart_zero", "r");
	char path[4096];

	assert_non_null(modinfo);
	assert_int_equal(fscanf(modinfo, "%4095s", path), 1);
	pclose(modinfo);
	assert_int_equal(syscall(SYS_delete_module, "dart_zero", 0), 0);
	fixture->opened = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fixture->opened >= 0);
}

static int call_load(struct call_fixture *fixture)
{
	return syscall(SYS_finit_module, fixture->opened, "", 0) ? -errno : 0;
}

static void after_load(struct call_fixture *fixture, int ret)
{
	if (ret) {
		assert_int_equal(access(DART_ZERO_DEVICE, F_OK), -1);
		assert_int_equal(call_load(fixture), 0);
	}
	close(fixture->opened);
}

const struct undoable_call undoable_load = {
	"init of the module", before_load, call_load, after_load,
};

void call_fixture__open(struct call_fixture *fixture)
{
	struct stat root;

	assert_int_equal(stat("/", &root), 0);
	*fixture = (struct call_fixture){
		.region = device_open(),
		.map = array_map("undoable", 8, 4096, BPF_F_MMAPABLE),
		.kept_map = array_map("kept", 8, 1, BPF_F_MMAPABLE),
		.root = root.st_dev,
	};
	fixture->capacity = device_info(fixture->region).capacity;
	assert_int_equal(device_add_map(fixture->region, fixture->kept_map, &fixture->kept), 0);
}

void call_fixture__close(struct call_fixture *fixture)
{
	close(fixture->region);
	close(fixture->map);
	close(fixture->kept_map);
	fixture->region = -1;
	rmdir(CGROUP);
}
