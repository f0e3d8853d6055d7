/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DART_ZERO_DISK_H
#define DART_ZERO_DISK_H

#include "source.h"

/*
 * The I/O counters of a block device.  While they are held the disk can still
 * be removed and its driver unloaded.
 */
struct dart_percpu *dart_disk_open(const struct dart_source *source,
				   const struct dart_zero_window *window);

#endif /* DART_ZERO_DISK_H */
