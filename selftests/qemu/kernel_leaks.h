/* SPDX-License-Identifier: GPL-2.0-only */
/* Reports of kmemleak, if the guest's kernel contains it. */
#ifndef QEMU_KERNEL_LEAKS_H
#define QEMU_KERNEL_LEAKS_H

#include <stddef.h>

/*
 * Returns a descriptor, -ENOENT if the kernel lacks kmemleak, or -errno.  Call this
 * early: a kernel that is locked down refuses it.
 */
int kernel_leaks__open(void);

/*
 * Look for memory without references; takes some 10 s.  @text receives the
 * report, empty without leaks; the caller frees it.  Returns 0 or -errno.
 */
int kernel_leaks__scan(int fd, char **text, size_t *length);

#endif
