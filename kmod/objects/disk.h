/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DART_ZERO_DISK_H
#define DART_ZERO_DISK_H

#include "source.h"

struct inode;

/*
 * The inode of the block device that @fd refers to, with a reference, or ERR_PTR().  It owns the
 * counters.
 */
struct inode *dart_disk_hold(int fd);

/*
 * The I/O counters of a block device.  While they are held, the disk can be removed and its driver
 * unloaded.
 */
struct dart_percpu *dart_disk_open(const struct dart_source *source,
				   const struct dart_zero_window *window);

#endif /* DART_ZERO_DISK_H */
