/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The registry changes the table: it adds entries of all kinds and removes them.  Every change is
 * published before it returns, or has not happened; changes between begin and end are published
 * together.  Entries whose objects have ended linger in the table, see lingering.h.  Entries that
 * have left the table can still be read until their lease ends.
 */
#ifndef REGISTRY_H
#define REGISTRY_H

#include "agent/base/lease.h"
#include "agent/base/request.h"
#include "agent/schema/source_schemas.h"
#include "inventory.h"
#include "finals.h"
#include "lingering.h"
#include "records.h"
#include "slab.h"

struct registry {
	struct table_rooms rooms;
	struct inventory inventory;
	struct lingering lingering;
	struct finals finals;	/* memory of slices that linger */
	struct slabs slabs;
	struct records records;
	struct source_schemas schemas;

	/* Batches begun and not ended, and the number of entries that they added and took out. */
	unsigned int batches;
	uint32_t added;
	uint32_t removed;
	sd_event_source *publication;	/* at the end of this round of the loop */
	struct lease lease;	/* until the next try to publish, or the next page exposure */
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
	bool is_exact;		/* controllers see its fields only */
	int fd;			/* of its memory, or -1; the caller's */
};

/* Values of a running program. */
struct process_request {
	const char *name;
	struct entry_group *group;
	/* The schema becomes the entry's, also on error, and is NULL then. */
	struct record_layout *layout;
	uint32_t gather_ms;
	uint32_t rows;
	uint64_t object; /* differs from all others */
	/* The module gathers this, with one row; NULL: the caller writes the rows. */
	const struct process_memory *memory;
};

/* Returns 0, or -errno with the reason in @error. */
int registry__open(struct registry *registry, sd_event *loop, const struct table_rooms *rooms,
		   struct dart_error *error);
/* After the last connection has ended: frees all entries, also the ones on lease. */
void registry__close(struct registry *registry);

/*
 * A batch of changes, which may be part of another one.  If the changes cannot
 * be published at the outermost end, all entries that were added are freed and
 * must not be touched again, and the removals are published without them.  If
 * that fails as well, the removed entries are back, except the ones that have
 * ended: these stay readable until a later publication removes them.
 */
void registry__begin(struct registry *registry);
int registry__end(struct registry *registry, struct dart_error *error);
/* Ends a batch whose changes returned @ret; returns @ret, or the result of the end if @ret is 0. */
int registry__end_with(struct registry *registry, int ret, struct dart_error *error);
/* Ends a batch that no client asked for; errors are logged. */
void registry__end_or_log(struct registry *registry);

/*
 * Adds an entry of @group, which notices when the source ends, or with NULL a single
 * entry, which the registry watches.
 */
int registry__add_source(struct registry *registry, const struct selector *selector,
			 struct entry_group *group, struct entry **entry, struct dart_error *error);
/*
 * @map_fd stays the caller's.  @btf and @name: as entry__new_map().  The entry ends when it is
 * removed, or at registry__map_ended().
 */
int registry__add_map(struct registry *registry, int map_fd, const struct btf *btf,
		      const char *name, struct entry **entry, struct dart_error *error);
/* As entry__new_counters(). */
int registry__add_counters(struct registry *registry, const char *name, json_t *names,
			   struct entry **entry, struct dart_error *error);
/*
 * Without @asked->fd, *@fd is a descriptor of new memory, and with memory of a client that is new,
 * the one that proves its use: the caller closes both.  Otherwise it is -1, and if the slice is an
 * entry of @asked->owner with this name, schema and place already, nothing changes.  Takes @asked->schema over, even on error.
 */
int registry__add_slice(struct registry *registry, struct slice_request *asked, int *fd,
			struct entry **entry, struct dart_error *error);
/* Where @entry, a slice, lies, as one number that is not 0. */
uint64_t registry__note_place(const struct entry *entry);
/*
 * Adds the slice @asked->name at @asked->offset of the memory of the slice of its user at @place, a
 * number of registry__note_place(), with the same schema and exposure, and notes it as that slice
 * is noted.  -ENOENT: the table has no slice at this place.
 */
int registry__add_like(struct registry *registry, uint64_t place, struct slice_request *asked,
		       struct entry **entry, struct dart_error *error);
/* Notes for the next dartd that @owner registered @entry, in memory of a client, with @schema. */
void registry__note_slice(struct entry *entry, uid_t owner, json_t *schema);
/* Registers the slices of memory that clients gave to the last dartd. */
void registry__restore_clients(struct registry *registry);
/* Finds the entry @name in the memory of the descriptor @fd, or returns -ENOENT. */
int registry__find_slice(struct registry *registry, const char *name, int fd,
			 struct entry **entry, struct dart_error *error);
/*
 * Adds an entry with values of a running program.  Without @asked->memory, *@fd is a descriptor of
 * zeroed memory for the rows, which the caller maps, writes and closes; otherwise it is -1.
 */
int registry__add_process(struct registry *registry, struct process_request *asked, int *fd,
			  struct entry **entry, struct dart_error *error);
/*
 * Adds the entry about dartd, which cannot be removed.  Takes @schema over, even on
 * error.
 */
int registry__add_self(struct registry *registry, const char *name, struct dart_schema *schema,
		       const struct dart_zero_slice *slice, struct dart_error *error);
/* Removes an entry, which lives on until its lease ends: the caller may look at it. */
int registry__remove(struct registry *registry, struct entry *entry, struct dart_error *error);
/* In a batch: takes the entries of a group out of the table. */
void registry__withdraw_group(struct registry *registry, const struct entry_group *group,
			      bool has_ended);

/*
 * The counters of an entry no longer exist: its name is free at once.  The entry of a source, or a
 * slice, lingers in the table first, unless an entry of its name is added.  Other entries leave the
 * table for good, and nothing can keep them there.  Without a batch, they do so at the end of this
 * round of the event loop, with the others that end in it, or when a batch begins.
 */
void registry__entry_ended(struct registry *registry, struct entry *entry);
/* The same for the entry of an extent, or for all entries of an arena; others have no entry. */
void registry__extent_ended(struct registry *registry, uint32_t extent);
void registry__map_ended(struct registry *registry, uint32_t map_id);

/* CPUs have gone online or offline: outside of a batch. */
void registry__cpus_changed(struct registry *registry);
/* CLOCK_REALTIME was set: outside of a batch. */
void registry__clock_was_set(struct registry *registry);
/*
 * The RDMA device is gone, with NULL, or there, with @pd: registers the memory of all entries
 * again, and then publishes their new keys.  Nobody is connected over RDMA meanwhile.  After
 * an error it is to be called again, with NULL if @pd cannot be used.
 */
int registry__change_device(struct registry *registry, struct ibv_pd *pd, struct dart_error *error);

/* The requests about entries and groups; their subject is the registry. */
extern const struct request_type registry_requests[];

/* In a batch, for registry_*.c. */

/* Puts a new entry, which is freed if that fails, into the table. */
int registry__add(struct registry *registry, struct entry *entry, struct dart_error *error);
/* Puts an entry that is on lease back into the table. */
int registry__revive(struct registry *registry, struct entry *entry, const char *name,
		     struct dart_error *error);
/* Takes an entry out of the table. */
void registry__take_out(struct registry *registry, struct entry *entry);
/* Copies the final bytes of slices that linger side by side; the next publication tells. */
void registry__gather_finals(struct registry *registry);
/* A lingering entry leaves the table with the next publication. */
void registry__let_go(struct registry *registry, struct entry *entry);
/* Tells clients, and notes for the next dartd, that the entry is there no longer. */
void registry__tell_end(const struct registry *registry, struct entry *entry);
/* Publishes removals at the end of this round of the loop, unless a batch has begun, which does. */
void registry__publish_later(struct registry *registry);

#endif /* REGISTRY_H */
