/* SPDX-License-Identifier: GPL-2.0-only */
/* Finding cgroups. */
#ifndef CGROUP_H
#define CGROUP_H

#include <limits.h>

/*
 * Opens the directory of a cgroup of version 2, said as a path from the root of
 * their hierarchy or in the file system.  Returns a descriptor, and into @path
 * the former, which is "/" for the root; -1 after it has said why.
 */
int cgroup__open(const char *said, char path[static PATH_MAX]);

#endif /* CGROUP_H */
