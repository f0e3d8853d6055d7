/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DART_ZERO_BORROWED_H
#define DART_ZERO_BORROWED_H

#include <linux/percpu.h>
#include <linux/types.h>

struct dart_percpu;

/*
 * Loans: per-CPU memory of an owner that frees it when it ends, and cannot be
 * kept from ending: nobody shall wait for a reader of counters to delete a
 * network namespace or device.  So when the owner ends, before it frees the
 * memory, it gets a copy to free in its stead, and what was lent stays until
 * nobody looks at it any more.
 */

/*
 * Borrows the @length bytes per CPU, aligned to @align, that @owner refers to
 * by *@place.  The caller makes sure that @owner does not end during the call.
 * Returns a reference or ERR_PTR().  May sleep.
 */
struct dart_percpu *dart_borrowed_get(const void *owner, void __percpu **place,
				      size_t length, size_t align,
				      const char *name);

/*
 * @owner ends: nobody looks for its memory at the old place any more who did
 * not yet, and it has not been freed.  May sleep, but not for long.
 */
void dart_borrowed_keep(const void *owner);

#endif /* DART_ZERO_BORROWED_H */
