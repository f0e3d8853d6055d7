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
struct dart_percpu {
	refcount_t references;
	const void __percpu *variable;
	size_t length;			/* bytes on each CPU */
	const char *name;		/* as BTF has it */

	/* Guarded by dart_percpu_lock: */
	bool is_gone;
	struct list_head shown_by;	/* dart_extent.shows */

	/*
	 * When the last reference is put, with dart_percpu_lock held.  NULL:
	 * the memory stays as long as the kernel runs, only this is freed.
	 */
	void (*free)(struct dart_percpu *percpu);
};

/*
 * Taken inside a region's lock and inside rtnl_lock: neither is taken while it
 * is held.
 */
extern struct mutex dart_percpu_lock;

/* With one reference. */
void dart_percpu_init(struct dart_percpu *percpu,
		      const void __percpu *variable, size_t length,
		      const char *name,
		      void (*free)(struct dart_percpu *percpu));
/* Memory that stays as long as the kernel runs; or ERR_PTR(). */
struct dart_percpu *dart_percpu_new_static(const void __percpu *variable,
					   size_t length, const char *name);
struct dart_percpu *dart_percpu_get(struct dart_percpu *percpu);
void dart_percpu_put(struct dart_percpu *percpu);

/* Tells all regions that show it. */
void dart_percpu_end(struct dart_percpu *percpu);
void dart_percpu_end_locked(struct dart_percpu *percpu);

#endif /* DART_ZERO_PERCPU_H */
