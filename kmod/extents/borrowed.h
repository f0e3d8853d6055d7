/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DART_ZERO_BORROWED_H
#define DART_ZERO_BORROWED_H

#include <linux/percpu.h>
#include <linux/types.h>

struct dart_percpu;

/*
 * Borrowed memory: per-CPU memory whose owner frees it when the owner ends.  The end of a network
 * namespace or device cannot wait for a reader of its counters.  So when the owner ends, and before
 * it frees the memory, it gets a copy to free instead, and the borrowed memory stays as long as an
 * extent shows it.
 */

/*
 * Borrows the @length bytes per CPU, aligned to @align, that @owner refers to
 * by *@place, for @payer (see struct dart_percpu).  The caller ensures that @owner
 * does not end during the call.  Returns a reference or ERR_PTR().  May sleep.
 */
struct dart_percpu *dart_borrowed_get(const void *owner, void __percpu **place, size_t length,
				      size_t align, const char *name, u64 payer);

/*
 * @owner ends: its memory gets no new users and has not been freed.  Keeps the
 * borrowed memory and puts a copy in its place.  May sleep, but not for long.
 */
void dart_borrowed_keep(const void *owner);

/* To call when nothing is borrowed any more; waits until all of it is freed. */
void dart_borrowed_exit(void);

#endif /* DART_ZERO_BORROWED_H */
