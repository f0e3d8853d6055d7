// SPDX-License-Identifier: GPL-2.0-only
/* Per-CPU memory that is borrowed from network namespaces and devices. */
#include "borrowed.h"

#include <linux/err.h>
#include <linux/hashtable.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>

#include "percpu.h"

struct dart_borrowed {
	struct dart_percpu percpu;
	struct hlist_node link;		/* in all_borrowed; unhashed once kept */
	const void *owner;
	void __percpu **place;
	/* The future copy; once kept, the borrowed memory. */
	void __percpu *ours;
	struct rcu_head rcu;
};

/*
 * By owner.  Each namespace and device that ends looks here, with rtnl_lock held, even if nothing
 * of it is borrowed.  Guarded by dart_percpu_lock.
 */
static DEFINE_HASHTABLE(all_borrowed, 12);

static void borrowed_free_rcu(struct rcu_head *rcu)
{
	struct dart_borrowed *borrowed = container_of(rcu, struct dart_borrowed, rcu);

	free_percpu(borrowed->ours);
	kfree(borrowed);
}

static void borrowed_unlist(struct dart_percpu *percpu)
{
	hash_del(&container_of(percpu, struct dart_borrowed, percpu)->link);
}

static void borrowed_free_tasks(struct rcu_head *rcu)
{
	call_rcu(rcu, borrowed_free_rcu);
}

/*
 * An update may have loaded *place just before the copy replaced it, and may add only later.
 * Processes update counters with this_cpu_add() outside of RCU read sections and can be preempted
 * in between.  RCU does not wait for them; RCU Tasks does, until each task has slept or returned to
 * user space.  RCU waits for interrupts, including those of the idle task, which RCU Tasks leaves
 * out.
 */
static void borrowed_free(struct dart_percpu *percpu)
{
	struct dart_borrowed *borrowed = container_of(percpu, struct dart_borrowed, percpu);

	call_rcu_tasks(&borrowed->rcu, borrowed_free_tasks);
}

static struct dart_percpu *borrowed_find(const void *owner, void __percpu **place)
{
	struct dart_borrowed *borrowed;

	hash_for_each_possible(all_borrowed, borrowed, link,
			       (unsigned long)owner)
		if (borrowed->owner == owner && borrowed->place == place)
			return dart_percpu_get(&borrowed->percpu);
	return NULL;
}

struct dart_percpu *dart_borrowed_get(const void *owner, void __percpu **place, size_t length,
				      size_t align, const char *name, u64 payer)
{
	struct dart_percpu *found;
	struct dart_borrowed *borrowed;

	borrowed = kzalloc(sizeof(*borrowed), GFP_KERNEL_ACCOUNT);
	if (!borrowed)
		return ERR_PTR(-ENOMEM);
	borrowed->owner = owner;
	borrowed->place = place;
	borrowed->ours = __alloc_percpu_gfp(length, align, GFP_KERNEL_ACCOUNT);
	if (!borrowed->ours) {
		kfree(borrowed);
		return ERR_PTR(-ENOMEM);
	}
	dart_percpu_init(&borrowed->percpu, READ_ONCE(*place), length, name, borrowed_free);
	borrowed->percpu.payer = payer;
	borrowed->percpu.unlist = borrowed_unlist;

	mutex_lock(&dart_percpu_lock);
	found = borrowed_find(owner, place);
	if (!found)
		hash_add(all_borrowed, &borrowed->link, (unsigned long)owner);
	mutex_unlock(&dart_percpu_lock);
	if (!found)
		return &borrowed->percpu;

	free_percpu(borrowed->ours);
	kfree(borrowed);
	return found;
}

static void borrowed_keep(struct dart_borrowed *borrowed)
{
	void __percpu *theirs = *borrowed->place;
	unsigned int cpu;

	for_each_possible_cpu(cpu)
		memcpy(per_cpu_ptr(borrowed->ours, cpu),
		       per_cpu_ptr(theirs, cpu), borrowed->percpu.length);
	/* Later updates see the copied values; an update that is in flight is lost. */
	smp_store_release(borrowed->place, borrowed->ours);
	borrowed->ours = theirs;
	hash_del(&borrowed->link);
	dart_percpu_end(&borrowed->percpu);
}

void dart_borrowed_keep(const void *owner)
{
	struct dart_borrowed *borrowed;
	struct hlist_node *next;

	mutex_lock(&dart_percpu_lock);
	hash_for_each_possible_safe(all_borrowed, borrowed, next, link, (unsigned long)owner)
		if (borrowed->owner == owner)
			borrowed_keep(borrowed);
	mutex_unlock(&dart_percpu_lock);
}

void dart_borrowed_exit(void)
{
	/* Without RCU Tasks no task is preempted in the kernel, and RCU is enough. */
	if (IS_ENABLED(CONFIG_TASKS_RCU))
		rcu_barrier_tasks();
	rcu_barrier();
}
