/* SPDX-License-Identifier: GPL-2.0-only */
/* Calls of the device that are undone, so that a test can make each again and again. */
#ifndef DART_TEST_UNDOABLE_CALL_H
#define DART_TEST_UNDOABLE_CALL_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <linux/dart_zero.h>

struct call_fixture {
	int region;
	uint64_t capacity;		/* of the region */
	int kept_map;			/* the region always shows it */
	struct dart_zero_extent kept;
	int map;
	dev_t root;			/* device of the file system at / */

	/* State of the call, and the objects that it made. */
	int opened;
	char *address;
	struct dart_zero_extent extent;
	struct dart_zero_slice slice;
	uint32_t record;
};

/*
 * @before and @after run around each attempt at @call.  @after gets the return value
 * of @call (0 or -errno) and undoes both.
 */
struct undoable_call {
	const char *name;
	void (*before)(struct call_fixture *fixture);
	int (*call)(struct call_fixture *fixture);
	void (*after)(struct call_fixture *fixture, int ret);
};

extern const struct undoable_call undoable_calls[];
extern const size_t undoable_calls_count;
/* The init of the module, on a fixture that is closed. */
extern const struct undoable_call undoable_load;

void call_fixture__open(struct call_fixture *fixture);
void call_fixture__close(struct call_fixture *fixture);

#endif /* DART_TEST_UNDOABLE_CALL_H */
