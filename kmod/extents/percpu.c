// SPDX-License-Identifier: GPL-2.0-only
/* Per-CPU memory that regions show, and the extents over it. */
#include "percpu.h"

#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "extent.h"

/* percpu.h says which members it guards. */
DEFINE_MUTEX(dart_percpu_lock);

void dart_percpu_init(struct dart_percpu *percpu, const void __percpu *variable, size_t length,
		      const char *name, void (*free)(struct dart_percpu *percpu))
{
	*percpu = (struct dart_percpu){
		.references = REFCOUNT_INIT(1),
		.variable = variable,
		.length = length,
		.name = name,
		.shown_by = LIST_HEAD_INIT(percpu->shown_by),
		.free = free,
	};
}

struct dart_percpu *dart_percpu_new_static(const void __percpu *variable,
					   size_t length, const char *name)
{
	struct dart_percpu *percpu;

	percpu = kmalloc(sizeof(*percpu), GFP_KERNEL_ACCOUNT);
	if (!percpu)
		return ERR_PTR(-ENOMEM);
	dart_percpu_init(percpu, variable, length, name, NULL);
	return percpu;
}

struct dart_percpu *dart_percpu_get(struct dart_percpu *percpu)
{
	refcount_inc(&percpu->references);
	return percpu;
}

void dart_percpu_put(struct dart_percpu *percpu)
{
	if (!refcount_dec_and_mutex_lock(&percpu->references, &dart_percpu_lock))
		return;

	if (percpu->unlist)
		percpu->unlist(percpu);
	mutex_unlock(&dart_percpu_lock);

	/* Not under a lock: freeing the memory of a disk may write data back. */
	if (percpu->free)
		percpu->free(percpu);
	else
		kfree(percpu);
}

void dart_percpu_end(struct dart_percpu *percpu)
{
	struct dart_extent *extent;

	lockdep_assert_held(&dart_percpu_lock);
	if (percpu->is_gone)
		return;
	/* A record that sees this sees the final counters, too. */
	smp_store_release(&percpu->is_gone, true);
	list_for_each_entry(extent, &percpu->shown_by, shows) {
		WRITE_ONCE(extent->is_gone, true);
		if (extent->events)
			dart_event_tell(extent->events, &extent->gone);
	}
}

/* The copy of the first CPU. */
static const void *percpu_first(const struct dart_percpu *percpu)
{
	return per_cpu_ptr(percpu->variable, cpumask_first(cpu_possible_mask));
}

struct dart_extent *dart_percpu_extent_new(const struct dart_extent_kind *kind,
					   struct dart_percpu *percpu)
{
	u64 run = PFN_UP(offset_in_page(percpu_first(percpu)) + percpu->length);

	return dart_extent_new(kind, percpu, run * nr_cpu_ids);
}

/* The units of CPUs lie in the linear map or in vmalloc. */
static struct page *page_of(const void *address)
{
	return is_vmalloc_addr(address) ? vmalloc_to_page(address) : virt_to_page(address);
}

int dart_percpu_extent_show(struct dart_extent *extent)
{
	struct dart_percpu *percpu = extent->held;
	/* The units of all CPUs are page-aligned: one offset serves for all. */
	const void *first = percpu_first(percpu);
	unsigned int run = extent->info.pages / nr_cpu_ids, cpu, i;

	for_each_possible_cpu(cpu) {
		const void *copy = per_cpu_ptr(percpu->variable, cpu);

		if (WARN_ON_ONCE(offset_in_page(copy) != offset_in_page(first)))
			return -EINVAL;
		copy -= offset_in_page(copy);
		for (i = 0; i < run; i++)
			extent->pages[cpu * run + i] = page_of(copy + i * PAGE_SIZE);
	}

	extent->memory = first;
	extent->copy_pages = run;
	extent->is_reused = percpu->free;
	extent->payer = percpu->payer;
	extent->info.data = offset_in_page(first);
	extent->info.length = percpu->length;
	extent->info.stride = (u64)run * PAGE_SIZE;
	extent->info.copies = nr_cpu_ids;
	strscpy(extent->info.name, percpu->name, sizeof(extent->info.name));

	mutex_lock(&dart_percpu_lock);
	extent->is_gone = percpu->is_gone;
	list_add(&extent->shows, &percpu->shown_by);
	mutex_unlock(&dart_percpu_lock);
	return 0;
}

void dart_percpu_extent_begin(struct dart_extent *extent, struct dart_events *events)
{
	mutex_lock(&dart_percpu_lock);
	extent->gone.id = extent->info.id;
	extent->events = events;
	if (extent->is_gone)
		dart_event_tell(events, &extent->gone);
	mutex_unlock(&dart_percpu_lock);
}

void dart_percpu_extent_end(struct dart_extent *extent)
{
	mutex_lock(&dart_percpu_lock);
	list_del_init(&extent->shows);
	if (extent->events)
		dart_event_cancel(extent->events, &extent->gone);
	extent->events = NULL;
	mutex_unlock(&dart_percpu_lock);
}

void dart_percpu_extent_release(void *held)
{
	dart_percpu_put(held);
}
