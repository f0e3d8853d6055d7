/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The targets that run, keyed by their names.  It compares what runs with what is wanted,
 * and starts and ends targets until both are the same, a few at a time; a target that is
 * wanted as it is goes on undisturbed.
 *
 * A target that is wanted otherwise ends, and the new one starts when the old one has ended:
 * so a name never has two targets, and an index neither.  Pure code, for the event loop's
 * thread only.
 */
#ifndef CONTROLLER_TARGET_SET_H
#define CONTROLLER_TARGET_SET_H

#include "target_list.h"

struct target;
struct target_set;

struct target_set_operations {
	/* @settings outlive the target.  Returns 0 or -errno. */
	int (*start)(void *data, const struct target_settings *settings, struct target **target);
	/* Begins to end it; target_set__ended() follows, later. */
	void (*end)(void *data, struct target *target);
};

/* NULL if out of memory. */
struct target_set *target_set__new(const struct target_set_operations *operations, void *data);
/* The targets have been freed.  NULL is allowed. */
void target_set__free(struct target_set *set);

/* From now on these are wanted, SETTINGS_TARGETS_MAX at most.  Returns 0 or -ENOMEM. */
int target_set__want(struct target_set *set, const struct target_list *list);
/*
 * Starts and ends @limit targets at most.  Returns 1 if there is more to do now, 0 if not,
 * or what start() has returned.
 */
int target_set__work(struct target_set *set, unsigned int limit);
/* The target at this index has been freed. */
void target_set__ended(struct target_set *set, size_t index);

size_t target_set__running(const struct target_set *set);
/* All that are wanted run, and nothing else does. */
bool target_set__is_settled(const struct target_set *set);

/* No target had this index so far, or a higher one. */
size_t target_set__end_index(const struct target_set *set);
/* The target at @index, which is below end_index(), or NULL. */
struct target *target_set__target(const struct target_set *set, size_t index);
/* The source that names the target at @index now; NULL: the command line. */
const char *target_set__source(const struct target_set *set, size_t index);
/* It is being ended. */
bool target_set__is_ending(const struct target_set *set, size_t index);

#endif /* CONTROLLER_TARGET_SET_H */
