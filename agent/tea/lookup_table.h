/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A lookup table of switches, see <dart/tea.h>: this server's own copy, which readers
 * READ, and the requesters, switches that each have another copy.
 */
#ifndef LOOKUP_TABLE_H
#define LOOKUP_TABLE_H

#include <stdint.h>
#include <sys/queue.h>

#include <dart/tea_access.h>
#include <libdart/error.h>
#include <libdart/tea/tea_table.h>

#include "agent/base/peer_kind.h"
#include "agent/rdma/device.h"
#include "agent/rdma/memory_view.h"
#include "agent/rdma/remote_memory.h"
#include "entry_batch.h"
#include "requester.h"
#include "table_parameters.h"

/* In errors, and in the names of kept descriptors. */
#define TABLE_NOUN "table"

/* Where the bytes of a table come from. */
struct table_origin {
	int fd;			/* see remote_memory__open(); -1: none */
	const char *file;	/* its name, or NULL */
	int kept;		/* see remote_memory__resume(); -1: none */
	uint32_t epoch;		/* in an earlier dartd, checked; 0: unknown */
};

struct lookup_table {
	TAILQ_ENTRY(lookup_table) link;
	char name[DART_TEA_NAME_MAX];
	struct table_parameters parameters;
	char *file;	/* its name as the client gave it, or NULL */
	const struct device *device;
	uint32_t epoch;
	struct remote_memory memory;
	struct dart_tea_table *entries;
	struct dart_tea_mended mended;	/* of memory that an earlier dartd left */
	uint64_t foreign;	/* entries of other servers that it contained and dropped */
	struct memory_view read;	/* by readers */
	struct requesters requesters;
	struct peer_object readers;
};

/* The caller keeps @origin and its descriptors. */
int lookup_table__new(const struct device *device, const char *name,
		      const struct table_parameters *parameters, const struct table_origin *origin,
		      uint32_t epoch, struct lookup_table **table, struct dart_error *error);
/*
 * The device is being removed: ends the requesters and destroys the resources that readers use on
 * it.  The caller has disconnected the readers.  The entries stay.
 */
void lookup_table__detach(struct lookup_table *table);
/* The device is back: readers can connect, and requesters be added. */
int lookup_table__attach(struct lookup_table *table, struct dart_error *error);
/* The caller has disconnected its readers. */
void lookup_table__free(struct lookup_table *table);

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

int lookup_table__add_requester(struct lookup_table *table, struct in_addr address,
				struct requester **requester, struct dart_error *error);
/* Its queue pair, key and address become invalid, and its copy is freed. */
void lookup_table__remove_requester(struct lookup_table *table, struct requester *requester);
/* Returns the requester at @address, or NULL. */
struct requester *lookup_table__find_requester(const struct lookup_table *table,
					       struct in_addr address);

/* Fills in the numbers that a reader needs to READ the table. */
void lookup_table__offer(struct lookup_table *table, struct peer_offer *offer);

#endif /* LOOKUP_TABLE_H */
