/* SPDX-License-Identifier: GPL-2.0-only */
/* Follows the cgroups of a subtree. */
#ifndef CGROUPS_H
#define CGROUPS_H

#include "follower.h"

/*
 * Registers @source for the cgroup of @choice and all below, present and future, gathered
 * as it says.
 */
int cgroups__follow(struct followers *followers, const struct source *source,
		    const struct selector_choice *choice,
		    struct follower **follower, struct dart_error *error);

#endif /* CGROUPS_H */
