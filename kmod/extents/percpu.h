/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DART_ZERO_PERCPU_H
#define DART_ZERO_PERCPU_H

#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/refcount.h>

struct dart_cgroup_set;
struct dart_events;
struct dart_extent;
struct dart_extent_kind;

/*
 * Per-CPU memory that extents show and that this keeps from being freed.  It can be gone, which
 * means that the kernel no longer updates it, long before it is freed.
 */
struct dart_percpu {
	refcount_t references;
	const void __percpu *variable;
	size_t length;			/* bytes on each CPU */
	const char *name;		/* in BTF */
	/*
	 * The user whose quota extents over this memory take: a number for a user who may create
	 * such owners at will, or 0.
	 */
	u64 payer;

	/*
	 * Copies the memory of a CPU for a record, with up-to-date values; or NULL: a record copies
	 * the memory as it is.  @length is at most DART_SAMPLE_MAX.
	 */
	void (*read)(unsigned int cpu, void *copy);
	/*
	 * For a record with one row: adds the counts of all CPUs to the zeroed @copy, and perhaps
	 * other counts; or NULL: the record adds up all CPUs.  Called with the lock of the
	 * gathering held; may sleep, but not for long.
	 */
	void (*sum)(struct dart_percpu *percpu, void *copy);
	/*
	 * With @sum, for objects that are summed together before a pass; or NULL.  @prepare is
	 * called once, without locks, before a record with one row is gathered, and returns 0 or
	 * -ENOMEM; @join and @leave with the lock of the gathering.
	 */
	int (*prepare)(struct dart_percpu *percpu);
	void (*join)(struct dart_percpu *percpu, struct dart_cgroup_set *set);
	void (*leave)(struct dart_percpu *percpu);
	/* Has @sum counts that it did not have at its last call?  With the lock; or NULL. */
	bool (*has_news)(const struct dart_percpu *percpu);
	/*
	 * True if the owner of the memory has ended; for owners whose end nothing announces, so
	 * that dart_percpu_end() is not called; or NULL.  Only records call it.
	 */
	bool (*has_ended)(const struct dart_percpu *percpu);

	/* Guarded by dart_percpu_lock: */
	bool is_gone;
	struct list_head shown_by;	/* dart_extent.shows */

	/*
	 * Called when the last reference is put, with dart_percpu_lock held and before @free, so
	 * that the memory can no longer be found.  NULL if nothing is to do.
	 */
	void (*unlist)(struct dart_percpu *percpu);
	/*
	 * Called without locks.  NULL: the memory stays as long as the kernel runs, and only this
	 * struct is freed.
	 */
	void (*free)(struct dart_percpu *percpu);
};

/*
 * Guards which memory is gone and which extents show it.  Taken inside a region's lock,
 * namespace_lock and rtnl_lock, and none of these is taken while it is held.  It is held for a
 * short time only, because each network device and namespace that ends takes it.
 */
extern struct mutex dart_percpu_lock;

/* With one reference. */
void dart_percpu_init(struct dart_percpu *percpu, const void __percpu *variable, size_t length,
		      const char *name, void (*free)(struct dart_percpu *percpu));
/* Memory that stays as long as the kernel runs; or ERR_PTR(). */
struct dart_percpu *dart_percpu_new_static(const void __percpu *variable,
					   size_t length, const char *name);
struct dart_percpu *dart_percpu_get(struct dart_percpu *percpu);
void dart_percpu_put(struct dart_percpu *percpu);

/*
 * Marks the memory as gone and tells all regions that show it.  Called with dart_percpu_lock held.
 */
void dart_percpu_end(struct dart_percpu *percpu);

/* A new extent of @kind over @percpu.  Takes over @percpu, even if it fails. */
struct dart_extent *dart_percpu_extent_new(const struct dart_extent_kind *kind,
					   struct dart_percpu *percpu);

/* The operations of kinds over per-CPU memory. */
int dart_percpu_extent_show(struct dart_extent *extent);
void dart_percpu_extent_begin(struct dart_extent *extent, struct dart_events *events);
void dart_percpu_extent_end(struct dart_extent *extent);
void dart_percpu_extent_release(void *held);

#endif /* DART_ZERO_PERCPU_H */
