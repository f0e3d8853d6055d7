/* SPDX-License-Identifier: GPL-2.0-only */
/* Finding cgroups. */
#ifndef CGROUP_H
#define CGROUP_H

#include <limits.h>

/*
 * Opens the directory of a cgroup of version 2; @said is its path from the root
 * of the hierarchy or in the file system.  Returns a descriptor, and in @path
 * the path from the root, "/" for the root itself; or -1, with a message
 * printed.
 */
int cgroup__open(const char *said, char path[static PATH_MAX]);

#endif /* CGROUP_H */
