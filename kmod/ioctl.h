/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DART_ZERO_IOCTL_H
#define DART_ZERO_IOCTL_H

#include <linux/types.h>

struct dart_region;
struct dart_zero_record;

/*
 * The ioctls of <linux/dart_zero.h>.  @is_writer: the caller's file is open for
 * writing.
 */
long dart_ioctl(struct dart_region *region, bool is_writer,
		unsigned int command, unsigned long argument);

/*
 * Adding requires CAP_SYS_ADMIN of the caller and of the process that opened the region: a process
 * that was passed a descriptor adds nothing, and a privileged process adds nothing to a region that
 * its opener may have mapped.
 */
bool dart_ioctl_may_add(const struct dart_region *region);

/* DART_ZERO_IOC_ADD_RECORD */
int dart_ioctl_add_record(struct dart_region *region, struct dart_zero_record __user *user);

#endif /* DART_ZERO_IOCTL_H */
