/* SPDX-License-Identifier: GPL-2.0-only */
/* The quarantine of <linux/dart_zero.h>, for tests. */
#ifndef DART_TEST_QUARANTINE_H
#define DART_TEST_QUARANTINE_H

#include "device.h"
#include "leftovers.h"

/* From now on @region is told when it changes. */
static inline struct dart_zero_quarantine quarantine_now(int region)
{
	struct dart_zero_quarantine quarantine = {
		.size = sizeof(quarantine),
	};

	assert_int_equal(device_call(region, DART_ZERO_IOC_QUARANTINE, &quarantine), 0);
	return quarantine;
}

/* The last extent is released within 5 s; no region but @observer is left. */
static inline void quarantine_ends(int observer)
{
	struct pollfd poll_observer = { .fd = observer, .events = POLLIN };
	struct dart_zero_event event;

	while (quarantine_now(observer).extents) {
		assert_int_equal(poll(&poll_observer, 1, 5000), 1);
		assert_int_equal(read(observer, &event, sizeof(event)), sizeof(event));
	}
	assert_int_equal(leftovers__module_references(), 1);
}

#endif /* DART_TEST_QUARANTINE_H */
