/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Cgroup trees: all cgroups from a top on, walked and watched once for the followers of several
 * sources.
 *
 * A new cgroup goes to a queue.  In its turn it gets an inotify watch for its children and an entry
 * of each follower, and its children go to the queue: so nothing grows with the depth but the
 * queue.  A turn of the event loop takes a few cgroups, and other events take turns in between.
 *
 * Whoever a part of the hierarchy was delegated to can make cgroups as fast and as many as they
 * like.  So each user has a quota of them, in struct followers, and a queue and an inotify instance
 * serve the cgroups of root alone, so that no user can fill them.
 */
#ifndef CGROUP_TREE_H
#define CGROUP_TREE_H

#include "cgroup_followers.h"

struct cgroup_tree;

/*
 * Registers the source of @member, which is in the list of followers, for the cgroups of
 * the tree with the top @fd, whose path is @path: the first of them before it returns,
 * as part of a batch, and all others, present and future, in further turns of the loop.
 */
int cgroup_tree__join(struct cgroup_follower *member, int fd, const char *path,
		      struct dart_error *error);
/* Forgets a member, whose entries the caller removes.  It need not have joined. */
void cgroup_tree__leave(struct cgroup_follower *member);
/* Tries to follow the missing cgroups again, in further turns of the loop. */
void cgroup_tree__retry(struct cgroup_tree *tree);

#endif /* CGROUP_TREE_H */
