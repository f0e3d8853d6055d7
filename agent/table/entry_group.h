/* SPDX-License-Identifier: GPL-2.0-only */
/* Entries that are listed and unregistered together, such as a follower's. */
#ifndef ENTRY_GROUP_H
#define ENTRY_GROUP_H

#include <jansson.h>
#include <stdint.h>
#include <sys/queue.h>

#include <dart/control.h>
#include <libdart/error.h>

/* The name of an entry and a suffix that entries cannot have. */
#define ENTRY_GROUP_NAME_MAX (DART_CONTROL_ENTRY_NAME_MAX + 3)

TAILQ_HEAD(entries_of_group, entry);

/* Embedded in the object that adds and removes the entries. */
struct entry_group {
	TAILQ_ENTRY(entry_group) link;
	const struct entry_group_operations *operations;
	char name[ENTRY_GROUP_NAME_MAX];
	int64_t registered;	/* ns, CLOCK_BOOTTIME */
	struct entries_of_group entries;	/* in the table */
	uint32_t entry_count;
	const struct entry_group *part_of;	/* ends only with that; or NULL */
};

struct entry_group_operations {
	/* For the reply to "list"; NULL if out of memory. */
	json_t *(*describe)(const struct entry_group *group);
	/* Removes the group and its entries; on error, nothing. */
	int (*unregister)(struct entry_group *group, struct dart_error *error);
	/*
	 * A batch has ended, perhaps with entries of the group, and returned @end: on
	 * error, because of @why, none of them is there.  NULL: no handler.
	 */
	void (*settle)(struct entry_group *group, int end, const struct dart_error *why);
};

TAILQ_HEAD(entry_groups, entry_group);

#endif /* ENTRY_GROUP_H */
