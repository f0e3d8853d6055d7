// SPDX-License-Identifier: GPL-2.0-only
/* Tells the service manager, but not for each step. */
#include <inttypes.h>
#include <systemd/sd-daemon.h>

#include <libdart/clock.h>

#include "long_work.h"

#define AGAIN_NS INT64_C(1000000000)

void long_work__go_on(void *long_work)
{
	const int64_t now = dart_clock__ns(CLOCK_MONOTONIC);
	struct long_work *work = long_work;

	if (work->told && now - work->told < AGAIN_NS)
		return;
	work->told = now;
	sd_notifyf(0, "WATCHDOG=1\nEXTEND_TIMEOUT_USEC=%" PRIu64,
		   LONG_WORK_STEP_S * UINT64_C(1000000));
}
