/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The mounts of the host: all mounts that PID 1 sees below its root directory, independent of the
 * mount namespace of dartd.  The module looks mount points up in the same place, so dartd opens no
 * mount point: no file server can delay it, and it needs no permission.
 */
#ifndef MOUNTS_H
#define MOUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include <libdart/error.h>

/* A line of proc_pid_mountinfo(5), without its escapes. */
struct mount {
	unsigned int id, parent;
	dev_t device; /* of the file system; all subvolumes of a btrfs share it */
	const char *root; /* which part of the file system is mounted */
	const char *path; /* mount point: any bytes but 0 */
	const char *type;
	const char *source; /* the device, or any text of the one who mounted it */
};

struct mounts {
	struct mount *list; /* by parent, then by path */
	size_t *by_id; /* indexes of @list, by the id of the mount */
	size_t count;
	char *text;
};

/*
 * Opens a file on which poll() returns EPOLLPRI when mounts of the host change.  Fails if dartd
 * cannot see PID 1, or sees the PID 1 of a container.
 */
int mounts__watch(struct dart_error *error);
/* The same for the mounts that dartd itself sees. */
int mounts__watch_own(struct dart_error *error);

/* The caller ends with mounts__free(). */
int mounts__read(struct mounts *mounts, struct dart_error *error);
/* The same for the mounts that dartd itself sees. */
int mounts__read_own(struct mounts *mounts, struct dart_error *error);
void mounts__free(struct mounts *mounts);

/* True if the mount point of @mount leads to it: no other mount covers it or a directory above. */
bool mounts__is_visible(const struct mounts *mounts, const struct mount *mount);

/* The mount with this id, or NULL. */
const struct mount *mounts__find(const struct mounts *mounts, unsigned int id);

/* The mount that the path of a mount point leads to, or NULL. */
const struct mount *mounts__at(const struct mounts *mounts, const char *path);

#endif /* MOUNTS_H */
