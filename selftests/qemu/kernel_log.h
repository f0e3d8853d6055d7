/* SPDX-License-Identifier: GPL-2.0-only */
/* The guest's kernel log, and which of its lines mean that something broke. */
#ifndef QEMU_KERNEL_LOG_H
#define QEMU_KERNEL_LOG_H

#include <stdbool.h>
#include <stddef.h>

/* One record of /dev/kmsg and its terminating NUL. */
#define KERNEL_LOG_RECORD	8192

/*
 * Open the log at its oldest record.  Returns a descriptor that never blocks
 * and that poll() reports readable when there is more, or -errno.
 */
int kernel_log__open(void);

/*
 * Take the next record and leave its first line in @line.  Lines that user
 * space wrote into the log are passed over.  Returns the length, 0 when there
 * is nothing left, or -errno.
 */
int kernel_log__next(int fd, char line[KERNEL_LOG_RECORD],
		     unsigned long long *sequence);

/* Is this a line of a healthy kernel? */
bool kernel_log__is_clean(const char *line);

#endif
