/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One slice of a set: its request, its memory, and how far it is registered. */
#ifndef DART_SLICE_STATE_H
#define DART_SLICE_STATE_H

#include <stdbool.h>
#include <sys/queue.h>

#include <libdart/registration/slice.h>

#include "slice_arena_internal.h"

enum slice_state {
	SLICE_WAITING, /* for its turn */
	SLICE_POSTPONED, /* until the timer expires */
	SLICE_SETTLED, /* until a dartd appears */
	SLICE_RETIRED, /* removed, until no controller READs it any more */
	SLICE_STATES,
};

/*
 * A slice that the application has removed stays, as long as its bytes cannot be used
 * for another one: until dartd has removed the entry and its lease has ended.
 */
struct dart_slice_state {
	struct dart_slice shown; /* first */
	TAILQ_ENTRY(dart_slice_state) link; /* in the list of its state */
	enum slice_state state;
	json_t *request;
	struct dart_slice_arena *arena;
	size_t offset; /* bytes, in the arena */
	TAILQ_ENTRY(dart_slice_state) in_arena;
	bool is_listed; /* dartd may list the entry */
	bool is_removed; /* by the application */
	bool is_leaving; /* the request is that dartd removes the entry */
	int64_t due_ms; /* if retired: end of its lease, CLOCK_BOOTTIME */
	char *reason;
};

TAILQ_HEAD(dart_slice_list, dart_slice_state);

/* Takes memory of @arenas; waits, in no list.  Returns 0 or -errno. */
int dart_slice_state__new(struct dart_slice_state **slice, struct dart_slice_arenas *arenas,
			  const char *name, const json_t *schema, struct dart_error *error);
/* Its bytes can be used again; the arena stays. */
void dart_slice_state__free(struct dart_slice_state *slice);

/* @reason: of a failure; out of memory it is lost. */
void dart_slice_state__set(struct dart_slice_state *slice, int status, const char *reason);

/* The next request to dartd about the slice; NULL if out of memory. */
const json_t *dart_slice_state__request(struct dart_slice_state *slice);

/*
 * dartd has registered the slice, and sent @fd or -1, which is taken over.
 * Returns 0 or -errno.
 */
int dart_slice_state__registered(struct dart_slice_state *slice, int fd, struct dart_error *error);

/* From now on the request is that dartd removes the entry; -ENOMEM. */
int dart_slice_state__leave(struct dart_slice_state *slice);
/* dartd has removed the entry; @reply may lack the time of the lease. */
void dart_slice_state__retire(struct dart_slice_state *slice, const json_t *reply);
/* True if the lease of a retired slice has ended. */
bool dart_slice_state__is_due(const struct dart_slice_state *slice);

#endif /* DART_SLICE_STATE_H */
