/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Selectors: which one of the many that a source has, as the user says it.
 */
#ifndef SELECTOR_H
#define SELECTOR_H

#include <jansson.h>
#include <stdbool.h>

/* NULL for what has not been said. */
struct selector {
	const char *netns;	/* name, process or path */
	const char *netdev;
	const char *disk;	/* name or path */
	const char *cgroup;	/* path */
	const char *all_cgroups;
	bool all_netns;
};

/* Has anything been said?  Is it all of a kind? */
bool selector__is_given(const struct selector *selector);
bool selector__is_follow(const struct selector *selector);

/*
 * The request that registers this of @source, and the file descriptor that goes
 * along, or -1; the caller's both.  Returns an exit status; if it is not 0, why
 * has been said.
 */
int selector__request(const struct selector *selector, const char *source,
		      json_t **request, int *fd);

#endif /* SELECTOR_H */
