/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The control region, from which controllers READ the table of entries (see
 * <dart/control.h>).
 */
#ifndef CONTROL_REGION_H
#define CONTROL_REGION_H

#include <infiniband/verbs.h>
#include <stdint.h>

#include <libdart/error.h>
#include <libdart/table/table_writer.h>

#include "agent/base/audience.h"
#include "agent/base/mirror.h"
#include "agent/base/peer_kind.h"
#include "entry.h"
#include "exposure.h"
#include "generations.h"

struct control_region {
	struct exposure *exposure;
	void *memory;
	size_t capacity;	/* bytes of the memory */
	struct ibv_mr *memory_region;
	struct dart_table_writer *writer;
	uint32_t used;		/* bytes of the table */
	uint32_t memory_region_count;	/* in the table */
	uint64_t shared_changes;	/* of the exposure, in the table */
	uint64_t generation;
	struct generations generations;	/* for peers that ask for values */
	struct audience audience;
	struct mirrors mirrors;
	uint64_t instance;
	uint8_t host_id[16];
	uint8_t boot_id[16];
	/* Sets of CPUs, as in <dart/control.h> */
	uint64_t *online;
	uint64_t *nohz_full;
	int online_fd; /* or -errno */
};

/* Publishes a table without entries. */
int control_region__open(struct control_region *control_region, struct exposure *exposure,
			 struct dart_error *error);
void control_region__close(struct control_region *control_region);

/*
 * Publishes the next generation, with @entries and the @lingering ones; on error the table does not
 * change.  If only the last @added of @entries and the entries of @removed have changed, it takes
 * time for these only, on average.  After other changes @removed is NULL and @added 0, and the
 * table is rewritten.
 */
int control_region__update(struct control_region *control_region, const struct entries *entries,
			   const struct entries *lingering, uint32_t added,
			   const struct entries *removed, struct dart_error *error);

/* The largest table of a host, in bytes. */
uint32_t control_region__capacity(void);

/* Offers the table; the subject is the control region. */
extern const struct peer_kind controller_kind;

/*
 * Describes the entry as in a table in which @first memory regions precede the memory regions of
 * the entry.  Returns 0 or -ENOMEM; the caller frees @shown->ranges.
 */
int control_region__entry(const struct exposure *exposure, const struct entry *entry,
			  uint32_t first, struct dart_entry *shown);

#endif /* CONTROL_REGION_H */
