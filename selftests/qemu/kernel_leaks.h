/* SPDX-License-Identifier: GPL-2.0-only */
/* What kmemleak says, where the guest's kernel has it. */
#ifndef QEMU_KERNEL_LEAKS_H
#define QEMU_KERNEL_LEAKS_H

#include <stddef.h>

/*
 * Returns a descriptor, -ENOENT if the kernel has no kmemleak, or -errno.  To
 * be opened early: a kernel that is locked down does not allow it any more.
 */
int kernel_leaks__open(void);

/*
 * Look for memory that nothing refers to any more; takes some 10 s.  Leaves
 * what kmemleak says about it in @text, to be freed: empty if there is none.
 * Returns 0 or -errno.
 */
int kernel_leaks__scan(int fd, char **text, size_t *length);

#endif
