/* SPDX-License-Identifier: GPL-2.0-only */
/* The cgroups of a subtree, as they come and go. */
#ifndef CGROUPS_H
#define CGROUPS_H

#include <libdart/error.h>
#include "follower.h"

struct cgroups;

/*
 * Registers all cgroups from the one that @fd is of downwards, with @follower and
 * in a batch, and from then on those that come.
 */
int cgroups__open(struct cgroups **cgroups, struct follower *follower, int fd,
		  const char *path, struct dart_error *error);
void cgroups__close(struct cgroups *cgroups);

#endif /* CGROUPS_H */
