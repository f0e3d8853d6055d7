/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Objects whose descriptor goes with a request: network namespaces, disks,
 * cgroups, mount points, pinned maps, files of stores.  In a configuration a short text names
 * the object, which is also the label of the entry; the path follows from it:
 *
 *	netns	blue		/run/netns/blue
 *	disk	sda		/dev/sda
 *	cgroup	/a/b		/sys/fs/cgroup/a/b, or where cgroups are mounted
 *	filesystem /var		/var
 *
 * A path outside of these directories names itself.
 */
#ifndef DART_OBJECT_H
#define DART_OBJECT_H

#include <jansson.h>
#include <limits.h>
#include <stdbool.h>

#include <libdart/error.h>

enum dart_object_kind {
	DART_OBJECT_NETNS,
	DART_OBJECT_DISK,
	DART_OBJECT_CGROUP,
	DART_OBJECT_FILESYSTEM,
};

/*
 * Writes the path and the label of the object that @text names, which may be a
 * path itself; the object need not exist.  The label of a cgroup begins with '/'.
 * Fails only if the path is too long.
 */
int dart_object__path(enum dart_object_kind kind, const char *text, char path[static PATH_MAX],
		      const char **label, struct dart_error *error);
/* The same, but accepts only one spelling of each name and path. */
int dart_object__find(enum dart_object_kind kind, const char *text, char path[static PATH_MAX],
		      const char **label, struct dart_error *error);

/*
 * These return a descriptor, the caller's, or -errno with a sentence in @error.
 * Symbolic links are followed.
 */
int dart_object__open_netns(const char *path, struct dart_error *error);
int dart_object__open_disk(const char *path, struct dart_error *error);
/*
 * The directory of a cgroup of version 2.  @root, unless NULL: of PATH_MAX bytes,
 * for its path from the root of the hierarchy, "/" for the root itself.
 */
int dart_object__open_cgroup(const char *path, char *root, struct dart_error *error);
/* A mount point, which need not be readable; it waits for no server. */
int dart_object__open_filesystem(const char *path, struct dart_error *error);
/* The eBPF map pinned at @path, for reading. */
int dart_object__open_map(const char *path, struct dart_error *error);
/* Creates the file if it is missing, and then sets *@is_new, unless NULL. */
int dart_object__open_file(const char *path, bool *is_new, struct dart_error *error);

/*
 * Opens the object at @path that belongs to a request of
 * <dart/registration.h>, by the type of the request.  Returns 0 and the
 * descriptor in *@fd, -1 if @path is NULL; or -errno.
 */
int dart_configuration__open_object(const json_t *request, const char *path,
				    int *fd, struct dart_error *error);

#endif /* DART_OBJECT_H */
