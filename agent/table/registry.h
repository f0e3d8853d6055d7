/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The registry: the entries by name, and those that have left the table but
 * can still be read (on lease).  Every change is published before it returns,
 * or has not happened; changes between begin and end are published together.
 */
#ifndef REGISTRY_H
#define REGISTRY_H

#include "agent/base/lease.h"
#include "agent/base/entry_index.h"
#include "agent/base/file_watch.h"
#include <libdart/error.h>
#include "agent/region/map_owner_watch.h"
#include "agent/region/region.h"
#include "agent/region/selector.h"
#include "slab.h"
#include "agent/schema/source_schema.h"
#include "entry.h"
#include "exposure.h"
#include "control_region.h"

struct registry {
	struct region *region;
	struct exposure *exposure;
	struct leases *leases;
	struct control_region *control_region;
	struct file_watches *file_watches;
	struct map_owner_watch *map_owner_watch;
	struct slab *slab;
	struct source_schemas schemas;
	struct entry_index extents;	/* entry.extent.id of all entries */
	struct entries entries;
	struct entry_index names;	/* of the entries in the table */
	struct entries retired;

	/* Batches begun and not ended, and what they have taken out so far. */
	unsigned int batches;
	uint32_t added;
	uint32_t removed;
	struct entries leaving;
};

void registry__open(struct registry *registry, struct region *region,
		    struct exposure *exposure, struct leases *leases,
		    struct control_region *control_region,
		    struct file_watches *file_watches,
		    struct map_owner_watch *map_owner_watch, struct slab *slab);
/* When nobody can READ any more: frees all entries, also those on lease. */
void registry__close(struct registry *registry);

/*
 * A batch of changes, which may be part of another one.  If what the outermost
 * end publishes cannot be published, all that was added is gone and all that
 * was removed is back, and entries that were added must not be touched again.
 */
void registry__begin(struct registry *registry);
int registry__end(struct registry *registry, struct dart_error *error);

/* An entry of a follower, or with NULL a single one, which is watched here. */
int registry__add_source(struct registry *registry,
			 const struct selector *selector,
			 const struct follower *follower, struct entry **entry,
			 struct dart_error *error);
/*
 * @map_fd stays the caller's.  Takes the map's name if @name is NULL.
 */
int registry__add_map(struct registry *registry, int map_fd, const char *name,
		      struct entry **entry, struct dart_error *error);
/* As entry__new_counters(). */
int registry__add_counters(struct registry *registry, const char *name,
			   json_t *names, struct entry **entry,
			   struct dart_error *error);
/* As entry__new_slice(), but @schema is taken over also if this fails. */
int registry__add_slice(struct registry *registry, const char *name,
			struct dart_schema *schema, int *fd,
			struct entry **entry, struct dart_error *error);
/* The entry lives on until its lease ends: *@entry may be looked at. */
int registry__remove(struct registry *registry, const char *name,
		     struct entry **entry, struct dart_error *error);

/*
 * What the entry shows has ended: it leaves the table for good, and nothing can
 * keep it there.
 */
void registry__entry_is_gone(struct registry *registry, struct entry *entry);
void registry__extent_is_gone(struct registry *registry, uint32_t extent);
void registry__map_is_gone(struct registry *registry, uint32_t map_id);

struct entry *registry__find(const struct registry *registry,
			     const char *name);
struct entry *registry__find_source(const struct registry *registry,
				    const struct selector_key *key);

#endif /* REGISTRY_H */
