/* SPDX-License-Identifier: GPL-2.0-only */
/* Follows the cgroups of a subtree. */
#ifndef CGROUPS_H
#define CGROUPS_H

#include "follower.h"

/*
 * Registers @source for the cgroup of @fd and all below, present and future; gathered
 * every @gather_ms unless that is 0.
 */
int cgroups__follow(struct followers *followers, const struct source *source,
		    uint32_t gather_ms, int fd, const char *path,
		    struct follower **follower,
		    struct dart_error *error);

#endif /* CGROUPS_H */
