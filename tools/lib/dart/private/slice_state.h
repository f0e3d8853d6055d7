/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One slice of a set: its request, its memory, and how far it is registered. */
#ifndef DART_SLICE_STATE_H
#define DART_SLICE_STATE_H

#include <sys/queue.h>

#include <libdart/registration/slice.h>

enum slice_state {
	SLICE_WAITING, /* for its turn */
	SLICE_POSTPONED, /* until the timer expires */
	SLICE_SETTLED, /* until a dartd appears */
};

struct dart_slice_state {
	struct dart_slice shown; /* first */
	TAILQ_ENTRY(dart_slice_state) link; /* in the list of its state */
	enum slice_state state;
	json_t *request;
	size_t mapped; /* bytes at shown.memory */
	int fd; /* from dartd, or -1 */
	char *reason;
};

TAILQ_HEAD(dart_slice_list, dart_slice_state);

/* Maps ordinary memory; waits, in no list.  Returns 0 or -errno. */
int dart_slice_state__new(struct dart_slice_state **slice, const char *name,
			  const json_t *schema, struct dart_error *error);
void dart_slice_state__free(struct dart_slice_state *slice);

/* @reason: of a failure; out of memory it is lost. */
void dart_slice_state__set(struct dart_slice_state *slice, int status,
			   const char *reason);

/*
 * dartd has registered the slice, and sent @fd or -1, which is taken over.
 * Returns 0 or -errno.
 */
int dart_slice_state__registered(struct dart_slice_state *slice, int fd,
				 struct dart_error *error);

#endif /* DART_SLICE_STATE_H */
