/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The followers of a tree of cgroups: they share the walk.  For each cgroup a follower registers an
 * entry, or counts the reason for the missing entry in its tally.  The entries of a cgroup, and the cgroup itself,
 * count in the quota of the user to whom it was delegated.
 */
#ifndef CGROUP_FOLLOWERS_H
#define CGROUP_FOLLOWERS_H

#include <stdbool.h>
#include <stdint.h>

#include "cgroup_set.h"
#include "follower.h"

/* A follower of a source for all cgroups of a tree. */
struct cgroup_follower {
	struct follower follower;	/* first */
	struct cgroup_tree *tree;	/* NULL before it has joined one */
	TAILQ_ENTRY(cgroup_follower) link;
};

struct cgroup_followers {
	struct followers *followers;
	TAILQ_HEAD(, cgroup_follower) list;
	unsigned int count;
	char *path;		/* of the top of the tree */
	bool is_full;		/* the table: until the next attempt */
};

/* In a batch: each follower registers the cgroup @fd, or remembers why it cannot. */
void cgroup_followers__register(struct cgroup_followers *all, struct cgroup *cgroup, int fd);
/* In a batch: the cgroup has ended, and so have its entries. */
void cgroup_followers__end_entries(struct cgroup_followers *all, const struct cgroup *cgroup);

/* Charges the cgroup itself, which has a watch, and its entries, to its user. */
void cgroup_followers__charge(struct cgroup_followers *all, struct cgroup *cgroup);
/* Releases all but @left of the charge of a cgroup. */
void cgroup_followers__discharge(struct cgroup_followers *all, struct cgroup *cgroup,
				 uint32_t left);

/* @count cgroups are left out: each follower gets a place for them in @places. */
void cgroup_followers__miss(struct cgroup_followers *all, struct cgroup_places *places,
			    uint64_t count, enum coverage_reason reason, const char *name,
			    const struct dart_error *why);
/* @more cgroups below @cgroup are left out, such as @path. */
void cgroup_followers__leave_out(struct cgroup_followers *all, struct cgroup *cgroup,
				 uint64_t more, enum coverage_reason reason, const char *path,
				 const struct dart_error *why);
/*
 * A cgroup below @cgroup, which dartd does not know, has ended.  Returns true if it was perhaps the
 * last one that was left out: then the children of @cgroup are to be looked for.
 */
bool cgroup_followers__include_one(struct cgroup_followers *all, struct cgroup *cgroup);

/* No cgroup below @cgroup counts as left out. */
void cgroup__include_all(struct cgroup *cgroup);
/* Frees all places, or the places of one follower, and takes them out of the tallies. */
void cgroup_places__free(struct cgroup_places *places);
void cgroup_places__forget(struct cgroup_places *places, const struct cgroup_follower *member);

#endif /* CGROUP_FOLLOWERS_H */
