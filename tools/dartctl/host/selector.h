/* SPDX-License-Identifier: GPL-2.0-only */
/* Selectors: which namespace, device or cgroup a source is to count for. */
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
	SELECTOR_ALL,		/* of the source's kind */
	SELECTOR_KINDS
};

/* From the command line; NULL: not given. */
struct selector {
	const char *of[SELECTOR_KINDS];
	const char *gather;	/* interval, "1s" */
	bool is_deferrable; /* gathering does not wake an idle CPU */
};

/* Does it select all of a kind, also those to come? */
bool selector__is_follow(const struct selector *selector);
/* The kind that it selects all of, as in "selector" of source-list; NULL: any. */
const char *selector__all_of(const struct selector *selector);

/*
 * Makes the request that registers or follows @source, and the descriptor to
 * send with it, or -1; both are the caller's.  Returns an exit status; after a
 * failure its message has been printed.
 */
int selector__request(const struct selector *selector, const char *source,
		      json_t **request, int *fd);

#endif /* SELECTOR_H */
