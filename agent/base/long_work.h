/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Work that takes long, because memory is large, and that the event loop waits for: it is
 * done in steps, and between them the service manager is told that dartd goes on.  So
 * neither the time for its start nor the watchdog runs out, unless a step hangs.
 */
#ifndef LONG_WORK_H
#define LONG_WORK_H

#include <stdint.h>

struct long_work {
	int64_t told;	/* ns of CLOCK_MONOTONIC: the last time; 0 at first */
};

/* The longest step pins all memory of a table, 512 GiB, at 2 GiB a second at least. */
#define LONG_WORK_STEP_S	300

/* A step follows, of LONG_WORK_STEP_S at most.  @long_work: a struct long_work. */
void long_work__go_on(void *long_work);

#endif /* LONG_WORK_H */
