/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DART_ZERO_IOCTL_H
#define DART_ZERO_IOCTL_H

struct file;

/* The ioctls of <linux/dart_zero.h>; file->private_data is the region. */
long dart_ioctl(struct file *file, unsigned int command,
		unsigned long argument);

#endif /* DART_ZERO_IOCTL_H */
