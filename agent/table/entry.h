/* SPDX-License-Identifier: GPL-2.0-only */
/* An entry: an extent of the region, its schema and its memory regions. */
#ifndef ENTRY_H
#define ENTRY_H

#include <infiniband/verbs.h>
#include <jansson.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/types.h>

#include <dart/control.h>
#include <dart/registration.h>
#include <libdart/error.h>
#include <libdart/table/schema.h>
#include <linux/dart_zero.h>

#include "agent/base/entry_name.h"
#include "agent/base/file_watch.h"
#include "agent/base/lease.h"
#include "agent/region/region.h"
#include "agent/region/selector.h"
#include "agent/schema/source_schemas.h"
#include "client_memory_kept.h"

struct arena;
struct entry_group;
struct quota_user;

/* Bytes of a copy that controllers may read. */
struct run {
	uint32_t offset;
	uint32_t length;
};

/* Bytes of an arena, from the start of the region; @last is one of them. */
struct arena_place {
	uint64_t first, last;
};

/* The change of an entry in the current batch. */
enum entry_change {
	ENTRY_UNCHANGED,
	ENTRY_ADDED,
	ENTRY_REVIVED,			/* was on lease */
};

struct entry {
	TAILQ_ENTRY(entry) link;	/* registered, lingering, or on lease */
	struct lease lease;
	struct file_watch watch;
	struct registry *registry;
	enum entry_change change;
	bool has_ended;	/* its counters no longer exist */
	bool has_lingered;	/* or lingers, see lingering.h: clients were told of its end */
	uint64_t ended_us;	/* CLOCK_BOOTTIME; when it began to linger */
	uint64_t lingering_bytes;	/* of its memory, in the budget of lingering.h */
	bool is_unlisted;	/* it lingers, but the published table has its former memory */
	bool is_on_lease;
	bool is_indexed;	/* by its key */
	bool is_self;	/* about dartd, with its own page and memory region */
	struct entry_group *group;	/* it belongs to, or NULL */
	TAILQ_ENTRY(entry) in_group;	/* while it is in the table */

	uid_t owner;	/* that registered it; root for dartd's own */
	struct quota_user *quota_user;	/* it is charged to, or NULL */
	uint32_t charge;	/* as many entries */
	struct schema_share *schema_share;	/* of its user, or NULL */
	bool is_delegated;	/* charged as that of a subtree of a user */
	int64_t registered;	/* ns, CLOCK_BOOTTIME */
	uint64_t since;	/* first generation that published this entry; 0 if not published yet */
	char *name;
	enum dart_control_entry_kind kind;
	enum dart_control_lifetime lifetime;
	enum dart_control_copies copies_are;
	struct selector_key key;	/* of a source */
	struct dart_zero_extent extent;
	/* Of a slice of a client: NULL for other entries. */
	struct arena *arena;
	struct arena_place place;
	bool has_place;	/* by which it is found */
	bool is_exact;	/* controllers see its fields only, and no other byte of the arena */
	TAILQ_ENTRY(entry) in_arena;
	struct client_note note;	/* about it, in memory of a client */
	bool is_gathered;	/* its extent is a record, for which the source was taken */
	uint32_t cpu_rows;	/* rows that fit into its place; or 0 */
	const struct dart_schema *schema;
	struct dart_schema *own_schema;	/* NULL if it is shared */
	struct run *runs;
	uint32_t run_count;

	/*
	 * Exact exposure: for a window, one per run of copy 0, then of copy 1,
	 * and so on; for a map, one.  Page exposure: none.
	 */
	struct ibv_mr **memory_regions;
	uint32_t memory_region_count;
};

TAILQ_HEAD(entries, entry);
TAILQ_HEAD(entries_of_arena, entry);

/* An entry without an extent.  NULL: out of memory. */
struct entry *entry__new(enum dart_control_entry_kind kind, enum dart_control_lifetime lifetime,
			 enum dart_control_copies copies_are, const char *name);
/*
 * The end of a function that makes an entry: @ret is the result of describing its extent.  Sets
 * *@result, or frees the entry and returns -errno: @ret, -EINVAL if controllers would refuse its
 * schema, or -ENOMEM.
 */
int entry__complete(struct entry *entry, struct region *region, int ret,
		    struct entry **result, struct dart_error *error);

/*
 * These add an extent to the region and describe it, but do not expose it. -EEXIST: it is in the
 * region already.
 */
int entry__new_source(struct region *region, struct source_schemas *schemas,
		      const struct selector *selector, struct entry **entry,
		      struct dart_error *error);
/* Takes the map's name if @name is NULL.  @btf: as @own of map_schema__new(). */
int entry__new_map(struct region *region, int map_fd, const struct btf *btf, const char *name,
		   struct entry **entry, struct dart_error *error);
/*
 * Counters that a module registered as @name or, if @names is not NULL, new
 * counters with these names.
 */
int entry__new_counters(struct region *region, const char *name, json_t *names,
			struct entry **entry, struct dart_error *error);
/*
 * A slice at @place of @arena; @is_exact: of which controllers see the fields only.  Takes @schema
 * over, even on error.
 */
int entry__new_slice(struct region *region, struct arena *arena, const struct arena_place *place,
		     const char *name, struct dart_schema *schema, bool is_exact,
		     struct entry **entry, struct dart_error *error);
/* The memory regions that an exact slice of @schema takes. */
uint32_t entry__count_runs(const struct dart_schema *schema);
/*
 * Values of a running program, gathered every @gather_ms; the caller sets the extent.  @object tells
 * entries apart.  Takes @schema, of a row, over, even on error; NULL: out of memory.
 */
struct entry *entry__new_process(const char *name, struct dart_schema *schema, uint32_t gather_ms,
				 uint64_t object, uint32_t rows);
/*
 * The entry about dartd, in a slice that dartd writes.  Takes @schema over, even on
 * error.
 */
int entry__new_self(struct region *region, const char *name, struct dart_schema *schema,
		    const struct dart_zero_slice *slice, struct entry **entry,
		    struct dart_error *error);
/* Call this while no index contains it.  -ENOMEM: the name stays. */
int entry__rename(struct entry *entry, const char *name);
/* Also removes the extent from the region; slices of clients have none. */
void entry__free(struct entry *entry, struct region *region);

/* Return NULL if there is none, and skip counters that ended. */
struct entry *entries__find_map(const struct entries *entries, uint32_t map_id);
struct entry *entries__find_counters(const struct entries *entries, const char *name);

#endif /* ENTRY_H */
