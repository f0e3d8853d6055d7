/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A lookup table of switches, see <dart/tea.h>: this server's own copy, which readers
 * READ, and the requesters, switches that each have another copy.
 */
#ifndef LOOKUP_TABLE_H
#define LOOKUP_TABLE_H

#include <stdint.h>
#include <sys/types.h>

#include <dart/rpc.h>
#include <libdart/error.h>
#include <libdart/tea/tea_table.h>

#include "agent/rdma/remote_objects.h"
#include "entry_batch.h"
#include "table_parameters.h"

struct lookup_table {
	struct remote_object object;
	struct table_parameters parameters;
	uint32_t epoch;
	struct dart_tea_table *entries;
	struct dart_tea_mended mended;	/* of memory that an earlier dartd left */
	uint64_t foreign;	/* entries of other servers that it contained and dropped */
	uid_t user;	/* parameters.user, when it was last looked up; root: it was not found */
};

/* Members of struct remote_kind. */
int lookup_table__open(struct remote_object *object, struct dart_error *error);
void lookup_table__close(struct remote_object *object);
size_t lookup_table__offer(const struct remote_object *object, void *data);

/* Returns 0 if processes of @uid may change entries: root, and the user of the table; -EPERM. */
int lookup_table__check_user(struct lookup_table *table, uid_t uid, struct dart_error *error);

/* Counts of the changes of a batch. */
struct table_changes {
	uint64_t inserted;
	uint64_t changed;	/* insertions of keys with an entry */
	uint64_t stashed;	/* of the inserted ones */
	uint64_t removed;
	uint64_t missing;	/* removals of keys without an entry */
	uint64_t foreign;	/* not made: the key is another server's */
	uint64_t full;		/* not made: no place */
};

/* Carries out the changes in their order; the batch is of the table's geometry. */
void lookup_table__change(struct lookup_table *table, const struct entry_batch *batch,
			  struct table_changes *changes);
/* The same of one of them; returns what became of it. */
enum dart_rpc_lookup_outcome lookup_table__change_one(struct lookup_table *table,
						      const struct batched_change *change);

#endif /* LOOKUP_TABLE_H */
