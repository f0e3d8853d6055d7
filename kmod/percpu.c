// SPDX-License-Identifier: GPL-2.0-only
#include "percpu.h"

#include <linux/err.h>
#include <linux/slab.h>

#include "extent.h"

/* Guards what memory is gone and who shows it: see percpu.h. */
DEFINE_MUTEX(dart_memory_lock);

void dart_memory_init(struct dart_memory *memory,
		      const void __percpu *variable, size_t length,
		      const char *name,
		      void (*free)(struct dart_memory *memory))
{
	refcount_set(&memory->references, 1);
	memory->variable = variable;
	memory->length = length;
	memory->name = name;
	memory->is_gone = false;
	INIT_LIST_HEAD(&memory->shown_by);
	memory->free = free;
}

struct dart_memory *dart_memory_new_static(const void __percpu *variable,
					   size_t length, const char *name)
{
	struct dart_memory *memory;

	memory = kmalloc(sizeof(*memory), GFP_KERNEL_ACCOUNT);
	if (!memory)
		return ERR_PTR(-ENOMEM);
	dart_memory_init(memory, variable, length, name, NULL);
	return memory;
}

struct dart_memory *dart_memory_get(struct dart_memory *memory)
{
	refcount_inc(&memory->references);
	return memory;
}

void dart_memory_put(struct dart_memory *memory)
{
	if (!refcount_dec_and_mutex_lock(&memory->references,
					 &dart_memory_lock))
		return;

	if (memory->free)
		memory->free(memory);
	else
		kfree(memory);
	mutex_unlock(&dart_memory_lock);
}

void dart_memory_end_locked(struct dart_memory *memory)
{
	struct dart_extent *extent;

	lockdep_assert_held(&dart_memory_lock);
	if (memory->is_gone)
		return;
	WRITE_ONCE(memory->is_gone, true);
	list_for_each_entry(extent, &memory->shown_by, shows)
		dart_extent_tell_gone(extent);
}

void dart_memory_end(struct dart_memory *memory)
{
	mutex_lock(&dart_memory_lock);
	dart_memory_end_locked(memory);
	mutex_unlock(&dart_memory_lock);
}
