/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DART_ZERO_IOCTL_H
#define DART_ZERO_IOCTL_H

#include <linux/types.h>

struct dart_region;

/*
 * The ioctls of <linux/dart_zero.h>.  @is_writer: the caller's file is open for
 * writing.
 */
long dart_ioctl(struct dart_region *region, bool is_writer,
		unsigned int command, unsigned long argument);

#endif /* DART_ZERO_IOCTL_H */
