// SPDX-License-Identifier: GPL-2.0-only
#include "percpu.h"

#include <linux/err.h>
#include <linux/slab.h>

#include "extent.h"

/* Guards what memory is gone and who shows it: see percpu.h. */
DEFINE_MUTEX(dart_percpu_lock);

void dart_percpu_init(struct dart_percpu *percpu, const void __percpu *variable,
		      size_t length, const char *name,
		      void (*free)(struct dart_percpu *percpu))
{
	refcount_set(&percpu->references, 1);
	percpu->variable = variable;
	percpu->length = length;
	percpu->name = name;
	percpu->is_gone = false;
	INIT_LIST_HEAD(&percpu->shown_by);
	percpu->free = free;
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
	if (!refcount_dec_and_mutex_lock(&percpu->references,
					 &dart_percpu_lock))
		return;

	if (percpu->free)
		percpu->free(percpu);
	else
		kfree(percpu);
	mutex_unlock(&dart_percpu_lock);
}

void dart_percpu_end_locked(struct dart_percpu *percpu)
{
	struct dart_extent *extent;

	lockdep_assert_held(&dart_percpu_lock);
	if (percpu->is_gone)
		return;
	WRITE_ONCE(percpu->is_gone, true);
	list_for_each_entry(extent, &percpu->shown_by, shows)
		dart_extent_tell_gone(extent);
}

void dart_percpu_end(struct dart_percpu *percpu)
{
	mutex_lock(&dart_percpu_lock);
	dart_percpu_end_locked(percpu);
	mutex_unlock(&dart_percpu_lock);
}
