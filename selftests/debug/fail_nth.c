// SPDX-License-Identifier: GPL-2.0-only
/*
 * Every call of the device, and the module's init, with each allocation and each copy
 * from or to user space in it failing in turn.  The call either fails with ENOMEM or
 * EFAULT and changes nothing, or succeeds without the failed step.  At the end no map,
 * namespace or cgroup is in use; kmemleak reports leaked memory when the virtual
 * machine ends.
 */
#include "selftests/lib/device.h"
#include "selftests/lib/fault.h"
#include "selftests/lib/held.h"
#include "selftests/lib/undoable_call.h"

/* The extents of the region that all calls are made on. */
struct list {
	uint32_t count;
	struct dart_zero_extent extents[8];
};

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

static struct list list_of(const struct call_fixture *fixture)
{
	struct list list = {};

	if (fixture->region >= 0)
		assert_int_equal(get_list(fixture->region, &list), 0);
	return list;
}

/* Prints a point of TAP. */
static bool fail_each(struct call_fixture *fixture, const struct undoable_call *call, int faults)
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
			printf("# %s: fault %u: %s\n", call->name, n, strerror(-ret));
			good = false;
		}
		if (ret && memcmp(&before, &after, sizeof(before))) {
			printf("# %s: fault %u: changed the list\n", call->name, n);
			good = false;
		}
		if (call->after)
			call->after(fixture, ret);
	} while (happened);

	printf("%s - %s: each of %u faults makes the call fail without a change (%u times) or succeed\n",
	       good && !ret ? "ok" : "not ok", call->name, n - 1, refused);
	return good && !ret;
}

int main(void)
{
	struct call_fixture fixture;
	int faults = fault_open();
	struct held before;
	bool good = true;
	uint32_t map;

	if (faults < 0) {
		puts("1..0 # SKIP this kernel injects no faults");
		return 4;
	}
	printf("1..%zu\n", undoable_calls_count + 2);
	setvbuf(stdout, NULL, _IOLBF, 0);
	before = held_now();
	call_fixture__open(&fixture);
	map = map_id(fixture.map);
	for (size_t i = 0; i < undoable_calls_count; i++)
		good &= fail_each(&fixture, &undoable_calls[i], faults);
	call_fixture__close(&fixture);
	good &= all_released(&before, map);
	/* Not in earlier steps of the kernel's module loader. */
	assert_true(fault_only_below("do_one_initcall"));
	good &= fail_each(&fixture, &undoable_load, faults);
	return !good;
}
