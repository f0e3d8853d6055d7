// SPDX-License-Identifier: GPL-2.0-only
#include "borrowed.h"

#include <linux/err.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>

#include "percpu.h"

struct dart_loan {
	struct dart_memory memory;
	struct list_head link;		/* in loans; settled: empty */
	const void *owner;
	void __percpu **place;
	/* Before it is settled the copy-to-be, then what was lent. */
	void __percpu *ours;
	struct rcu_head rcu;
};

/* Guarded by dart_memory_lock. */
static LIST_HEAD(loans);

static void loan_free_rcu(struct rcu_head *rcu)
{
	struct dart_loan *loan = container_of(rcu, struct dart_loan, rcu);

	free_percpu(loan->ours);
	kfree(loan);
}

/* Somebody may have looked at the old place just before it was settled. */
static void loan_free(struct dart_memory *memory)
{
	struct dart_loan *loan = container_of(memory, struct dart_loan, memory);

	list_del(&loan->link);
	call_rcu(&loan->rcu, loan_free_rcu);
}

static struct dart_memory *loan_find(const void *owner, void __percpu **place)
{
	struct dart_loan *loan;

	list_for_each_entry(loan, &loans, link)
		if (loan->owner == owner && loan->place == place)
			return dart_memory_get(&loan->memory);
	return NULL;
}

struct dart_memory *dart_loan_take(const void *owner, void __percpu **place,
				   size_t length, size_t align,
				   const char *name)
{
	struct dart_memory *found;
	struct dart_loan *loan;

	loan = kzalloc(sizeof(*loan), GFP_KERNEL_ACCOUNT);
	if (!loan)
		return ERR_PTR(-ENOMEM);
	loan->owner = owner;
	loan->place = place;
	loan->ours = __alloc_percpu_gfp(length, align, GFP_KERNEL_ACCOUNT);
	if (!loan->ours) {
		kfree(loan);
		return ERR_PTR(-ENOMEM);
	}
	dart_memory_init(&loan->memory, READ_ONCE(*place), length, name,
			 loan_free);

	mutex_lock(&dart_memory_lock);
	found = loan_find(owner, place);
	if (!found)
		list_add(&loan->link, &loans);
	mutex_unlock(&dart_memory_lock);
	if (!found)
		return &loan->memory;

	free_percpu(loan->ours);
	kfree(loan);
	return found;
}

static void loan_settle(struct dart_loan *loan)
{
	void __percpu *lent = *loan->place;
	unsigned int cpu;

	for_each_possible_cpu(cpu)
		memcpy(per_cpu_ptr(loan->ours, cpu), per_cpu_ptr(lent, cpu),
		       loan->memory.length);
	/* Whoever counts sees the copied values, or counts what is lost. */
	smp_store_release(loan->place, loan->ours);
	loan->ours = lent;
	list_del_init(&loan->link);
	dart_memory_end_locked(&loan->memory);
}

void dart_loan_settle(const void *owner)
{
	struct dart_loan *loan, *next;

	mutex_lock(&dart_memory_lock);
	list_for_each_entry_safe(loan, next, &loans, link)
		if (loan->owner == owner)
			loan_settle(loan);
	mutex_unlock(&dart_memory_lock);
}
