/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The cgroups of a tree that dartd knows, found by path and by watch, in logarithmic time
 * however many or deep they are.
 */
#ifndef CGROUP_SET_H
#define CGROUP_SET_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/types.h>

#include "agent/base/coverage.h"
#include "agent/base/entry_index.h"
#include "agent/table/quota.h"

struct cgroup_follower;

/* The owner of a cgroup: each class has its own queue and inotify instance. */
enum cgroup_class {
	CGROUP_OF_ROOT,
	CGROUP_DELEGATED,	/* to another user */
	CGROUP_CLASSES
};

/* The place of a cgroup, or of several that are left out, in a follower's tally. */
struct cgroup_place {
	SLIST_ENTRY(cgroup_place) link;
	struct cgroup_follower *member;
	struct coverage_place place;
};

SLIST_HEAD(cgroup_places, cgroup_place);

/* Cgroups below another one that are left out, and that dartd does not know one by one. */
struct cgroups_left_out {
	SLIST_ENTRY(cgroups_left_out) link;
	enum coverage_reason reason;
	uint64_t count;
	struct cgroup_places places;
	struct dart_error why;
	char example[];		/* the path of one */
};

TAILQ_HEAD(cgroup_list, cgroup);

struct cgroup {
	struct cgroup *parent;	/* NULL: the top */
	struct cgroup_list children;
	TAILQ_ENTRY(cgroup) sibling;
	TAILQ_ENTRY(cgroup) queued;
	bool is_queued;
	bool is_to_scan;	/* its children are to be looked for */
	bool is_watched;
	enum cgroup_class watch_class;	/* of the instance with the watch */
	uint32_t wd;		/* if it is watched */
	ino_t inode;		/* 0 before its first turn */
	uid_t user;		/* that its subtree was delegated to; 0: root's */
	struct quota_user *charged;
	uint32_t charge;	/* entries: itself, and its entries to come */
	struct cgroup_places places;
	SLIST_HEAD(, cgroups_left_out) left_out;
	const char *path;	/* below the top, "" for the top itself */
	char text[];		/* its memory */
};

struct cgroup_set {
	struct entry_index paths;
	struct entry_index watches[CGROUP_CLASSES];
	struct cgroup *top;
};

void cgroup_set__open(struct cgroup_set *set);
/* Adds the top, or a child of @parent.  NULL: out of memory. */
struct cgroup *cgroup_set__add(struct cgroup_set *set, struct cgroup *parent, const char *path);
/* Frees a cgroup without children, watch and places. */
void cgroup_set__remove(struct cgroup_set *set, struct cgroup *cgroup);
struct cgroup *cgroup_set__find(const struct cgroup_set *set, const char *path);
/* Notes @wd, of the instance of @class, as the watch of @cgroup.  Returns 0 or -ENOMEM. */
int cgroup_set__watch(struct cgroup_set *set, struct cgroup *cgroup,
		      enum cgroup_class class, int wd);
void cgroup_set__unwatch(struct cgroup_set *set, struct cgroup *cgroup);
struct cgroup *cgroup_set__find_watch(const struct cgroup_set *set,
				      enum cgroup_class class, int wd);

/* The next cgroup at or below @from after @cgroup, parents first; NULL: @cgroup was the last. */
struct cgroup *cgroup__next(const struct cgroup *cgroup, const struct cgroup *from);
/* A cgroup without children at or below @from. */
struct cgroup *cgroup__first_leaf(struct cgroup *from);

/*
 * Joins a path and a name below it: "" and "a" are relative to the top, "/" and "/b" are whole
 * paths.  Returns 0 or -ENAMETOOLONG.
 */
int cgroup__join_path(char path[static PATH_MAX], const char *outer, const char *name);
/* True for the root of the hierarchy, which has neither a type nor counters. */
bool cgroup__is_root(int fd);
/* How many cgroups the kernel counts below @name in @fd; 0 if it does not tell. */
uint64_t cgroup__count_below(int fd, const char *name);

static inline enum cgroup_class cgroup__class(const struct cgroup *cgroup)
{
	return cgroup->user ? CGROUP_DELEGATED : CGROUP_OF_ROOT;
}

#endif /* CGROUP_SET_H */
