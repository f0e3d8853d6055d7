/* SPDX-License-Identifier: GPL-2.0-only */
/* The guest's kernel log, and the lines in it that report a fault. */
#ifndef QEMU_KERNEL_LOG_H
#define QEMU_KERNEL_LOG_H

#include <stdbool.h>
#include <stddef.h>

/* One record of /dev/kmsg and its terminating NUL. */
#define KERNEL_LOG_RECORD	8192

/*
 * Open the log at its oldest record.  Returns a descriptor that never blocks
 * and that poll() reports as readable if there are more records, or -errno.
 */
int kernel_log__open(void);

/*
 * Read the next record, and store its first line in @line.  Skips lines that
 * user space wrote.  Returns the length, 0 at the end of the log, or -errno.
 */
int kernel_log__next(int fd, char line[KERNEL_LOG_RECORD], unsigned long long *sequence);

/* Is this line no report of a fault? */
bool kernel_log__is_clean(const char *line);

#endif
