// SPDX-License-Identifier: GPL-2.0-only
/* Maps that are refused, and leave their region unchanged. */
#include <bpf/btf.h>

#include "selftests/lib/device.h"
#include "selftests/lib/unchanged_region.h"

/* Closes @fd. */
static int refused_map(struct unchanged_region *fixture, int fd)
{
	int ret = device_add_map(fixture->region, fd, NULL);

	close(fd);
	return ret;
}

static void test_not_a_map(void **state)
{
	struct unchanged_region *fixture = *state;

	assert_int_equal(device_add_map(fixture->region, -1, NULL), -EBADF);
	assert_int_equal(device_add_map(fixture->region, 9999, NULL), -EBADF);
	assert_int_equal(refused_map(fixture, open("/dev/null", O_RDONLY)), -EINVAL);
}

static void test_map_types(void **state)
{
	struct unchanged_region *fixture = *state;
	int hash = bpf_map_create(BPF_MAP_TYPE_HASH, "hash", 4, 8, 1, NULL);
	int per_cpu = bpf_map_create(BPF_MAP_TYPE_PERCPU_ARRAY, "per_cpu", 4, 8, 1, NULL);
	int plain = array_map("plain", 8, 1, 0);
	int write_only = array_map("write_only", 8, 1, BPF_F_MMAPABLE | BPF_F_WRONLY);

	assert_int_equal(refused_map(fixture, hash), -EINVAL);
	assert_int_equal(refused_map(fixture, per_cpu), -EINVAL);
	assert_int_equal(refused_map(fixture, plain), -EINVAL);
	assert_int_equal(refused_map(fixture, write_only), -EPERM);
}

/* The kernel refuses to map such values, too. */
static void test_map_with_lock(void **state)
{
	struct unchanged_region *fixture = *state;
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		UNCHANGED_TEST("a descriptor that is closed or of another file than a map is refused",
			       test_not_a_map),
		UNCHANGED_TEST("hash, per-CPU and write-only maps, and arrays without BPF_F_MMAPABLE, are refused",
			       test_map_types),
		UNCHANGED_TEST("an array whose values have a spin lock is refused",
			       test_map_with_lock),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
