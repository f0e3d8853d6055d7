/* SPDX-License-Identifier: GPL-2.0-only */
/* Selectors: the namespace, device or cgroup whose events a source counts. */
#ifndef SELECTOR_H
#define SELECTOR_H

#include <jansson.h>
#include <stdbool.h>

enum selector_kind {
	SELECTOR_NETNS,		/* name, process or path */
	SELECTOR_NETDEV,
	SELECTOR_DISK,		/* name or path */
	SELECTOR_CGROUP,	/* path */
	SELECTOR_FILESYSTEM,	/* path of its mount point */
	SELECTOR_ALL_NETNS,
	SELECTOR_ALL_NETDEVS,
	SELECTOR_ALL_DISKS,
	SELECTOR_ALL_CGROUPS,	/* path */
	SELECTOR_ALL_FILESYSTEMS,
	SELECTOR_ALL,		/* all objects of the kind of the source */
	SELECTOR_KINDS
};

/* From the command line; NULL: not given. */
struct selector {
	const char *of[SELECTOR_KINDS];
	const char *gather;	/* interval, "1s" */
	bool is_deferrable; /* gathering does not wake an idle CPU */
};

/* Does it select all objects of a kind, including future ones? */
bool selector__is_follow(const struct selector *selector);
/* The kind of which all objects are selected, as in "selector" of source-list; NULL: any. */
const char *selector__all_of(const struct selector *selector);

/*
 * Makes the request that registers or follows @source, and the descriptor to send with it, or -1;
 * the caller owns both.  Returns an exit status; after a failure its message has been printed.
 */
int selector__request(const struct selector *selector, const char *source,
		      json_t **request, int *fd);

#endif /* SELECTOR_H */
