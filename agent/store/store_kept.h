/* SPDX-License-Identifier: GPL-2.0-only */
/* The name in the fd store by which the next dartd recognizes the memory of a store. */
#ifndef STORE_KEPT_H
#define STORE_KEPT_H

#include <dart/store_access.h>
#include <libdart/store/store_hash.h>

#include "agent/rdma/kept_memory.h"

/* In errors, and in the names of kept descriptors. */
#define STORE_NOUN "store"
/* All names in the fd store begin with this. */
#define STORE_KEPT_PREFIX STORE_NOUN "-"

_Static_assert(KEPT_MEMORY_NAME_FITS(STORE_KEPT_PREFIX, DART_STORE_NAME_MAX, ",32,64,64,8"),
	       "the name fits");

/* The name of the memory, see kept_memory.h. */
static inline void store_kept__name(const char *store, const struct dart_store_geometry *geometry,
				    char name[static FD_STORE_NAME_MAX])
{
	kept_memory__name(name, STORE_NOUN, store, "%d,%u,%u,%u", __builtin_ctzll(geometry->slots),
			  geometry->value_length, geometry->checksum_bits, geometry->redundancy);
}

#endif /* STORE_KEPT_H */
