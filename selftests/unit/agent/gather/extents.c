// SPDX-License-Identifier: GPL-2.0-only
/* Many extents: one is found as fast as among few. */
#include <bpf/bpf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include <libdart/clock.h>

#include "agent/gather/extents.h"
#include "selftests/unit/unit.h"

#define FEW 200
#define MANY 4000
#define FINDS 200
#define ATTEMPTS 50

static void add_slabs(struct extents *extents, uint32_t count)
{
	struct dart_zero_slab slab = { .flags = DART_ZERO_SLAB_RECORDS, .pages = 1 };

	while (extents->count < count)
		assert_int_equal(extents__add_slab(extents, &slab), 0);
}

/* The least CPU time, in ns, of attempts to find extents, and ids of records instead. */
static uint64_t time_finds(const struct extents *extents)
{
	uint64_t seed = 1, least = UINT64_MAX, start, time;
	uint32_t i, id, attempt;

	for (attempt = 0; attempt < ATTEMPTS; attempt++) {
		start = dart_clock__ns(CLOCK_THREAD_CPUTIME_ID);
		for (i = 0; i < FINDS; i++) {
			id = 1 + random__below(&seed, extents->count);
			assert_int_equal(extents__find(extents, id)->info.id, id);
			assert_null(extents__find(extents, extents->last_id + id));
		}
		time = dart_clock__ns(CLOCK_THREAD_CPUTIME_ID) - start;
		least = time < least ? time : least;
	}
	return least;
}

static void test_find(void **state)
{
	struct extents extents;
	struct dart_error error;
	uint64_t few, many;

	assert_int_equal(extents__open(&extents, &error), 0);
	add_slabs(&extents, FEW);
	few = time_finds(&extents);
	add_slabs(&extents, MANY);
	many = time_finds(&extents);
	extents__remove(&extents, extents__find(&extents, 7));
	assert_null(extents__find(&extents, 7));
	extents__close(&extents);
	assert_null(extents.ids.root);
	if (many > 10 * few)
		fail_msg("%d extents: %llu ns, %d: %llu ns", FEW, (unsigned long long)few, MANY,
			 (unsigned long long)many);
}

/* The open file of the process that made a map keeps its lock until the process closes it. */
static void test_map(void **state)
{
	LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = BPF_F_MMAPABLE);
	const int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "test", sizeof(uint32_t), 8, 1, &options);
	const int other = bpf_map_create(BPF_MAP_TYPE_ARRAY, "test", sizeof(uint32_t), 8, 1, NULL);
	struct dart_zero_map map = { .fd = fd };
	struct bpf_map_info info = {};
	uint32_t size = sizeof(info);
	struct extents extents;
	struct dart_error error;
	int again = -1;

	if (fd >= 0 && !bpf_obj_get_info_by_fd(fd, &info, &size))
		again = bpf_map_get_fd_by_id(info.id);
	if (again < 0 || other < 0)
		skip();
	close(again);
	assert_int_equal(extents__open(&extents, &error), 0);
	assert_int_equal(flock(fd, LOCK_EX), 0);
	assert_int_equal(extents__add_map(&extents, &map), 0);
	assert_int_equal(flock(other, LOCK_EX | LOCK_NB), -1);
	close(fd);
	/* All maps have one inode. */
	assert_int_equal(flock(other, LOCK_EX | LOCK_NB), 0);
	assert_int_equal(extents.memory[map.extent.data], 0);
	extents__close(&extents);
	close(other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("an extent is found among 4,000 as fast as among 200", test_find),
		TEST("a map that is shown keeps no open file of its owner", test_map),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
