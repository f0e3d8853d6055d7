/* SPDX-License-Identifier: GPL-2.0-only */
/* Differences between the kernels that the module is built for: all here. */
#ifndef DART_ZERO_COMPAT_H
#define DART_ZERO_COMPAT_H

#include <linux/mm.h>
#include <linux/version.h>

/*
 * Before 6.2 ib_umem_get() pins with FOLL_WRITE even for a registration that
 * only reads, and so refuses a mapping that is never writable.
 */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 2, 0)
#error "dart_zero needs Linux 6.2 or newer: older kernels cannot register a read-only mapping with the RDMA core"
#endif

/* The flags of a mapping are written through functions since 6.3. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 3, 0)
static inline void vm_flags_mod(struct vm_area_struct *vma, unsigned long set,
				unsigned long clear)
{
	vma->vm_flags = (vma->vm_flags & ~clear) | set;
}
#endif

/* The argument of MODULE_IMPORT_NS() is a string since 6.13. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 13, 0)
#define DART_IMPORT_NS(namespace) MODULE_IMPORT_NS(namespace)
#else
#define DART_IMPORT_NS(namespace) MODULE_IMPORT_NS(#namespace)
#endif

#endif /* DART_ZERO_COMPAT_H */
