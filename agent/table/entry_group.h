/* SPDX-License-Identifier: GPL-2.0-only */
/* Entries that are listed and unregistered together, as those of a follower. */
#ifndef ENTRY_GROUP_H
#define ENTRY_GROUP_H

#include <jansson.h>
#include <stdint.h>
#include <sys/queue.h>

#include <dart/registration.h>

#include <libdart/error.h>

/* That of an entry and an end that no entry has. */
#define ENTRY_GROUP_NAME_MAX (DART_REGISTRATION_NAME_MAX + 3)

/* Embedded in the object that adds and removes the entries. */
struct entry_group {
	TAILQ_ENTRY(entry_group) link;
	const struct entry_group_operations *operations;
	char name[ENTRY_GROUP_NAME_MAX];
	int64_t registered;	/* ns, CLOCK_BOOTTIME */
};

struct entry_group_operations {
	/* As "list" shows it; NULL if out of memory. */
	json_t *(*describe)(const struct entry_group *group);
	/* Removes the group and its entries, or fails and changes nothing. */
	int (*unregister)(struct entry_group *group, struct dart_error *error);
};

TAILQ_HEAD(entry_groups, entry_group);

#endif /* ENTRY_GROUP_H */
