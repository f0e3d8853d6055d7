/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Atomic objects as helgrind must see them; included first in each file of the programs
 * that make check-threads runs.
 *
 * Helgrind takes an atomic load for a plain one, and so reports a race with each atomic store.
 * These macros replace the macros of <stdatomic.h>. They exempt the object itself and tell
 * helgrind the order that the access makes: a load comes after all stores to the same object
 * before it.  An access with memory_order_relaxed only exempts the object.
 */
#ifndef HELGRIND_ATOMICS_H
#define HELGRIND_ATOMICS_H

#include <stdatomic.h>
#include <valgrind/helgrind.h>

#define helgrind__exempt(object)                                               \
	VALGRIND_HG_DISABLE_CHECKING((void *)(object), sizeof(*(object)))

/* Both directions: read-modify-write. */
#define helgrind__update(object, expression)                                   \
	({                                                                     \
		__auto_type object_ = (object);                                \
		helgrind__exempt(object_);                                     \
		ANNOTATE_HAPPENS_BEFORE(object_);                              \
		__auto_type value_ = (expression);                             \
		ANNOTATE_HAPPENS_AFTER(object_);                               \
		value_;                                                        \
	})

#define helgrind__load(object, order)                                          \
	({                                                                     \
		__typeof__((void)0, *object) loaded_;                          \
		__atomic_load(object, &loaded_, order);                        \
		loaded_;                                                       \
	})

#undef atomic_load
#define atomic_load(object)                                                    \
	({                                                                     \
		__auto_type object_ = (object);                                \
		helgrind__exempt(object_);                                     \
		__auto_type value_ =                                           \
			helgrind__load(object_, memory_order_seq_cst);         \
		ANNOTATE_HAPPENS_AFTER(object_);                               \
		value_;                                                        \
	})

/* All such accesses of the project are relaxed. */
#undef atomic_load_explicit
#define atomic_load_explicit(object, order)                                    \
	({                                                                     \
		__auto_type object_ = (object);                                \
		helgrind__exempt(object_);                                     \
		helgrind__load(object_, order);                                \
	})

#undef atomic_store_explicit
#define atomic_store_explicit(object, value, order)                            \
	({                                                                     \
		__auto_type object_ = (object);                                \
		__typeof__((void)0, *object_) stored_ = (value);               \
		helgrind__exempt(object_);                                     \
		__atomic_store(object_, &stored_, order);                      \
	})

#undef atomic_store
#define atomic_store(object, value)                                            \
	({                                                                     \
		__auto_type object_ = (object);                                \
		helgrind__exempt(object_);                                     \
		ANNOTATE_HAPPENS_BEFORE(object_);                              \
		__typeof__((void)0, *object_) stored_ = (value);               \
		__atomic_store(object_, &stored_, memory_order_seq_cst);       \
	})

#undef atomic_fetch_add
#define atomic_fetch_add(object, value)                                        \
	helgrind__update(object, __atomic_fetch_add(object_, value,            \
						    memory_order_seq_cst))
#undef atomic_fetch_sub
#define atomic_fetch_sub(object, value)                                        \
	helgrind__update(object, __atomic_fetch_sub(object_, value,            \
						    memory_order_seq_cst))
/*
 * Of counts of references, with memory_order_acq_rel: the thread that drops the last one
 * frees what others wrote before they dropped theirs.
 */
#undef atomic_fetch_sub_explicit
#define atomic_fetch_sub_explicit(object, value, order)                        \
	helgrind__update(object, __atomic_fetch_sub(object_, value, order))
#undef atomic_exchange
#define atomic_exchange(object, value)                                         \
	helgrind__update(object, atomic_exchange_explicit(                     \
					 object_, value, memory_order_seq_cst))
#undef atomic_compare_exchange_weak
#define atomic_compare_exchange_weak(object, expected, value)                  \
	helgrind__update(object, atomic_compare_exchange_weak_explicit(        \
					 object_, expected, value,             \
					 memory_order_seq_cst,                 \
					 memory_order_seq_cst))

#endif /* HELGRIND_ATOMICS_H */
