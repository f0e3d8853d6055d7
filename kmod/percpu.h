/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DART_ZERO_PERCPU_H
#define DART_ZERO_PERCPU_H

#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/refcount.h>

struct dart_extent;

/*
 * Per-CPU memory that extents show, and what keeps it from being freed.  It
 * can be gone, which means that nobody updates it any more, long before it is
 * freed.
 */
struct dart_memory {
	refcount_t references;
	const void __percpu *variable;
	size_t length;			/* bytes on each CPU */
	const char *name;		/* as BTF has it */

	/* Guarded by dart_memory_lock: */
	bool is_gone;
	struct list_head shown_by;	/* dart_extent.shows */

	/*
	 * When the last reference is put, with dart_memory_lock held.  NULL:
	 * the memory stays as long as the kernel runs, only this is freed.
	 */
	void (*free)(struct dart_memory *memory);
};

/*
 * Taken inside a region's lock and inside rtnl_lock: neither is taken while it
 * is held.
 */
extern struct mutex dart_memory_lock;

/* With one reference. */
void dart_memory_init(struct dart_memory *memory,
		      const void __percpu *variable, size_t length,
		      const char *name,
		      void (*free)(struct dart_memory *memory));
/* Memory that stays as long as the kernel runs; or ERR_PTR(). */
struct dart_memory *dart_memory_new_static(const void __percpu *variable,
					   size_t length, const char *name);
struct dart_memory *dart_memory_get(struct dart_memory *memory);
void dart_memory_put(struct dart_memory *memory);

/* Tells all regions that show it. */
void dart_memory_end(struct dart_memory *memory);
void dart_memory_end_locked(struct dart_memory *memory);

#endif /* DART_ZERO_PERCPU_H */
