/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The inventory: all entries of dartd, in the table, about to leave it, or on lease; the indexes
 * that find them, the quotas in which they count, and the groups that they belong to.  It publishes
 * nothing: registry.h changes the table.
 */
#ifndef INVENTORY_H
#define INVENTORY_H

#include <libdart/error.h>

#include "agent/base/changes.h"
#include "agent/base/counts.h"
#include "agent/base/coverage.h"
#include "agent/base/entry_index.h"
#include "agent/base/file_watch.h"
#include "agent/region/map_owner_watch.h"
#include "agent/region/region.h"
#include "agent/region/selector.h"
#include "arena.h"
#include "control_region.h"
#include "entry.h"
#include "entry_group.h"
#include "exposure.h"
#include "quota.h"
#include "schema_shares.h"

/* More than the ids of enum dart_zero_source. */
#define INVENTORY_SOURCES_MAX 256

/* The entries of a source in the table. */
struct source_entries {
	uint32_t entries;
	uint32_t singles;	/* entries of these without a group */
};

/* The objects that an inventory and a registry work with, and that outlive both. */
struct table_rooms {
	const struct changes *changes;
	struct region *region;
	struct exposure *exposure;
	struct control_region *control_region;
	struct file_watches *file_watches;
	struct map_owner_watch *map_owner_watch;
	struct client_memories *clients;
	struct table_counts *counts;
};

struct inventory {
	const struct table_rooms *rooms;
	struct coverage_watch *coverage;	/* NULL until agent/coverage/ sets it */

	struct entries entries;	/* in the table, the ones of the current batch last */
	struct entries leaving;	/* taken out, but controllers still find them in the table */
	struct entries retired;	/* on lease */
	struct entry_groups groups;

	struct entry_index names;	/* of the entries in the table */
	struct entry_index sources;	/* keys of all that have not ended */
	struct entry_index extents;	/* ids, but not of slices */
	struct entry_index arenas;	/* by id */
	struct entry_index places;	/* of slices in arenas */

	struct source_entries of_sources[INVENTORY_SOURCES_MAX];	/* by id */
	uint32_t maps;	/* entries of maps */
	struct quotas quotas;	/* of clients */
	struct schema_shares schema_shares;	/* which count in @quotas */
	/* Of users to whom cgroups were delegated: each counts with its entries. */
	struct quotas delegated;
};

/* @rooms outlives the inventory. */
void inventory__open(struct inventory *inventory, const struct table_rooms *rooms);
/* All entries have been freed. */
void inventory__close(struct inventory *inventory);

/*
 * Exposes a new entry, and indexes it by its extent or place and by its key.  On error the caller
 * frees the entry with inventory__free_entry().
 */
int inventory__take(struct inventory *inventory, struct entry *entry, struct dart_error *error);
/* Undoes inventory__take(), frees the entry, and frees its arena with the last entry. */
void inventory__free_entry(struct inventory *inventory, struct entry *entry);

/* Appends an entry to the table, and to its group, or takes it out; -ENOMEM. */
int inventory__link(struct inventory *inventory, struct entry *entry, struct dart_error *error);
void inventory__unlink(struct inventory *inventory, struct entry *entry);
/* The counters of an entry no longer exist: its key does not find it any more. */
void inventory__set_ended(struct inventory *inventory, struct entry *entry);

/* These return NULL if there is none.  In the table: */
struct entry *inventory__find(const struct inventory *inventory, const char *name);
struct entry *inventory__find_source(const struct inventory *inventory,
				     const struct selector_key *key);
struct entry *inventory__find_map(const struct inventory *inventory, uint32_t map_id);
/* On lease, so that it can be revived: */
struct entry *inventory__find_leased_source(const struct inventory *inventory,
					    const struct selector_key *key);
/* In the table, leaving it or on lease; slices of clients have no extent, but a place: */
struct entry *inventory__find_extent(const struct inventory *inventory, uint32_t id);
struct entry *inventory__find_place(const struct inventory *inventory,
				    const struct arena_place *place);

/* -EEXIST: an entry or a group uses the name. */
int inventory__check_unused(const struct inventory *inventory, const char *name,
			    struct dart_error *error);
/* -EINVAL: no client can choose this name.  -EEXIST as above. */
int inventory__check_name(const struct inventory *inventory, const char *name,
			  struct dart_error *error);

/* Counts the entries of the source @id in the table. */
struct source_entries inventory__of_source(const struct inventory *inventory,
					   enum dart_zero_source id);

/* Charges the entry, its schema, and the arena in which it lies, to @uid. */
void inventory__set_owner(struct inventory *inventory, struct entry *entry, uid_t uid);
/* As how many entries the entry of a cgroup counts, by its name or path. */
uint32_t inventory__charge_of(const char *name);
/* Charges the entry of a cgroup to @uid, to whom its subtree was delegated; 0: to none. */
void inventory__delegate(struct inventory *inventory, struct entry *entry, uid_t uid);

struct arena *inventory__find_arena(const struct inventory *inventory, uint32_t id);
/* Indexes an arena, which is freed if that fails, with -ENOMEM. */
int inventory__add_arena(struct inventory *inventory, struct arena *arena,
			 struct dart_error *error);
/* Frees an arena without entries; NULL: there is none. */
void inventory__settle_arena(struct inventory *inventory, struct arena *arena);

/* -EEXIST: there is a group of this name. */
int inventory__add_group(struct inventory *inventory, struct entry_group *group,
			 struct dart_error *error);
void inventory__remove_group(struct inventory *inventory, struct entry_group *group);
struct entry_group *inventory__find_group(const struct inventory *inventory, const char *name);

#endif /* INVENTORY_H */
