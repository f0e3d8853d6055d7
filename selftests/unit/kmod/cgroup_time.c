// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sums of the module over a cgroup, a child and a CPU, while the kernel moves times: all
 * interleavings of the reads, each of one word, with the writes of a flush (kernel/cgroup/rstat.c)
 * and of a task that runs meanwhile.  The test calls the functions of the module in the order of
 * kmod/objects/cgroup_set.c.
 */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "selftests/unit/unit.h"

typedef uint64_t u64;
typedef int64_t s64;
typedef uint32_t u32;

static void kernel_may_run(void);

#define READ_ONCE(word) (kernel_may_run(), (word))
#define smp_rmb() ((void)0)
#include "kmod/objects/cgroup_time.h"

#define RAN_BEFORE 10
#define RUNS 3
#define LATER 1000
#define ATTEMPTS 3

/* The members of struct cgroup and, for a CPU, of struct cgroup_rstat_cpu. */
static struct kernel {
	u64 parent, parent_counted, parent_moved;	/* bstat; bstat, last_bstat of its CPU */
	u64 child, child_last, child_counted, child_moved;
	bool is_listed;		/* the child is among the cgroups with times at the CPU */
	u64 delta;
	u32 flushed;		/* steps */
	bool has_run;
} kernel;

enum { UNLINK, ADD_CHILD, SUBTRACT_CPU, TAKE, ADD_PARENT, SUBTRACT_CHILD, FLUSHED };

static void flush_step(void)
{
	switch (kernel.flushed++) {
	case UNLINK:
		kernel.is_listed = false;
		kernel.delta = kernel.child_counted - kernel.child_moved;
		break;
	case ADD_CHILD:
		kernel.child += kernel.delta;
		break;
	case SUBTRACT_CPU:
		kernel.child_moved += kernel.delta;
		break;
	case TAKE:
		kernel.delta = kernel.child - kernel.child_last;
		break;
	case ADD_PARENT:
		kernel.parent += kernel.delta;
		break;
	case SUBTRACT_CHILD:
		kernel.child_last += kernel.delta;
		break;
	}
}

static void task_runs(u64 time)
{
	kernel.child_counted += time;
	kernel.is_listed = true;
}

/* The choice taken at each point of an interleaving, and the number of choices there. */
static struct {
	uint8_t taken, ways;
} choices[512];
static u32 chosen, known;
static bool is_quiet;

static u32 choose(u32 ways)
{
	if (ways < 2)
		return 0;
	assert_true(chosen < sizeof(choices) / sizeof(*choices));
	if (chosen == known) {
		choices[known].taken = 0;
		choices[known++].ways = ways;
	}
	return choices[chosen++].taken;
}

/* Makes the next interleaving; false after the last one. */
static bool next_interleaving(void)
{
	while (known) {
		if (++choices[known - 1].taken < choices[known - 1].ways)
			return true;
		known--;
	}
	return false;
}

static void kernel_may_run(void)
{
	u32 can_flush, can_run, choice;

	while (!is_quiet) {
		can_flush = kernel.flushed < FLUSHED;
		can_run = !kernel.has_run;
		choice = choose(1 + can_flush + can_run);
		if (!choice)
			return;
		if (choice == 1 && can_flush) {
			flush_step();
		} else {
			task_runs(RUNS);
			kernel.has_run = true;
		}
	}
}

/*
 * sum_once() of the module: true if it does not notice a move.  *@stood: the kernel stood
 * between the two writes of a move from the read of the destination to the read of the
 * source.
 */
static bool sum_once(bool child_is_member, u64 *sum, bool *stood)
{
	u64 parent, child, below = 0, after;
	u32 at_parent, at_child = FLUSHED, at_cpu = FLUSHED, at_last = FLUSHED;
	bool is_disturbed = false;

	dart_cgroup_read(&parent, &kernel.parent, 1);
	at_parent = kernel.flushed;
	if (child_is_member) {
		dart_cgroup_read(&child, &kernel.child, 1);
		at_child = kernel.flushed;
	}
	dart_cgroup_add_cpu(&below, &kernel.parent_counted, &kernel.parent_moved, 1);
	if (READ_ONCE(kernel.is_listed)) {
		if (!child_is_member) {
			dart_cgroup_read(&child, &kernel.child, 1);
			at_child = kernel.flushed;
		}
		dart_cgroup_add_cpu(&below, &kernel.child_counted, &kernel.child_moved, 1);
		at_cpu = kernel.flushed;
		if (!child_is_member) {
			dart_cgroup_add_remaining(&below, &child, &kernel.child_last, 1);
			at_last = kernel.flushed;
		}
		is_disturbed = !READ_ONCE(kernel.is_listed);
	}
	if (child_is_member) {
		dart_cgroup_add_remaining(&below, &child, &kernel.child_last, 1);
		at_last = kernel.flushed;
	}
	*stood = (at_child == SUBTRACT_CPU && at_cpu == SUBTRACT_CPU) ||
		 (at_parent == SUBTRACT_CHILD && at_last == SUBTRACT_CHILD);
	dart_cgroup_read(&after, &kernel.parent, 1);
	*sum = parent + below;
	return !is_disturbed && after == parent;
}

/* set_sum() of the module.  *@stood: in all sums that count. */
static u64 sum(bool child_is_member, bool *stood)
{
	u64 last = 0, previous;
	bool before = false;
	u32 attempt;

	for (attempt = 1;; attempt++) {
		previous = last;
		before = *stood;
		if (sum_once(child_is_member, &last, stood))
			return last;
		if (attempt == ATTEMPTS) {
			*stood &= before;
			return last < previous ? last : previous;
		}
	}
}

static void explore(bool child_is_member)
{
	u64 interleavings = 0, doubled = 0, truth, total, shown;
	bool stood = false;

	known = 0;
	do {
		kernel = (struct kernel){ };
		task_runs(RAN_BEFORE);
		chosen = 0;
		is_quiet = false;
		shown = 0;
		total = sum(child_is_member, &stood);
		interleavings++;
		dart_cgroup_advance(&shown, &total, 1);
		truth = kernel.child_counted;
		/* Not wrapped, and no time more than twice. */
		assert_in_range(total, 0, 2 * (RAN_BEFORE + RUNS));
		if (total > truth) {
			doubled++;
			assert_true(stood);
		}

		/* After the flush the sum is exact, and the shown value follows it. */
		is_quiet = true;
		while (kernel.flushed < FLUSHED)
			flush_step();
		total = sum(child_is_member, &stood);
		assert_int_equal(total, truth);
		task_runs(LATER);
		total = sum(child_is_member, &stood);
		dart_cgroup_advance(&shown, &total, 1);
		assert_int_equal(shown, truth + LATER);
	} while (next_interleaving());
	print_message("# %llu interleavings, in %llu of them a time was counted twice\n",
		      (unsigned long long)interleavings, (unsigned long long)doubled);
	assert_true(interleavings > 20000);
}

static void test_member(void **state)
{
	explore(true);
}

static void test_other(void **state)
{
	explore(false);
}

/* After one wrong sum the shown value does not fall, and follows the next sum. */
static void test_advance(void **state)
{
	u64 shown[3] = { 10, 10, 10 };
	const u64 below_zero[3] = { -3, 7, 12 }, later[3] = { 1000, 1000, 1000 };

	dart_cgroup_advance(shown, below_zero, 3);
	assert_int_equal(shown[0], 10);
	assert_int_equal(shown[1], 10);
	assert_int_equal(shown[2], 12);
	dart_cgroup_advance(shown, later, 3);
	assert_memory_equal(shown, later, sizeof(shown));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("the shown value does not fall, and a sum below 0 does not stay",
		     test_advance),
		TEST("no interleaving with a flush makes a sum wrap or lose a time for good, nor one too high unless a move of the kernel stands still: a child that is summed, too",
		     test_member),
		TEST("no interleaving with a flush makes a sum wrap or lose a time for good, nor one too high unless a move of the kernel stands still: another child",
		     test_other),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
