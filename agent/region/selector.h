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

#include <libdart/error.h>
#include "source.h"

/* What the counters are of, for as long as that exists. */
struct selector_key {
	enum dart_zero_source source;
	uint32_t ifindex;	/* of a network device, or 0 */
	uint64_t object;	/* namespace, cgroup: inode; disk: its number */
};

struct selector {
	const struct source *source;
	struct selector_key key;
	char name[DART_REGISTRATION_NAME_MAX];
	/* The caller's; -1 where nothing selects, or key.object does. */
	int fd;
	bool has_own_fd;	/* then it is the selection's */
	bool is_followed;	/* somebody else knows when it ends */
};

/*
 * All find out what @fd, the caller's, is, and refuse what does not fit.
 * selector__close() when the selection has been registered.
 */
int selector__none(struct selector *selector, const struct source *source,
		   struct dart_error *error);
/*
 * @fd is of a network namespace that is called @label; -1 and NULL mean that of
 * this process.  @netdev is the name of an interface in it, NULL for sources of
 * a namespace.
 */
int selector__netns(struct selector *selector, const struct source *source,
		    int fd, const char *label, const char *netdev,
		    struct dart_error *error);
/* The namespace that has this inode. */
int selector__netns_inode(struct selector *selector,
			  const struct source *source, uint32_t inode,
			  const char *label, struct dart_error *error);
int selector__disk(struct selector *selector, const struct source *source,
		   int fd, const char *label, struct dart_error *error);
/* @path is that of the cgroup below the root of its hierarchy: "/a/b". */
int selector__cgroup(struct selector *selector, const struct source *source,
		     int fd, const char *path, struct dart_error *error);
void selector__close(struct selector *selector);

bool selector_key__equal(const struct selector_key *a,
			 const struct selector_key *b);

#endif /* SELECTOR_H */
