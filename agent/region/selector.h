/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A selection: one of the many that a source has, such as the TCP counters of
 * one network namespace, and what its entry is called.
 */
#ifndef SELECTOR_H
#define SELECTOR_H

#include <stdbool.h>
#include <stdint.h>

#include <dart/registration.h>

#include "agent/base/why.h"
#include "source.h"

/* What the counters are of, for as long as that exists. */
struct selection_key {
	enum dart_zero_source source;
	uint32_t ifindex;	/* of a network device, or 0 */
	uint64_t object;	/* namespace, cgroup: inode; disk: its number */
};

struct selection {
	const struct source *source;
	struct selection_key key;
	char name[DART_REGISTRATION_NAME_MAX];
	/* The caller's; -1 where nothing selects, or key.object does. */
	int fd;
	bool has_own_fd;	/* then it is the selection's */
	bool is_followed;	/* somebody else knows when it ends */
};

/*
 * All find out what @fd, the caller's, is, and refuse what does not fit.
 * selection__close() when the selection has been registered.
 */
int selection__none(struct selection *selection, const struct source *source,
		    struct why *why);
/*
 * @fd is of a network namespace that is called @label; -1 and NULL mean that of
 * this process.  @netdev is the name of an interface in it, NULL for sources of
 * a namespace.
 */
int selection__netns(struct selection *selection, const struct source *source,
		     int fd, const char *label, const char *netdev,
		     struct why *why);
/* The namespace that has this inode. */
int selection__netns_inode(struct selection *selection,
			   const struct source *source, uint32_t inode,
			   const char *label, struct why *why);
int selection__disk(struct selection *selection, const struct source *source,
		    int fd, const char *label, struct why *why);
/* @path is that of the cgroup below the root of its hierarchy: "/a/b". */
int selection__cgroup(struct selection *selection, const struct source *source,
		      int fd, const char *path, struct why *why);
void selection__close(struct selection *selection);

bool selection_key__equal(const struct selection_key *a,
			  const struct selection_key *b);

#endif /* SELECTOR_H */
