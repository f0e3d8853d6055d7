/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The set of running targets, keyed by name.  It compares running targets with the wanted list,
 * and starts and ends targets, a few at a time, until both agree; a target that is wanted with
 * the settings that it runs with continues undisturbed.  A target that is to be scraped instead of
 * standing by, or the other way round, keeps its connection.
 *
 * If a target is wanted with other settings, it is ended, and the new one starts when the old one
 * has ended: so two running targets never share a name or an index.  Pure code, for the thread of
 * the event loop only.
 */
#ifndef CONTROLLER_TARGET_SET_H
#define CONTROLLER_TARGET_SET_H

#include "target_list.h"

struct target;
struct target_set;

struct target_set_operations {
	/* @settings outlive the target.  Returns 0 or -errno. */
	int (*start)(void *data, const struct target_settings *settings, struct target **target);
	/* Begins to end @target.  The caller calls target_set__ended() later, when it is freed. */
	void (*end)(void *data, struct target *target);
	/* From now on it stands by, see target_settings; 0: it is scraped. */
	void (*change)(void *data, struct target *target, uint64_t standby_ns);
};

/* NULL if out of memory. */
struct target_set *target_set__new(const struct target_set_operations *operations, void *data);
/* Call it after all targets were freed.  NULL is allowed. */
void target_set__free(struct target_set *set);

/*
 * From now on exactly the targets of @list, at most SETTINGS_TARGETS_MAX, are wanted.  Returns 0,
 * or -ENOMEM: then some new targets may be missing.
 */
int target_set__want(struct target_set *set, const struct target_list *list);
/*
 * Starts and ends at most @limit targets.  Returns 1 if there is more to do now, 0 if not, or the
 * error of start().
 */
int target_set__work(struct target_set *set, unsigned int limit);
/* Call it when the target at @index was freed. */
void target_set__ended(struct target_set *set, size_t index);

size_t target_set__running(const struct target_set *set);
/* True if all wanted targets run, and no other target does. */
bool target_set__is_settled(const struct target_set *set);

/* The lowest index that no target, nor one with a higher index, has used so far. */
size_t target_set__end_index(const struct target_set *set);
/* The target at @index, which is below end_index(), or NULL. */
struct target *target_set__target(const struct target_set *set, size_t index);
/* The source that names the target at @index now; NULL: the command line. */
const char *target_set__source(const struct target_set *set, size_t index);
/* True if the target at @index is being ended. */
bool target_set__is_ending(const struct target_set *set, size_t index);

#endif /* CONTROLLER_TARGET_SET_H */
