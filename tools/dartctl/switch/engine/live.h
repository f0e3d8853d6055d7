/* SPDX-License-Identifier: GPL-2.0-only */
/* Pushes: brings a running switch into the wanted state. */
#ifndef SWITCH_LIVE_H
#define SWITCH_LIVE_H

#include "kind.h"

/* A push to the simple_switch at @name, "HOST:PORT". */
struct switch_push {
	const char *name;
	const struct switch_kind *kind;
	const void *wish;
	const void *last; /* that this process pushed before, for kinds that need it, or NULL */
	bool is_dry; /* prints the steps and changes nothing */
	bool as_json;
};

/*
 * Brings the switch into the wanted state, reads the state back, and prints the changes.
 * Returns 0, or -errno with a sentence in @error.
 */
int switch_live__push(const struct switch_push *push, struct dart_error *error);

/*
 * Has the simple_switch at @name no entry in any table of @kind, as after its start, or can it not
 * be asked?
 */
bool switch_live__is_lost(const char *name, const struct switch_kind *kind);

/* A new state of a switch that is not set up; NULL if out of memory. */
void *switch_state__new(const struct switch_kind *kind);
/* @state may be NULL. */
void switch_state__free(const struct switch_kind *kind, void *state);
/*
 * Reads all objects to @state, which is new and prepared for the program of the switch.  Returns
 * 0, or -errno with a sentence in @error.
 */
int switch_state__read(const struct switch_kind *kind, struct thrift *thrift, const void *wish,
		       void *state, struct dart_error *error);

#endif /* SWITCH_LIVE_H */
