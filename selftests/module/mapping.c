// SPDX-License-Identifier: GPL-2.0-only
/* The contents of a mapping of a region, and the calls that may change the mapping. */
#include <bpf/btf.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>

#include "selftests/lib/device.h"

static uint64_t load(const char *address)
{
	return *(const volatile uint64_t *)address;
}

static void update(int map, uint32_t key, uint64_t value)
{
	assert_int_equal(bpf_map_update_elem(map, &key, &value, BPF_ANY), 0);
}

static void test_before_and_after_mmap(void **state)
{
	int early = array_map("early", 8, 600, BPF_F_MMAPABLE);
	int late = array_map("late", 8, 600, BPF_F_MMAPABLE);
	struct dart_zero_extent first, second;
	int region = device_open();
	const char *address;

	update(early, 599, 11);
	update(late, 599, 22);
	assert_int_equal(device_add_map(region, early, &first), 0);
	address = device_map(region);
	assert_int_equal(load(address + first.data + 599 * first.stride), 11);

	/* The test reads the page while it is a hole: the page table must not remember that. */
	assert_int_equal(load(address + first.offset + first.pages * PAGE), 0);
	assert_int_equal(device_add_map(region, late, &second), 0);
	assert_int_equal(second.offset, first.offset + first.pages * PAGE);
	assert_int_equal(load(address + second.data + 599 * second.stride), 22);

	update(early, 599, 12);
	update(late, 599, 23);
	assert_int_equal(load(address + first.data + 599 * first.stride), 12);
	assert_int_equal(load(address + second.data + 599 * second.stride), 23);

	munmap((void *)address, device_info(region).capacity);
	close(region);
	close(early);
	close(late);
}

static void test_removed_reads_as_zero(void **state)
{
	int map = array_map("removed", 8, 1, BPF_F_MMAPABLE);
	struct dart_zero_extent extent, again;
	int region = device_open();
	const char *address;

	update(map, 0, 33);
	assert_int_equal(device_add_map(region, map, &extent), 0);
	address = device_map(region);
	assert_int_equal(load(address + extent.data), 33);
	assert_int_equal(device_remove(region, extent.id), 0);
	assert_int_equal(load(address + extent.data), 0);

	/* The place is free again, the id is not. */
	assert_int_equal(device_add_map(region, map, &again), 0);
	assert_int_equal(again.offset, extent.offset);
	assert_int_not_equal(again.id, extent.id);
	assert_int_equal(load(address + again.data), 33);

	munmap((void *)address, device_info(region).capacity);
	close(region);
	close(map);
}

static void test_capacity_reads_as_zero(void **state)
{
	int region = device_open();
	struct dart_zero_info info = device_info(region);
	const char *address = device_map(region);

	assert_int_equal(info.abi_version, DART_ZERO_ABI_VERSION);
	assert_int_equal(info.used, 0);
	assert_int_equal(load(address), 0);
	assert_int_equal(load(address + info.capacity - 8), 0);
	munmap((void *)address, info.capacity);
	close(region);
}

/* User time of all CPUs. */
static uint64_t proc_user_ticks(void)
{
	unsigned long long user = 0;
	FILE *file = fopen("/proc/stat", "r");

	assert_non_null(file);
	assert_int_equal(fscanf(file, "cpu %llu", &user), 1);
	fclose(file);
	return user;
}

/* The offset of the CPU times in the variable: not 0 since Linux 7.2. */
static uint32_t offset_of_cpustat(void)
{
	struct btf *btf = btf__load_vmlinux_btf();
	const struct btf_type *type;
	uint32_t offset = UINT32_MAX;
	int id;

	assert_non_null(btf);
	id = btf__find_by_name_kind(btf, "kernel_cpustat", BTF_KIND_STRUCT);
	assert_true(id > 0);
	type = btf__type_by_id(btf, id);
	for (uint16_t i = 0; i < btf_vlen(type); i++) {
		uint32_t name = btf_members(type)[i].name_off;

		if (!strcmp(btf__name_by_offset(btf, name), "cpustat"))
			offset = btf_member_bit_offset(type, i) / 8;
	}
	assert_int_not_equal(offset, UINT32_MAX);
	btf__free(btf);
	return offset;
}

static void test_window_follows_proc(void **state)
{
	const uint32_t user = offset_of_cpustat();
	const uint64_t tick_ns = 1000000000ull / sysconf(_SC_CLK_TCK);
	int region = device_open();
	const char *address = device_map(region);
	struct dart_zero_extent extent;
	uint64_t first = 0, last = 0;

	assert_int_equal(device_add_window(region, DART_ZERO_SOURCE_CPUSTAT, &extent), 0);
	assert_string_equal(extent.name, "kernel_cpustat");
	assert_int_equal(extent.copies, device_info(region).cpus);

	/* Reading /proc is the load itself: until 20 ticks have passed. */
	do {
		uint64_t before = proc_user_ticks(), window = 0, after;

		for (uint32_t cpu = 0; cpu < extent.copies; cpu++)
			window += load(address + extent.data + cpu * extent.stride + user);
		window /= tick_ns;
		after = proc_user_ticks();

		assert_in_range(window, before, after);
		for (volatile int i = 0; i < 1000000; i++)
			;
		first = first ?: window;
		last = window;
	} while (last < first + 20);

	munmap((void *)address, device_info(region).capacity);
	close(region);
}

static void test_never_writable(void **state)
{
	int region = device_open();
	const char *address = device_map(region);
	size_t capacity = device_info(region).capacity;

	assert_int_equal(mprotect((void *)address, PAGE, PROT_READ | PROT_WRITE), -1);
	assert_int_equal(errno, EACCES);
	assert_int_equal(mprotect((void *)address, PAGE, PROT_READ | PROT_EXEC), -1);
	assert_int_equal(errno, EACCES);
	assert_ptr_equal(mremap((void *)address, capacity, capacity + PAGE,
				MREMAP_MAYMOVE), MAP_FAILED);
	munmap((void *)address, capacity);
	close(region);
}

static void test_not_inherited_by_fork(void **state)
{
	int region = device_open();
	const char *address = device_map(region);
	int status;
	pid_t child;

	assert_int_equal(load(address), 0);
	child = fork();
	if (!child) {
		/* The handler of cmocka would continue as if in the parent. */
		signal(SIGSEGV, SIG_DFL);
		load(address);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGSEGV);
	munmap((void *)address, device_info(region).capacity);
	close(region);
}

static void test_many_extents(void **state)
{
	enum { COUNT = 64 };
	int region = device_open();
	const char *address = device_map(region);
	struct dart_zero_extent extents[COUNT];
	int maps[COUNT];

	for (int i = 0; i < COUNT; i++) {
		maps[i] = array_map("many", 8, 1 + 512 * (i % 3), BPF_F_MMAPABLE);
		update(maps[i], 0, 1000 + i);
		assert_int_equal(device_add_map(region, maps[i], &extents[i]), 0);
	}
	for (int i = 0; i < COUNT; i += 2)
		assert_int_equal(device_remove(region, extents[i].id), 0);
	for (int i = 0; i < COUNT; i++)
		assert_int_equal(load(address + extents[i].data), i % 2 ? 1000 + i : 0);
	for (int i = 0; i < COUNT; i += 2)
		assert_int_equal(device_add_map(region, maps[i], &extents[i]), 0);
	for (int i = 0; i < COUNT; i++) {
		assert_int_equal(load(address + extents[i].data), 1000 + i);
		close(maps[i]);
	}
	assert_int_equal(device_info(region).extents, COUNT);
	munmap((void *)address, device_info(region).capacity);
	close(region);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("maps added before and after mmap() are shown side by side, with every later change",
		     test_before_and_after_mmap),
		TEST("an extent that was removed reads as zeros, and its place can be used again under a new id",
		     test_removed_reads_as_zero),
		TEST("a region without extents reads as zeros up to its capacity",
		     test_capacity_reads_as_zero),
		TEST("a window on CPU times stays within what /proc/stat says before and after",
		     test_window_follows_proc),
		TEST("a mapping can be made neither writable nor executable, and cannot grow",
		     test_never_writable),
		TEST("a child does not inherit the mapping of its parent",
		     test_not_inherited_by_fork),
		TEST("64 maps can be added and removed in any order, and each is shown at its place",
		     test_many_extents),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
