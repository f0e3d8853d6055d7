/* SPDX-License-Identifier: GPL-2.0-only */
/* Follows the cgroups of a subtree. */
#ifndef CGROUPS_H
#define CGROUPS_H

#include "follower.h"

/* Registers @source for the cgroup of @fd and all below, present and future. */
int cgroups__follow(struct followers *followers, const struct source *source,
		    int fd, const char *path, struct follower **follower,
		    struct dart_error *error);

#endif /* CGROUPS_H */
