// SPDX-License-Identifier: GPL-2.0-only
/*
 * Random operations on a region with live extents and a memory registration.  Under any
 * changes of a process's address space, mapped pages show the contents of the region,
 * refused calls fail as documented and change nothing, and the memory registration stays
 * readable.  Records are gathered meanwhile.  Slices show the values of their owners, in
 * either of two regions.  At the end nothing is left.
 *
 * DART_OPERATIONS sets the number of operations (10000), DART_SEED repeats a storm.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

#include "selftests/lib/device.h"
#include "selftests/lib/leftovers.h"
#include "selftests/lib/storm.h"
#include "selftests/lib/storm_extents.h"
#include "selftests/lib/storm_mappings.h"
#include "selftests/lib/storm_processes.h"
#include "selftests/lib/storm_records.h"
#include "selftests/lib/storm_slabs.h"

/* Processes are rare: a process takes as long as a hundred other operations. */
static const struct operation {
	const char *name;
	uint32_t weight;
	void (*run)(struct storm *storm);
} operations[] = {
	{ "mmap", 64, storm__mmap },
	{ "refused mmap", 24, storm__refused_mmap },
	{ "munmap", 64, storm__munmap },
	{ "mprotect", 80, storm__mprotect },
	{ "mremap", 80, storm__mremap },
	{ "shrinking mremap", 40, storm__mremap_shrink },
	{ "refused mremap", 32, storm__refused_mremap },
	{ "madvise", 240, storm__madvise },
	{ "/proc/self/mem and mlock", 24, storm__memory_file },
	{ "add a map", 112, storm__add_map },
	{ "remove a map", 80, storm__remove_map },
	{ "add a window", 40, storm__add_window },
	{ "remove a window", 32, storm__remove_window },
	{ "owner of a map", 112, storm__owner },
	{ "register a map", 48, storm__register },
	{ "register pages", 48, storm__register_some },
	{ "add a slab", 32, storm__add_slab },
	{ "remove a slab", 40, storm__remove_slab },
	{ "register a slab", 32, storm__register_slab },
	{ "lend a slice", 64, storm__lend },
	{ "write a slice", 80, storm__write },
	{ "owner of a slice", 64, storm__slice_owner },
	{ "remove a slice", 48, storm__remove_slice },
	{ "adopt a slice", 96, storm__adopt },
	{ "events of slices", 16, storm__slice_events },
	{ "close a region of slices", 8, storm__close_lender },
	{ "add a record", 40, storm__add_record },
	{ "remove a record", 16, storm__remove_record },
	{ "read a record", 64, storm__read_record },
	{ "end the namespace of a record", 4, storm__end_record },
	{ "close the region of records", 4, storm__close_records },
	{ "READ", 32, storm__read },
	{ "fork", 4, storm__fork },
	{ "exec", 1, storm__exec },
	{ "close in another thread", 40, storm__close_elsewhere },
};

static const struct operation *draw_operation(struct storm *storm)
{
	const struct operation *operation = operations;
	uint32_t weights = 0, drawn;

	for (size_t i = 0; i < sizeof(operations) / sizeof(operations[0]); i++)
		weights += operations[i].weight;
	drawn = storm__draw(storm, weights);
	while (drawn >= operation->weight)
		drawn -= operation++->weight;
	return operation;
}

/* Every other page in turn; unreadable pages rarely, because each costs a signal. */
static bool is_checked(const struct world_page *page, int i, uint64_t turn)
{
	if (page->page >= 0 && page->is_readable)
		return i % 2 == (int)(turn % 2);
	return i % 128 == (int)(turn % 128);
}

static void check_world(const struct storm *storm, uint64_t step, const struct operation *operation)
{
	for (int i = 0; i < WORLD_ARENA_PAGES; i++) {
		if (is_checked(&storm->world->pages[i], i, step) && !world__holds(storm->world, i))
			fail_msg("after step %lu (%s) page %d, page %d of the region, is wrong",
				 step, operation->name, i, storm->world->pages[i].page);
	}
	if (step % 2 && !world__is_listed_right(storm->world))
		fail_msg("after step %lu (%s) the list is wrong", step, operation->name);
	assert_false(storm->has_failed);
}

/* Two storms can begin in the same second. */
static uint64_t random_seed(void)
{
	uint32_t seed;

	assert_int_equal(getrandom(&seed, sizeof(seed), 0), sizeof(seed));
	return seed;
}

static uint64_t number(const char *variable, uint64_t fallback)
{
	const char *value = getenv(variable);

	return value ? strtoull(value, NULL, 10) : fallback;
}

static void run_storm(uint64_t seed, uint64_t steps)
{
	struct storm *storm = storm__new(seed);

	for (uint64_t step = 0; step < steps; step++) {
		const struct operation *operation = draw_operation(storm);

		sem_post(&storm->go);
		operation->run(storm);
		check_world(storm, step, operation);
	}
	storm__free(storm);
}

/* Memory is counted loosely: a leak is more than a KiB for each step. */
static void test_storm(void **state)
{
	const uint64_t seed = number("DART_SEED", random_seed());
	const uint64_t steps = number("DART_OPERATIONS", 10000);
	long pinned, memory, vmalloc;

	print_message("# DART_SEED=%lu\n", seed);
	run_storm(seed, 100);
	pinned = leftovers__pinned_pages();
	memory = leftovers__memory_kib();
	vmalloc = leftovers__vmalloc_kib();
	run_storm(seed, steps);

	assert_int_equal(leftovers__pinned_pages(), pinned);
	assert_int_equal(leftovers__module_references(), 0);
	assert_int_equal(leftovers__rdma("mr"), 0);
	assert_int_equal(leftovers__rdma("qp"), 0);
	assert_int_equal(leftovers__rdma("pd"), 0);
	assert_true(leftovers__memory_kib() - memory < (long)steps);
	assert_true(leftovers__vmalloc_kib() - vmalloc < (long)steps);
	assert_int_equal(system("modprobe -r dart_zero"), 0);
	assert_int_equal(system("modprobe dart_zero"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("after each of many random operations a region shows what it should, and nothing is left at the end",
		     test_storm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
