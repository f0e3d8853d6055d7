/* SPDX-License-Identifier: GPL-2.0-only */
/* The name in the fd store by which the next dartd recognizes the memory of a store. */
#ifndef STORE_KEPT_H
#define STORE_KEPT_H

#include <libdart/store/store_hash.h>

#include "agent/base/fd_store.h"

/* In errors, and in the names of kept descriptors. */
#define STORE_NOUN "store"
/* All names in the fd store begin with this. */
#define STORE_KEPT_PREFIX STORE_NOUN "-"

/* The name of the memory, see kept_memory.h. */
void store_kept__name(const char *store, const struct dart_store_geometry *geometry,
		      char name[static FD_STORE_NAME_MAX]);

#endif /* STORE_KEPT_H */
