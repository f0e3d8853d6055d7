/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The registry: the entries by name, and those that have left the table but
 * can still be read (on lease).  Every change is published before it returns,
 * or has not happened; changes between begin and end are published together.
 */
#ifndef REGISTRY_H
#define REGISTRY_H

#include <libdart/error.h>

#include "agent/base/changes.h"
#include "agent/base/counts.h"
#include "agent/base/coverage.h"
#include "agent/base/entry_index.h"
#include "agent/base/file_watch.h"
#include "agent/base/lease.h"
#include "agent/base/request.h"
#include "agent/region/map_owner_watch.h"
#include "agent/region/region.h"
#include "agent/region/selector.h"
#include "agent/schema/source_schemas.h"
#include "control_region.h"
#include "entry.h"
#include "entry_group.h"
#include "exposure.h"
#include "quota.h"
#include "records.h"
#include "slab.h"

/* More than the ids of enum dart_zero_source. */
#define REGISTRY_SOURCES_MAX 256

/* The entries of a source in the table. */
struct source_entries {
	uint32_t entries;
	uint32_t singles;	/* of these, those without a group */
};

/* Private to registry*.c. */
struct registry {
	const struct changes *changes;
	struct region *region;
	struct exposure *exposure;
	struct leases *leases;
	struct control_region *control_region;
	struct file_watches *file_watches;
	struct map_owner_watch *map_owner_watch;
	struct slabs *slabs;
	struct records *records;
	struct table_counts *counts;
	struct coverage_watch *coverage;	/* NULL until agent/coverage/ sets it */
	struct source_entries of_sources[REGISTRY_SOURCES_MAX];	/* by id */
	uint32_t maps;	/* entries of maps */
	struct quotas quotas;	/* of clients */
	/* Of users to whom cgroups were delegated: each counts with its entries. */
	struct quotas delegated;
	struct source_schemas schemas;
	struct entry_index extents;	/* their ids, but not of slices */
	struct entry_index arenas;	/* by id */
	struct entry_index places;	/* of slices in them */
	struct entries entries;
	struct entry_index names;	/* of the entries in the table */
	struct entry_index sources;	/* keys of all that have not ended */
	struct entries retired;
	struct entry_groups groups;

	/* Batches begun and not ended, and what they have taken out so far. */
	unsigned int batches;
	uint32_t added;
	uint32_t removed;
	struct entries leaving;
	sd_event_source *publication;	/* at the end of this round of the loop */
	struct lease lease;	/* until the next try, or next page exposure */
	bool is_waiting;	/* for the end of it */
};

/* A slice that a client asks for. */
struct slice_request {
	const char *name;
	uid_t owner;
	struct dart_schema *schema;
	uint64_t offset;	/* bytes from the start of its memory */
	bool has_memory;	/* the client says how much it wants */
	uint64_t memory;	/* bytes */
	int fd;			/* of its memory, or -1; the caller's */
};

int registry__open(struct registry *registry, sd_event *loop,
		   const struct changes *changes, struct region *region,
		   struct exposure *exposure, struct leases *leases,
		   struct control_region *control_region,
		   struct file_watches *file_watches,
		   struct map_owner_watch *map_owner_watch, struct slabs *slabs,
		   struct records *records, struct table_counts *counts, struct dart_error *error);
/* After the last connection has ended: frees all entries, also those on lease. */
void registry__close(struct registry *registry);

/*
 * A batch of changes, which may be part of another one.  If the changes cannot
 * be published at the outermost end, all entries that were added are freed and
 * must not be touched again, and the removals are published without them.  If
 * that fails as well, the removed entries are back, but those that have ended
 * are not: they stay readable until a later publication removes them.
 */
void registry__begin(struct registry *registry);
int registry__end(struct registry *registry, struct dart_error *error);
/* Ends a batch whose changes returned @ret; returns @ret or what the end did. */
int registry__end_with(struct registry *registry, int ret,
		       struct dart_error *error);

/* Ends a batch that no client asked for; errors are logged. */
void registry__end_or_log(struct registry *registry);

/* -EDQUOT: @uid cannot have one more entry, and @bytes more of memory for slices. */
int registry__check_quota(const struct registry *registry, uid_t uid,
			  uint64_t bytes, struct dart_error *error);
/* Also charges the entry to @uid. */
void registry__set_owner(struct registry *registry, struct entry *entry,
			 uid_t uid);

/* As how many entries that of a cgroup counts, by its name or path. */
uint32_t registry__charge_of(const char *name);
/* Charges the entry of a cgroup to @uid, to whom its subtree was delegated; 0: to none. */
void registry__delegate(struct registry *registry, struct entry *entry,
			uid_t uid);

/*
 * An entry of @group, which knows when the source ends, or with NULL a single
 * one, which the registry watches.
 */
int registry__add_source(struct registry *registry,
			 const struct selector *selector,
			 struct entry_group *group, struct entry **entry,
			 struct dart_error *error);
/* @map_fd stays the caller's.  Takes the map's name if @name is NULL. */
int registry__add_map(struct registry *registry, int map_fd, const char *name,
		      struct entry **entry, struct dart_error *error);
/* As entry__new_counters(). */
int registry__add_counters(struct registry *registry, const char *name,
			   json_t *names, struct entry **entry,
			   struct dart_error *error);
/*
 * Without @asked->fd, *@fd is a descriptor of new memory, which the caller closes;
 * otherwise it is -1, and if the slice is @asked->owner's entry of this name, schema
 * and place already, nothing changes.  Takes @asked->schema over, even on error.
 */
int registry__add_slice(struct registry *registry, struct slice_request *asked,
			int *fd, struct entry **entry,
			struct dart_error *error);
/* The entry @name in the memory behind @fd, or -ENOENT. */
int registry__find_slice(struct registry *registry, const char *name, int fd,
			 struct entry **entry, struct dart_error *error);
/*
 * The entry about dartd, which cannot be removed.  Takes @schema over, even on
 * error.
 */
int registry__add_self(struct registry *registry, const char *name,
		       struct dart_schema *schema,
		       const struct dart_zero_slice *slice,
		       struct dart_error *error);
/* The entry lives on until its lease ends: it may be looked at. */
int registry__remove(struct registry *registry, struct entry *entry,
		     struct dart_error *error);

/*
 * The counters of an entry no longer exist: it leaves the table for good, and
 * nothing can keep it there.  Without a batch, it does so at the end of this round
 * of the event loop, with the others that end in it, or when a batch begins.
 */
void registry__entry_ended(struct registry *registry, struct entry *entry);
void registry__extent_ended(struct registry *registry, uint32_t extent);
void registry__map_ended(struct registry *registry, uint32_t map_id);

/* -EEXIST: there is a group of this name. */
int registry__add_group(struct registry *registry, struct entry_group *group,
			struct dart_error *error);
void registry__remove_group(struct registry *registry,
			    struct entry_group *group);
/* In a batch: takes the entries of a group out of the table. */
void registry__withdraw_group(struct registry *registry,
			      const struct entry_group *group, bool has_ended);
uint32_t registry__group_size(const struct registry *registry,
			      const struct entry_group *group);

/* CPUs have gone online or offline: outside of a batch. */
void registry__cpus_changed(struct registry *registry);
/* CLOCK_REALTIME was set: outside of a batch. */
void registry__clock_was_set(struct registry *registry);
/*
 * The RDMA device is gone, with NULL, or there, with @pd: registers the memory of all entries
 * again, and then publishes their new keys.  Nobody is connected over RDMA meanwhile.  After
 * an error it is to be called again, with NULL if @pd cannot be used.
 */
int registry__change_device(struct registry *registry, struct ibv_pd *pd,
			    struct dart_error *error);

/* How many entries of the source @id the table has. */
struct source_entries registry__of_source(const struct registry *registry,
					  enum dart_zero_source id);

struct entry *registry__find(const struct registry *registry,
			     const char *name);
struct entry *registry__find_source(const struct registry *registry,
				    const struct selector_key *key);
/* One that can be revived. */
struct entry *registry__find_leased_source(const struct registry *registry,
					   const struct selector_key *key);
struct entry *registry__find_map(const struct registry *registry,
				 uint32_t map_id);
/* No slice.  In the table or on lease. */
struct entry *registry__find_extent(const struct registry *registry,
				    uint32_t id);
struct entry_group *registry__find_group(const struct registry *registry,
					 const char *name);

/* The requests about entries and groups; their subject is the registry. */
extern const struct request_type registry_requests[];

/* Between registry*.c. */

/* Publishes all of the table, in another generation. */
int registry__publish_again(struct registry *registry,
			    struct dart_error *error);

/* The same, in a batch. */

/* Puts an entry into the table, behind the others, or takes it out; -ENOMEM. */
int registry__link(struct registry *registry, struct entry *entry,
		   struct dart_error *error);
void registry__unlink(struct registry *registry, struct entry *entry);
void registry__free_entry(struct registry *registry, struct entry *entry);
/* Starts the lease of an entry that the published table does not have. */
void registry__retire(struct registry *registry, struct entry *entry);
/* It is not revived any more. */
void registry__set_ended(struct registry *registry, struct entry *entry);

/* The counters of an entry in the table or on lease no longer exist. */
void registry__object_ended(struct registry *registry, struct entry *entry);
/* The same for all entries of the arena @id, if there is one. */
void registry__arena_ended(struct registry *registry, uint32_t id);

/* A new slice has its bytes of the arena, or leaves them. */
int registry__place(struct registry *registry, struct entry *entry,
		    struct dart_error *error);
void registry__displace(struct registry *registry, struct entry *entry);
/* Frees an arena without entries; NULL: there is none. */
void registry__settle_arena(struct registry *registry, struct arena *arena);
void registry__set_arena_owner(struct registry *registry, struct arena *arena,
			       uid_t uid);

int registry__open_publication(struct registry *registry, sd_event *loop,
			       struct dart_error *error);
/* Before the entries on lease are freed. */
void registry__close_publication(struct registry *registry);
/* The ended entries, unless a batch has begun, which publishes them. */
void registry__publish_later(struct registry *registry);

/* -EEXIST: an entry or a group has the name. */
int registry__check_unused(const struct registry *registry, const char *name,
			   struct dart_error *error);
/* -EINVAL: no client can choose this name.  -EEXIST as above. */
int registry__check_name(const struct registry *registry, const char *name,
			 struct dart_error *error);
/* Puts a new entry, which is freed if that fails, into the table. */
int registry__add(struct registry *registry, struct entry *entry,
		  struct dart_error *error);
/* Puts an entry that is on lease back into the table. */
int registry__revive(struct registry *registry, struct entry *entry,
		     const char *name, struct dart_error *error);
/* Takes an entry out of the table. */
void registry__take_out(struct registry *registry, struct entry *entry);

#endif /* REGISTRY_H */
