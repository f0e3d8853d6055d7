/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The steps from the state of a switch with lookup tables to the wanted one, in an order in
 * which no packet gets the entry of another key or table in between.
 */
#ifndef SWITCH_LOOKUP_STEPS_H
#define SWITCH_LOOKUP_STEPS_H

#include <stddef.h>

#include "state.h"

enum lookup_verb {
	LOOKUP_ADD,
	LOOKUP_CHANGE,
	LOOKUP_REMOVE,
	LOOKUP_STOP, /* only a server */
	LOOKUP_START, /* likewise */
};

enum lookup_object {
	LOOKUP_STEP_SELF = LOOKUP_SELF, /* so far, entries of tables */
	LOOKUP_STEP_SHARE = LOOKUP_SHARES,
	LOOKUP_STEP_FROM =
		LOOKUP_FROM, /* index: to remove, of now; or of wanted */
	LOOKUP_STEP_SERVER = LOOKUP_SERVERS,
	LOOKUP_STEP_OTHERWISE = LOOKUP_OTHERWISE,
	LOOKUP_STEP_STASH, /* index: to remove, of now; or of wanted */
	LOOKUP_STEP_CACHE, /* all entries */
	LOOKUP_STEP_SESSION, /* by port */
	LOOKUP_STEP_GROUP, /* by port */
	LOOKUP_STEP_PSN, /* both registers of a server */
};

/* Does the same with all objects from @first to @last. */
struct lookup_step {
	enum lookup_verb verb;
	enum lookup_object object;
	uint32_t first, last;
};

struct lookup_steps {
	size_t count, room;
	struct lookup_step *list;
};

/*
 * A server whose queue pair or table is another one is stopped, loses its entry, gets
 * registers and entries, and is started at the end; the others go on meanwhile.  A number that another
 * server had loses its shares first.  Shares are added when all that they need is
 * in place.  @last: what this program has pushed before, or NULL.  Returns 0 or -ENOMEM.
 */
int lookup_steps__compute(const struct lookup_state *now,
			  const struct lookup_state *wanted,
			  const struct dart_tea_tables *last,
			  struct lookup_steps *steps);
void lookup_steps__free(struct lookup_steps *steps);

/* The index in @now of the stashed entry with the key of @entry, or -1. */
ptrdiff_t lookup_state__stashed(const struct lookup_state *now,
				const struct dart_tea_stashed *entry);

#endif /* SWITCH_LOOKUP_STEPS_H */
