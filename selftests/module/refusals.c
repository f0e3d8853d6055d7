// SPDX-License-Identifier: GPL-2.0-only
/* Each call that must be refused, with its error, and the list as it was. */
#include "selftests/lib/device.h"

#include <bpf/btf.h>
#include <linux/capability.h>
#include <sys/syscall.h>

struct fixture {
	int region;
	int map;
	struct dart_zero_extent before[2];
};

static void list(int region, struct dart_zero_extent extents[2])
{
	struct dart_zero_list list = {
		.size = sizeof(list),
		.count = 2,
		.extents = (uintptr_t)extents,
	};

	assert_int_equal(device_call(region, DART_ZERO_IOC_LIST, &list), 0);
	assert_int_equal(list.count, 2);
}

static int setup(void **state)
{
	struct fixture *fixture = test_calloc(1, sizeof(*fixture));

	fixture->region = device_open();
	fixture->map = array_map("refusals", 8, 1, BPF_F_MMAPABLE);
	assert_int_equal(device_add_window(fixture->region,
					   DART_ZERO_SOURCE_CPUSTAT, NULL), 0);
	assert_int_equal(device_add_map(fixture->region, fixture->map, NULL), 0);
	list(fixture->region, fixture->before);
	*state = fixture;
	return 0;
}

/* Nothing that was refused has left a trace. */
static int teardown(void **state)
{
	struct fixture *fixture = *state;
	struct dart_zero_extent after[2];

	list(fixture->region, after);
	assert_memory_equal(fixture->before, after, sizeof(after));
	close(fixture->map);
	close(fixture->region);
	test_free(fixture);
	return 0;
}

static int refused_map(struct fixture *fixture, int fd)
{
	int err = device_add_map(fixture->region, fd, NULL);

	close(fd);
	return err;
}

static void test_unknown_call(void **state)
{
	struct fixture *fixture = *state;
	uint64_t argument[64] = {};

	assert_int_equal(device_call(fixture->region,
				     _IO(DART_ZERO_IOC_MAGIC, 0x7f), argument),
			 -ENOTTY);
}

static void test_sizes(void **state)
{
	struct fixture *fixture = *state;
	struct dart_zero_window window = {
		.size = sizeof(window) - 1,
		.source = DART_ZERO_SOURCE_VMSTAT,
		.fd = -1,
	};
	struct dart_zero_map map = { .size = 0, .fd = fixture->map };
	struct dart_zero_remove remove = {
		.size = sizeof(remove) + 4,
		.id = fixture->before[0].id,
	};
	struct dart_zero_list list = { .size = ~0u };
	struct dart_zero_info info = { .size = 4 };
	struct dart_zero_info filled = { .size = sizeof(filled), .used = 1 };
	int region = fixture->region;

	assert_int_equal(device_call(region, DART_ZERO_IOC_ADD_WINDOW, &window),
			 -EINVAL);
	assert_int_equal(device_call(region, DART_ZERO_IOC_ADD_MAP, &map),
			 -EINVAL);
	assert_int_equal(device_call(region, DART_ZERO_IOC_REMOVE, &remove),
			 -EINVAL);
	assert_int_equal(device_call(region, DART_ZERO_IOC_LIST, &list),
			 -EINVAL);
	assert_int_equal(device_call(region, DART_ZERO_IOC_INFO, &info),
			 -EINVAL);
	assert_int_equal(device_call(region, DART_ZERO_IOC_INFO, &filled),
			 -EINVAL);
}

static void test_flags_and_reserved(void **state)
{
	struct fixture *fixture = *state;
	struct dart_zero_window window = {
		.size = sizeof(window),
		.source = DART_ZERO_SOURCE_VMSTAT,
		.fd = -1,
		.flags = 1,
	};
	struct dart_zero_map map = {
		.size = sizeof(map),
		.fd = fixture->map,
		.reserved = 1,
	};
	struct dart_zero_remove remove = {
		.size = sizeof(remove),
		.id = fixture->before[0].id,
		.flags = 0x80000000,
	};
	int region = fixture->region;

	assert_int_equal(device_call(region, DART_ZERO_IOC_ADD_WINDOW, &window),
			 -EINVAL);
	window.flags = 0;
	window.extent.name[3] = 1;
	assert_int_equal(device_call(region, DART_ZERO_IOC_ADD_WINDOW, &window),
			 -EINVAL);
	assert_int_equal(device_call(region, DART_ZERO_IOC_ADD_MAP, &map),
			 -EINVAL);
	assert_int_equal(device_call(region, DART_ZERO_IOC_REMOVE, &remove),
			 -EINVAL);
}

static void test_bad_address(void **state)
{
	struct fixture *fixture = *state;
	struct dart_zero_list list = { .size = sizeof(list), .count = 2 };
	/* Readable, not writable: the answer cannot be given. */
	struct dart_zero_window *window = mmap(NULL, 4096,
					       PROT_READ | PROT_WRITE,
					       MAP_PRIVATE | MAP_ANONYMOUS,
					       -1, 0);
	int region = fixture->region;

	window->size = sizeof(*window);
	window->source = DART_ZERO_SOURCE_VMSTAT;
	window->fd = -1;
	assert_int_equal(mprotect(window, 4096, PROT_READ), 0);
	assert_int_equal(device_call(region, DART_ZERO_IOC_ADD_WINDOW, window),
			 -EFAULT);
	assert_int_equal(device_call(region, DART_ZERO_IOC_ADD_WINDOW, NULL),
			 -EFAULT);
	assert_int_equal(device_call(region, DART_ZERO_IOC_LIST, &list),
			 -EFAULT);
	munmap(window, 4096);
}

static void test_unknown_source(void **state)
{
	struct fixture *fixture = *state;

	assert_int_equal(device_add_window(fixture->region,
					   DART_ZERO_SOURCE_NONE, NULL),
			 -EINVAL);
	assert_int_equal(device_add_window(fixture->region, 6, NULL), -EINVAL);
	assert_int_equal(device_add_window(fixture->region, ~0u, NULL),
			 -EINVAL);
}

/* A selector where there is nothing to select, and none where there is. */
static void test_selectors(void **state)
{
	static const struct {
		uint32_t source;
		int fd;
		uint32_t netns, ifindex;
		int err;
	} cases[] = {
		{ DART_ZERO_SOURCE_VMSTAT, 0, 0, 0, EINVAL },
		{ DART_ZERO_SOURCE_VMSTAT, -1, 1, 0, EINVAL },
		{ DART_ZERO_SOURCE_VMSTAT, -1, 0, 1, EINVAL },
		{ DART_ZERO_SOURCE_TCP, -1, 0, 0, EINVAL },
		{ DART_ZERO_SOURCE_TCP, 9999, 0, 0, EBADF },
		{ DART_ZERO_SOURCE_TCP, -1, 1, 0, ENOENT },
		{ DART_ZERO_SOURCE_TCP, 0, 1, 0, EINVAL },
		{ DART_ZERO_SOURCE_TCP, -1, 1, 1, EINVAL },
		{ DART_ZERO_SOURCE_NETDEV, -1, 1, 0, EINVAL },
		{ DART_ZERO_SOURCE_NETDEV, -1, 1, 1, ENOENT },
		{ DART_ZERO_SOURCE_DISK, -1, 0, 0, EINVAL },
		{ DART_ZERO_SOURCE_DISK, -1, 1, 0, EINVAL },
		{ DART_ZERO_SOURCE_DISK, 9999, 0, 0, EBADF },
		{ DART_ZERO_SOURCE_CGROUP_CPU, -1, 1, 0, EINVAL },
		{ DART_ZERO_SOURCE_CGROUP_CPU, 9999, 0, 0, EBADF },
	};
	struct fixture *fixture = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct dart_zero_window window = {
			.size = sizeof(window),
			.source = cases[i].source,
			.fd = cases[i].fd,
			.netns = cases[i].netns,
			.ifindex = cases[i].ifindex,
		};

		assert_int_equal(device_call(fixture->region,
					     DART_ZERO_IOC_ADD_WINDOW,
					     &window), -cases[i].err);
	}
}

static void test_wrong_file(void **state)
{
	static const struct {
		uint32_t source;
		const char *path;
		int err;
	} cases[] = {
		{ DART_ZERO_SOURCE_TCP, "/dev/null", EINVAL },
		{ DART_ZERO_SOURCE_TCP, "/proc/self/ns/mnt", EINVAL },
		{ DART_ZERO_SOURCE_DISK, "/dev/null", EINVAL },
		{ DART_ZERO_SOURCE_CGROUP_CPU, "/tmp", EBADF },
		{ DART_ZERO_SOURCE_CGROUP_CPU, "/sys/fs/cgroup", EINVAL },
	};
	struct fixture *fixture = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct dart_zero_window window = {
			.size = sizeof(window),
			.source = cases[i].source,
			.fd = open(cases[i].path, O_RDONLY | O_CLOEXEC),
		};

		assert_true(window.fd >= 0);
		assert_int_equal(device_call(fixture->region,
					     DART_ZERO_IOC_ADD_WINDOW,
					     &window), -cases[i].err);
		close(window.fd);
	}
}

static void test_counters(void **state)
{
	struct dart_zero_counters good = {
		.size = sizeof(good),
		.flags = DART_ZERO_COUNTERS_CREATE,
		.count = 1,
		.name = "refused",
	}, bad;
	struct fixture *fixture = *state;
	int region = fixture->region;

	bad = good;
	bad.count = 0;
	assert_int_equal(device_call(region, DART_ZERO_IOC_ADD_COUNTERS, &bad),
			 -EINVAL);
	bad.count = 4097;
	assert_int_equal(device_call(region, DART_ZERO_IOC_ADD_COUNTERS, &bad),
			 -EINVAL);
	bad = good;
	bad.flags = 0;
	assert_int_equal(device_call(region, DART_ZERO_IOC_ADD_COUNTERS, &bad),
			 -EINVAL);
	bad.count = 0;
	assert_int_equal(device_call(region, DART_ZERO_IOC_ADD_COUNTERS, &bad),
			 -ENOENT);
	bad = good;
	bad.name[3] = ' ';
	assert_int_equal(device_call(region, DART_ZERO_IOC_ADD_COUNTERS, &bad),
			 -EINVAL);
	bad = good;
	bad.name[20] = 'x';
	assert_int_equal(device_call(region, DART_ZERO_IOC_ADD_COUNTERS, &bad),
			 -EINVAL);
	memset(bad.name, 'x', sizeof(bad.name));
	assert_int_equal(device_call(region, DART_ZERO_IOC_ADD_COUNTERS, &bad),
			 -EINVAL);
}

static void test_twice(void **state)
{
	struct fixture *fixture = *state;

	assert_int_equal(device_add_window(fixture->region,
					   DART_ZERO_SOURCE_CPUSTAT, NULL),
			 -EEXIST);
	assert_int_equal(device_add_map(fixture->region, fixture->map, NULL),
			 -EEXIST);
}

static void test_remove_unknown(void **state)
{
	struct fixture *fixture = *state;

	assert_int_equal(device_remove(fixture->region, 0), -ENOENT);
	assert_int_equal(device_remove(fixture->region, 4711), -ENOENT);
}

static void test_list_room(void **state)
{
	struct fixture *fixture = *state;
	struct dart_zero_extent extent;
	struct dart_zero_list list = {
		.size = sizeof(list),
		.count = 1,
		.extents = (uintptr_t)&extent,
	};

	assert_int_equal(device_call(fixture->region, DART_ZERO_IOC_LIST, &list),
			 -ENOSPC);
	assert_int_equal(list.count, 2);
}

static void test_not_a_map(void **state)
{
	struct fixture *fixture = *state;

	assert_int_equal(device_add_map(fixture->region, -1, NULL), -EBADF);
	assert_int_equal(device_add_map(fixture->region, 9999, NULL), -EBADF);
	assert_int_equal(refused_map(fixture, open("/dev/null", O_RDONLY)),
			 -EINVAL);
}

static void test_map_types(void **state)
{
	struct fixture *fixture = *state;
	int hash = bpf_map_create(BPF_MAP_TYPE_HASH, "hash", 4, 8, 1, NULL);
	int per_cpu = bpf_map_create(BPF_MAP_TYPE_PERCPU_ARRAY, "per_cpu", 4, 8,
				     1, NULL);
	int plain = array_map("plain", 8, 1, 0);
	int write_only = array_map("write_only", 8, 1,
				   BPF_F_MMAPABLE | BPF_F_WRONLY);

	assert_int_equal(refused_map(fixture, hash), -EINVAL);
	assert_int_equal(refused_map(fixture, per_cpu), -EINVAL);
	assert_int_equal(refused_map(fixture, plain), -EINVAL);
	assert_int_equal(refused_map(fixture, write_only), -EPERM);
}

/* The kernel does not let such a value be mapped either. */
static void test_map_with_lock(void **state)
{
	struct fixture *fixture = *state;
	struct btf *btf = btf__new_empty();
	LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = BPF_F_MMAPABLE);
	int number, lock, map;

	number = btf__add_int(btf, "unsigned int", 4, 0);
	lock = btf__add_struct(btf, "bpf_spin_lock", 4);
	assert_int_equal(btf__add_field(btf, "val", number, 0, 0), 0);
	options.btf_key_type_id = number;
	options.btf_value_type_id = btf__add_struct(btf, "value", 8);
	assert_int_equal(btf__add_field(btf, "count", number, 0, 0), 0);
	assert_int_equal(btf__add_field(btf, "lock", lock, 32, 0), 0);
	assert_int_equal(btf__load_into_kernel(btf), 0);
	options.btf_fd = btf__fd(btf);
	map = bpf_map_create(BPF_MAP_TYPE_ARRAY, "lock", 4, 8, 1, &options);
	assert_true(map >= 0);

	assert_int_equal(refused_map(fixture, map), -EINVAL);
	btf__free(btf);
}

static void test_capacity(void **state)
{
	struct fixture *fixture = *state;
	struct dart_zero_slab slab = {
		.size = sizeof(slab),
		.pages = device_info(fixture->region).capacity / 4096 + 1,
	};

	assert_int_equal(device_call(fixture->region, DART_ZERO_IOC_ADD_SLAB,
				     &slab), -ENOSPC);
}

static void set_effective(uint32_t capability, int on)
{
	struct __user_cap_header_struct header = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct data[2];
	uint32_t bit = 1u << (capability % 32);

	assert_int_equal(syscall(SYS_capget, &header, data), 0);
	if (on)
		data[capability / 32].effective |= bit;
	else
		data[capability / 32].effective &= ~bit;
	assert_int_equal(syscall(SYS_capset, &header, data), 0);
}

static void test_capability(void **state)
{
	struct fixture *fixture = *state;
	int map = array_map("capability", 8, 1, BPF_F_MMAPABLE);
	int window_err, map_err;

	set_effective(CAP_SYS_ADMIN, 0);
	window_err = device_add_window(fixture->region,
				       DART_ZERO_SOURCE_SOFTNET, NULL);
	map_err = refused_map(fixture, map);
	device_info(fixture->region);
	set_effective(CAP_SYS_ADMIN, 1);

	assert_int_equal(window_err, -EPERM);
	assert_int_equal(map_err, -EPERM);
}

static void test_mappings(void **state)
{
	struct fixture *fixture = *state;
	struct dart_zero_info info = device_info(fixture->region);
	int writable = open(DART_ZERO_DEVICE, O_RDWR | O_CLOEXEC);
	const struct {
		int fd, protection, flags, error;
		off_t offset;
	} refused[] = {
		{ fixture->region, PROT_READ, MAP_PRIVATE, EINVAL, 0 },
		{ fixture->region, PROT_READ | PROT_WRITE, MAP_SHARED, EACCES, 0 },
		{ writable, PROT_READ | PROT_WRITE, MAP_SHARED, EPERM, 0 },
		{ fixture->region, PROT_READ | PROT_EXEC, MAP_SHARED, EPERM, 0 },
		{ fixture->region, PROT_READ, MAP_SHARED, EINVAL, 4096 },
	};

	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		errno = 0;
		assert_ptr_equal(mmap(NULL, info.capacity,
				      refused[i].protection, refused[i].flags,
				      refused[i].fd, refused[i].offset),
				 MAP_FAILED);
		assert_int_equal(errno, refused[i].error);
	}
	close(writable);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_unknown_call),
		TEST(test_sizes),
		TEST(test_flags_and_reserved),
		TEST(test_bad_address),
		TEST(test_unknown_source),
		TEST(test_selectors),
		TEST(test_wrong_file),
		TEST(test_counters),
		TEST(test_twice),
		TEST(test_remove_unknown),
		TEST(test_list_room),
		TEST(test_not_a_map),
		TEST(test_map_types),
		TEST(test_map_with_lock),
		TEST(test_capacity),
		TEST(test_capability),
		TEST(test_mappings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
