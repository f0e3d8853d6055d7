// SPDX-License-Identifier: GPL-2.0-only
/* Counters of other modules and of eBPF programs in a region. */
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <stdlib.h>

#include "selftests/lib/device.h"
#include "selftests/lib/leftovers.h"
#include "selftests/lib/loopback.h"

static void test_counters_of_module(void **state)
{
	struct dart_zero_extent extent;
	int region = device_open();
	const char *address = device_map(region);

	assert_int_equal(device_add_counters(region, "dart_sample", 0, NULL), -ENOENT);
	assert_int_equal(system("modprobe dart_sample"), 0);
	assert_int_equal(device_add_counters(region, "dart_sample", 0, &extent), 0);
	assert_int_equal(extent.kind, DART_ZERO_EXTENT_COUNTERS);
	assert_string_equal(extent.name, "dart_sample");
	assert_string_equal(extent.module, "dart_sample");
	assert_int_equal(extent.length, 16);
	assert_int_equal(device_add_counters(region, "dart_sample", 0, NULL), -EEXIST);
	assert_int_equal(device_add_counters(region, "dart_sample", 1, NULL), -EEXIST);

	assert_int_equal(system("cd /sys/module/dart_sample/parameters && "
				"echo 5 > add && echo 37 > add"), 0);
	assert_int_equal(device_sum(address, &extent, 0), 2);
	assert_int_equal(device_sum(address, &extent, 1), 42);

	device_no_event(region);
	assert_int_equal(system("rmmod dart_sample"), 0);
	assert_int_equal(device_event(region, DART_ZERO_EVENT_EXTENT_GONE), extent.id);
	assert_int_equal(device_sum(address, &extent, 1), 42);
	assert_int_equal(device_add_counters(region, "dart_sample", 0, NULL), -ENOENT);

	/* The new counters start at zero, while the old ones keep their last values. */
	assert_int_equal(system("modprobe dart_sample"), 0);
	assert_int_equal(device_add_counters(region, "dart_sample", 0, &extent), 0);
	assert_int_equal(device_sum(address, &extent, 1), 0);
	munmap((void *)address, device_info(region).capacity);
	close(region);
	assert_int_equal(system("rmmod dart_sample"), 0);
}

/* A program that adds 3 to counter @index of counters @id and returns the result. */
static int program_load(uint32_t id, uint32_t index)
{
	struct btf *kernel = btf__load_vmlinux_btf();
	struct btf *module = btf__load_module_btf("dart_zero", kernel);
	uint32_t next = 0;
	char name[64];
	int fds[2] = { 0, -1 }, function, program;
	static char log[4096];
	LIBBPF_OPTS(bpf_prog_load_opts, options, .fd_array = fds,
		    .log_buf = log, .log_size = sizeof(log), .log_level = 1,
		    .prog_flags = BPF_F_SLEEPABLE);

	assert_non_null(module);
	function = btf__find_by_name_kind(module, "bpf_dart_counters_add", BTF_KIND_FUNC);
	assert_true(function > 0);
	while (!bpf_btf_get_next_id(next, &next)) {
		struct bpf_btf_info info = {
			.name = (uintptr_t)name,
			.name_len = sizeof(name),
		};
		uint32_t size = sizeof(info);

		fds[1] = bpf_btf_get_fd_by_id(next);
		assert_int_equal(bpf_obj_get_info_by_fd(fds[1], &info, &size), 0);
		if (!strcmp(name, "dart_zero"))
			break;
		close(fds[1]);
	}

	const struct bpf_insn code[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 1, .imm = id },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 2,
		  .imm = index },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 3, .imm = 3 },
		{ .code = BPF_JMP | BPF_CALL, .src_reg = BPF_PSEUDO_KFUNC_CALL,
		  .imm = function, .off = 1 },
		{ .code = BPF_JMP | BPF_EXIT },
	};

	program = bpf_prog_load(BPF_PROG_TYPE_SYSCALL, "adds", "GPL", code,
				sizeof(code) / sizeof(code[0]), &options);
	if (program < 0)
		fail_msg("%s", log);
	close(fds[1]);
	btf__free(module);
	btf__free(kernel);
	return program;
}

static int program_run(int program)
{
	LIBBPF_OPTS(bpf_test_run_opts, options);

	assert_int_equal(bpf_prog_test_run_opts(program, &options), 0);
	return (int)options.retval;
}

static void test_counters_of_program(void **state)
{
	struct dart_zero_extent extent, again;
	int region = device_open(), other = device_open(), program, beyond;
	const char *address = device_map(region);

	assert_int_equal(device_add_counters(region, "of-a-program", 4, &extent), 0);
	assert_string_equal(extent.name, "");
	assert_int_equal(extent.length, 32);
	program = program_load(extent.counters_id, 1);
	beyond = program_load(extent.counters_id, 4);
	for (int i = 0; i < 10; i++)
		assert_int_equal(program_run(program), 0);
	assert_int_equal(program_run(beyond), -EINVAL);
	assert_int_equal(device_sum(address, &extent, 0), 0);
	assert_int_equal(device_sum(address, &extent, 1), 30);

	/* The region that made them owns them: another region can only show them. */
	assert_int_equal(device_add_counters(other, "of-a-program", 0, &again), 0);
	assert_int_equal(again.counters_id, extent.counters_id);
	assert_int_equal(device_remove(region, extent.id), 0);
	assert_int_equal(device_event(other, DART_ZERO_EVENT_EXTENT_GONE), again.id);
	assert_int_equal(program_run(program), -ENOENT);
	assert_int_equal(device_add_counters(region, "of-a-program", 4, &extent), 0);
	assert_int_equal(program_run(program), -ENOENT);
	close(program);
	close(beyond);
	close(other);
	munmap((void *)address, device_info(region).capacity);
	close(region);
}

/* Only the module knows the meaning of its counters. */
static void test_program_and_module(void **state)
{
	struct dart_zero_extent extent;
	int region = device_open(), program;
	const char *address = device_map(region);

	assert_int_equal(system("modprobe dart_sample"), 0);
	assert_int_equal(device_add_counters(region, "dart_sample", 0, &extent), 0);
	program = program_load(extent.counters_id, 1);
	assert_int_equal(program_run(program), -EPERM);
	assert_int_equal(device_sum(address, &extent, 1), 0);
	close(program);
	munmap((void *)address, device_info(region).capacity);
	close(region);
	assert_int_equal(system("rmmod dart_sample"), 0);
}

/* The counter @index of all copies, by READ of memory that the region showed. */
static uint64_t read_sum(struct loopback *loopback, const struct ibv_mr *mr,
			 const struct dart_zero_extent *extent, uint32_t index)
{
	uint64_t sum = 0;

	for (uint32_t cpu = 0; cpu < extent->copies; cpu++)
		sum += ((const uint64_t *)loopback__read(
			loopback, (uintptr_t)mr->addr + cpu * extent->stride,
			mr->rkey, 4096))[index];
	return sum;
}

/* The largest counters, so that the kernel allocates others in their place. */
static void test_removed_while_pinned(void **state)
{
	struct loopback *loopback = loopback__new();
	struct dart_zero_extent extent, next;
	int region = device_open(), program;
	const char *address = device_map(region);
	struct ibv_mr *mr;

	assert_int_equal(device_add_counters(region, "pinned", 4096, &extent), 0);
	program = program_load(extent.counters_id, 1);
	for (int i = 0; i < 10; i++)
		assert_int_equal(program_run(program), 0);
	close(program);
	mr = ibv_reg_mr(loopback->pd, (char *)address + extent.data,
			(extent.copies - 1) * extent.stride + extent.length,
			IBV_ACCESS_REMOTE_READ);
	assert_non_null(mr);
	assert_int_equal(device_remove(region, extent.id), 0);

	/* The memory of removed counters is freed after a while (RCU). */
	for (int i = 0; i < 20; i++) {
		assert_int_equal(device_add_counters(region, "next", 4096, &next), 0);
		program = program_load(next.counters_id, 1);
		assert_int_equal(program_run(program), 0);
		close(program);
		assert_int_equal(device_sum(address, &next, 1), 3);
		assert_int_equal(read_sum(loopback, mr, &extent, 1), 30);
		assert_int_equal(device_remove(region, next.id), 0);
		usleep(20000);
	}

	munmap((void *)address, device_info(region).capacity);
	close(region);
	assert_int_equal(ibv_dereg_mr(mr), 0);
	/* The kernel does not tell when pages are unpinned: the module polls. */
	for (int i = 0; i < 200; i++) {
		if (!leftovers__module_references())
			break;
		usleep(100000);
	}
	assert_int_equal(leftovers__module_references(), 0);
	loopback__free(loopback);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("counters of a module keep their last values when it is unloaded, and start from 0 when it is loaded again",
		     test_counters_of_module),
		TEST("an eBPF program adds to counters by id until the region that made them removes them",
		     test_counters_of_program),
		TEST("an eBPF program cannot add to the counters of a module",
		     test_program_and_module),
		TEST("counters that are removed while they are registered for RDMA keep their memory until they are not",
		     test_removed_while_pinned),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
