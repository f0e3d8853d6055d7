/* SPDX-License-Identifier: GPL-2.0-only */
/* The clock of simple_switch. */
#ifndef BMV2_CLOCK_H
#define BMV2_CLOCK_H

#include <libdart/error.h>

#include "tools/dartctl/switch/thrift/thrift.h"

/*
 * Reads the time since 1970, and since the start of the switch, which its programs know, to
 * @time_us and @up_us, microseconds at one moment.  Returns 0, or -errno with a sentence in @error.
 */
int bmv2_clock__read(struct thrift *thrift, uint64_t *time_us, uint64_t *up_us,
		     struct dart_error *error);

#endif /* BMV2_CLOCK_H */
