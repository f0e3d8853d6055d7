/* SPDX-License-Identifier: GPL-2.0-only */
/* The object whose descriptor goes with a request: where it is, to open it again. */
#ifndef OBJECT_H
#define OBJECT_H

#include "registration.h"

/*
 * Returns the path of the file that @fd refers to; the caller frees it.  NULL if the file has no
 * path: eBPF maps, namespaces of processes.
 */
char *object__path(int fd);

/*
 * Opens the object of @registration as *@fd, -1 if it needs none.  An eBPF map
 * without a path is found by its ID, and the namespace of a process by its inode,
 * unless the host was started again since (!@is_same_boot).
 */
int object__open(const struct registration *registration, bool is_same_boot,
		 int *fd, struct dart_error *error);

#endif /* OBJECT_H */
