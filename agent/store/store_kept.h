/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Data by which the next dartd recognizes a store: its memory, as a descriptor under a name in the
 * fd store, and its numbers, as the "kept" of a registration.
 */
#ifndef STORE_KEPT_H
#define STORE_KEPT_H

#include <jansson.h>

#include <libdart/store/store_hash.h>

#include "agent/base/fd_store.h"
#include "report_qp.h"

/* In errors, and in the names of kept descriptors. */
#define STORE_NOUN "store"
/* All names in the fd store begin with this. */
#define STORE_KEPT_PREFIX STORE_NOUN "-"

/* The name of the memory, see kept_memory.h. */
void store_kept__name(const char *store, const struct dart_store_geometry *geometry,
		      char name[static FD_STORE_NAME_MAX]);

/* New references, NULL if out of memory. */
json_t *store_kept__store(uint64_t epoch, uint64_t read_base);
json_t *store_kept__reporter(const struct report_qp *report_qp);

/*
 * Takes the numbers out of @kept: hostile, NULL if there are none.  Impossible
 * ones are logged and replaced by new ones.
 */
void store_kept__read_store(const json_t *kept, const char *name, struct remote_origin *origin);
void store_kept__read_reporter(const json_t *kept, const char *address,
			       struct report_qp_origin *origin);

#endif /* STORE_KEPT_H */
